"""Report at the end of a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from paddle_layers.data import Batches

from ..checkpoints.files import WEIGHTS
from ..progress import as_text

if TYPE_CHECKING:
    from paddle_layers.data import Stream

    from ..events import Best


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
    """Results of the last validation by name, `loss` and metrics; of the last test, if there are no validation data."""
    test_results: Mapping[str, float] = field(default_factory=dict)
    """Results of `weights` on the test data at the end of a training with validation data."""
    phase: str = "test"
    """The phase of `results`, `validation` or `test`."""
    stopped: str = ""
    """Reason of an early end."""
    best: Best | None = None
    """The best validation (or test) according to `save_best`."""
    commands: Sequence[tuple[str, str]] = ()
    """The next command, and its purpose."""
    left_out: str = ""
    """The numbers of unreadable records and of skipped batches, if the file allows them."""

    def __str__(self) -> str:
        lines = [f"Stopped after {self.steps} steps: {self.stopped}."] if self.stopped else []
        lines += [self.left_out] if self.left_out else []
        if self.results:
            lines.append(f"{self.phase.capitalize()}: {as_text(self.results)}")
        whose = ""
        if self.best is not None:
            if self.best.results:  # a checkpoint of an earlier version knows none
                lines.append(f"Best {self.phase}, after {self.best.step} steps: {as_text(self.best.results)}")
            whose = f" (best {self.phase}; {WEIGHTS} has those of the last step)"
        if self.test_results:
            of = "" if self.best is None else " of the best weights"
            lines.append(f"Test{of}: {as_text(self.test_results)}")
        lines += [f"Weights: {self.weights}{whose}", f"Log: {self.log}", f"Learning curve: {self.curve}"]
        lines += [f"{purpose}: {command}" for command, purpose in self.commands]
        return "\n".join(lines)


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
