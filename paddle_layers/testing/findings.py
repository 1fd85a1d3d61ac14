"""Findings of the conformance kit."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Finding:
    """A property that does not hold: the smallest case that shows it, what was expected and what was found."""

    layer: str
    property: str
    case: str
    message: str
    file: str = ""
    """File that has to be loaded as a plugin to repeat it."""

    def __str__(self) -> str:
        name = f'"{self.property}"' if " " in self.property else self.property
        plugin = f" --plugins {self.file}" if self.file else ""
        return (
            f"{self.layer}: {self.property}: {self.message}\n  case: {_indented(self.case)}\n"
            f"  reproduce: paddle-layers check {self.layer} --property {name}{plugin}"
        )


@dataclass
class Report:
    """Result of checking a layer: on how many cases each property was checked, and the findings."""

    layer: str
    checked: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0
    ran: bool = True
    """False for a layer that is only declared."""

    @property
    def checks(self) -> int:
        """Checks in all: properties times the cases on which they were checked."""
        return sum(self.checked.values())

    def count(self, property_: str) -> None:
        """Note that a property was checked on a case."""
        self.checked[property_] = self.checked.get(property_, 0) + 1

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {name}" for name, number in self.checked.items())
        return f"{counts}; {self.seconds:.1f} s{'' if self.ran else '; not run: it has no functions'}"

    def raise_findings(self) -> None:
        """Raise `AssertionError` with all findings, if there are any."""
        if self.findings:
            raise AssertionError("\n".join(map(str, self.findings)))


def _indented(text: str) -> str:
    first, *rest = text.splitlines() or [""]
    return "\n".join([first, *(textwrap.indent(line, "    ") for line in rest)])
