"""Run state for callbacks, and the report at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from paddle_layers.data import Batches

from .checkpoints.files import WEIGHTS
from .progress import as_text

if TYPE_CHECKING:
    from paddle_layers.data import Stream
    from paddle_layers.runtime import Net


class Best(NamedTuple):
    """The best test, as `save_best` has found it: the steps before it, and its results."""

    step: int
    results: Mapping[str, float]


@dataclass
class Run:
    """State of a training, for callbacks."""

    net: Net
    """The net that is trained."""
    folder: Path
    """Output folder."""
    total: int
    """Number of steps of the training."""
    say: Callable[[str], None] = print
    """Prints a line above the progress."""
    step: int = 0
    """Number of completed steps."""
    epoch: int = 0
    """Index of the epoch of the last step, from 0."""
    epochs: int = 0
    """Number of completed epochs; `epoch` + 1 after the last step of each epoch."""
    loss: float = float("nan")
    """Loss of the last step."""
    rate: float = 0.0
    """Learning rate of the last step."""
    results: dict[str, float] = field(default_factory=dict)
    """Results of the last test by name, `loss` and metrics."""
    best: Best | None = None
    """The test whose weights were kept."""
    stopped: str = ""
    """Why the training ends before its last step; empty while it goes on."""

    def stop(self, reason: str) -> None:
        """End the training after this step.

        Args:
            reason: Reason, for the log; the first one counts.
        """
        # The first reason: it is the cause, later ones follow from it.
        self.stopped = self.stopped or reason


@dataclass(frozen=True)
class TrainingReport:
    """Results of a training, and the paths of the output files."""

    folder: Path
    """Output folder."""
    weights: Path
    """File of the best weights according to `save_best`, else of those of the last step."""
    log: Path
    """CSV file of losses and metrics during the training."""
    curve: Path
    """SVG plot of the learning curve."""
    steps: int
    """Number of completed steps."""
    results: Mapping[str, float]
    """Results of the last test by name, `loss` and metrics."""
    stopped: str = ""
    """Reason of an early end."""
    best: Best | None = None
    """The best test according to `save_best`."""
    commands: Sequence[tuple[str, str]] = ()
    """The next command, and its purpose."""
    left_out: str = ""
    """The numbers of unreadable records and of skipped batches, if the file allows them."""

    def __str__(self) -> str:
        lines = [f"Stopped after {self.steps} steps: {self.stopped}."] if self.stopped else []
        lines += [self.left_out] if self.left_out else []
        if self.results:
            lines.append(f"Test: {as_text(self.results)}")
        whose = ""
        if self.best is not None:
            if self.best.results:  # a checkpoint of an earlier version knows none
                lines.append(f"Best test, after {self.best.step} steps: {as_text(self.best.results)}")
            whose = f" (best test; {WEIGHTS} has those of the last step)"
        lines += [f"Weights: {self.weights}{whose}", f"Log: {self.log}", f"Learning curve: {self.curve}"]
        lines += [f"{purpose}: {command}" for command, purpose in self.commands]
        return "\n".join(lines)


def call(callbacks: Sequence[object], event: str, run: Run) -> None:
    """Tell every callback that has a method for the event."""
    for listener in callbacks:
        method = getattr(listener, event, None)
        if method is not None:
            method(run)


def left_out_text(*data: Batches | Stream | None) -> str:
    """Note about the number of unreadable records, with the first of them; empty without any."""
    bad = dict(record for batches in data if isinstance(batches, Batches) for record in batches.left_out().items())
    if not bad:
        return ""
    what = "1 record was" if len(bad) == 1 else f"{len(bad):,} records were"
    return f"{what} skipped: {next(iter(bad.values()))}" + ("; ..." if len(bad) > 1 else "")


def skipped_text(count: int) -> str:
    """Note about the number of batches skipped for a non-finite loss or gradient; empty without any."""
    what = "1 batch was" if count == 1 else f"{count:,} batches were"
    return f"{what} skipped: the loss or a gradient was not finite" if count else ""


def take_statistics(net: Net, names: Mapping[str, str]) -> dict[str, float]:
    """The statistics since the last call, by the names of the log; they are reset."""
    found = net.statistics()
    net.reset_statistics()
    return {short: found[name] for name, short in names.items() if name in found}
