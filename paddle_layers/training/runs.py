"""A training as callbacks see it, and what is left of it at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .progress import as_text

if TYPE_CHECKING:
    from paddle_layers.runtime import Net


@dataclass
class Run:
    """Where a training stands. `step` counts the steps that are done; the rest is that of the last one."""

    net: Net
    folder: Path
    total: int
    say: Callable[[str], None] = print
    """Shows a line above the progress."""
    step: int = 0
    epoch: int = 0
    loss: float = float("nan")
    rate: float = 0.0
    results: dict[str, float] = field(default_factory=dict)
    """Latest results of the test: `loss` and the statistics by name."""
    stopped: str = ""
    """Why the training ends before its last step; empty while it goes on."""

    def stop(self, reason: str) -> None:
        """End the training after this step."""
        self.stopped = self.stopped or reason


@dataclass(frozen=True)
class Report:
    """The end of a training: results of the last test, and the files that it left."""

    folder: Path
    weights: Path
    log: Path
    curve: Path
    steps: int
    results: Mapping[str, float]
    stopped: str = ""
    commands: Sequence[tuple[str, str]] = ()
    """What to type next, and what it does."""

    def __str__(self) -> str:
        lines = [f"Stopped after {self.steps} steps: {self.stopped}."] if self.stopped else []
        if self.results:
            lines.append(f"On the held-out data: {as_text(self.results)}")
        lines += [f"Weights: {self.weights}", f"Log: {self.log}", f"Learning curve: {self.curve}"]
        lines += [f"{purpose}: {command}" for command, purpose in self.commands]
        return "\n".join(lines)


def call(callbacks: Sequence[object], event: str, run: Run) -> None:
    """Tell every callback that has a method for the event."""
    for listener in callbacks:
        method = getattr(listener, event, None)
        if method is not None:
            method(run)


def take_statistics(net: Net, names: Mapping[str, str]) -> dict[str, float]:
    """What was counted since the last call, by the names that the log has for the net's; counting starts anew."""
    found = net.statistics()
    net.reset_statistics()
    return {short: found[name] for name, short in names.items() if name in found}
