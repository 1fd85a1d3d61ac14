"""What the kit reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Finding:
    """One property that does not hold: layer, property, the case that shows it, what was expected and found."""

    layer: str
    property: str
    case: str
    message: str

    def __str__(self) -> str:
        return (
            f"{self.layer}: {self.property}: {self.message}\n  case: {self.case}\n"
            f"  repeat: paddle-layers check {self.layer}"
        )


@dataclass
class Report:
    """Result of checking a layer: how many cases each property was checked on, and the findings."""

    layer: str
    checked: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, property_: str, case: str, results: Iterable[tuple[str, str | None]]) -> None:
        """Take results of a property on a case: places, each with what is wrong there or None.

        A layer may make the check itself fail, as by a function that does not compile: that is a finding, too.
        """
        try:
            for place, problem in results:
                self.checked[property_] = self.checked.get(property_, 0) + 1
                if problem is not None:
                    self.findings.append(Finding(self.layer, property_, case, f"`{place}` {problem}"))
        except Warning:  # warnings that were made errors are not about this property
            raise
        except Exception as error:  # whatever the layer's functions do, it is that layer's fault
            message = f"the check fails: {type(error).__name__}: {error}"
            self.findings.append(Finding(self.layer, property_, case, message))

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {name}" for name, number in self.checked.items())
        return counts or "nothing to compute"

    def raise_findings(self) -> None:
        """Raise `AssertionError` with all findings, if there are any."""
        if self.findings:
            raise AssertionError("\n".join(map(str, self.findings)))
