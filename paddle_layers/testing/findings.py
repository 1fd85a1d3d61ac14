"""Findings of the conformance kit."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Finding:
    """A violated property, with the smallest case that shows it.

    Args:
        layer: Layer type.
        property: Name of the property.
        case: Config and inputs of the case, as text.
        message: Expected and actual result.
        file: Plugin file that must be loaded to repeat it.
    """

    layer: str
    property: str
    case: str
    message: str
    file: str = ""

    def __str__(self) -> str:
        name = f'"{self.property}"' if " " in self.property else self.property
        plugin = f" --plugins {self.file}" if self.file else ""
        return (
            f"{self.layer}: {self.property}: {self.message}\n  case: {_indented(self.case)}\n"
            f"  reproduce: paddle-layers check {self.layer} --property {name}{plugin}"
        )


@dataclass
class Report:
    """Result of checking a layer.

    Args:
        layer: Layer type.
        checked: Number of checked cases per property.
        findings: Violated properties.
        seconds: Duration.
        ran: False for a layer that is only declared.
    """

    layer: str
    checked: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0
    ran: bool = True

    @property
    def checks(self) -> int:
        """Total number of checks, the sum over the properties of the cases on which they were checked."""
        return sum(self.checked.values())

    def count(self, property_: str) -> None:
        """Count a check of a property.

        Args:
            property_: Name of the property.
        """
        self.checked[property_] = self.checked.get(property_, 0) + 1

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {name}" for name, number in self.checked.items())
        return f"{counts}; {self.seconds:.1f} s{'' if self.ran else '; not run: it has no functions'}"

    def raise_findings(self) -> None:
        """Raise an error if there are findings.

        Raises:
            AssertionError: All findings.
        """
        if self.findings:
            raise AssertionError("\n".join(map(str, self.findings)))


def _indented(text: str) -> str:
    first, *rest = text.splitlines() or [""]
    return "\n".join([first, *(textwrap.indent(line, "    ") for line in rest)])
