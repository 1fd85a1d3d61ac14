"""What the kit reports."""

from __future__ import annotations

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

    def count(self, property_: str, number: int = 1) -> None:
        """Note checks done."""
        self.checked[property_] = self.checked.get(property_, 0) + number

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {name}" for name, number in self.checked.items())
        return counts or "nothing to compute"

    def raise_findings(self) -> None:
        """Raise `AssertionError` with all findings, if there are any."""
        if self.findings:
            raise AssertionError("\n".join(map(str, self.findings)))
