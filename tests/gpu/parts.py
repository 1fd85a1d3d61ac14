"""What a part of the program is."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

Facts = dict[str, Any]
"""Result of an item: numbers, strings and lists, since it is serialized as JSON."""


@dataclass(frozen=True)
class Setup:
    """How everything is run."""

    device: str = "cuda"
    tiny: bool = False
    """Sizes for the simulator, which take seconds there; their times mean nothing."""

    def to_json(self) -> str:
        """For a child process."""
        return json.dumps(asdict(self))


class Measurement(NamedTuple):
    """A row of `gpu.csv`, without date, commit, GPU and command."""

    benchmark: str
    case: str
    metric: str
    unit: str
    ours: str
    theirs: str = ""
    baseline: str = ""
    ratio: str = ""
    """Speed relative to the baseline."""


@dataclass
class Outcome:
    """What came of a part."""

    facts: dict[str, Facts] = field(default_factory=dict)
    """By item."""
    failures: dict[str, str] = field(default_factory=dict)
    """By item: the last line of what was raised; the log has the rest."""
    left: list[str] = field(default_factory=list)
    """Items that there was no time for."""
    seconds: float = 0.0
    absent: str = ""
    """Why nothing was run."""
    title: str = ""
    page: list[str] = field(default_factory=list)
    """Markdown of what was found."""
    measurements: list[Measurement] = field(default_factory=list)

    @property
    def findings(self) -> dict[str, list[str]]:
        """By item: what is wrong in what was measured."""
        return {item: facts["findings"] for item, facts in self.facts.items() if facts.get("findings")}

    @property
    def failed(self) -> bool:
        """Whether anything is wrong; too little time is not."""
        return bool(self.failures or self.findings)

    def passed(self, item: str) -> bool:
        """Whether an item was run and nothing is wrong with it."""
        return item in self.facts and item not in self.findings

    def __str__(self) -> str:
        if self.absent:
            return f"not run: {self.absent}"
        done, wrong = len(self.facts), len(self.failures) + len(self.findings)
        total = done + len(self.failures) + len(self.left)
        parts = [f"{wrong} of {total} failed" if wrong else "passed" if done else ""]
        parts += [f"{len(self.left)} of {total} not run: no time left" if self.left else ""]
        return ", ".join(filter(None, parts))


def message(error: BaseException) -> str:
    """An error in a line."""
    return f"{type(error).__name__}: {error}"


class Part(NamedTuple):
    """A part: `run` is called in a child process for each of `items`, `page` makes Markdown of what they gave."""

    title: str
    items: Callable[[Setup], list[str]]
    run: Callable[[str, Setup], Facts]
    page: Callable[[dict[str, Facts]], list[str]]
    absent: Callable[[], str] = lambda: ""
    """Why it cannot be run here; nothing is wrong then."""
    children: int = 1
    """Parallel processes."""
    share: float = 0.5
    """Of the time that is left: so much it may take at most, since a kernel may hang."""
    measurements: Callable[[dict[str, Facts]], list[Measurement]] = lambda _: []
    """Rows of `gpu.csv`."""


def load(module: str) -> Part:
    """The `PART` of a module; what it needs may be missing here."""
    part: Part = importlib.import_module(module).PART
    return part
