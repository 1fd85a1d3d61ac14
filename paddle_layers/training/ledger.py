"""What is written down about a training: the lines of the log, the sums between them, the learning curve."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paddle_layers.runtime.memory.tensorfiles import write_file

from .curves import picture
from .records import COLUMNS, Records
from .runs import Run


class Ledger:
    """Adds up the losses between two lines and keeps the time, over several sittings of a resumed training."""

    def __init__(self) -> None:
        self.records: Records
        self._sum, self._count, self._earlier = 0.0, 0, 0.0
        self._began = time.monotonic()

    def open(self, path: Path, statistics: Sequence[str], *, resume_at: int | None, tested: bool) -> None:
        """Start the log, or go on with its lines up to a step, after which there was a test or not."""
        self.records = Records(path, statistics, resume_at=resume_at, tested=tested)

    @property
    def seconds(self) -> float:
        """Time spent so far."""
        return self._earlier + time.monotonic() - self._began

    def add(self, loss: float) -> None:
        """The loss of a step."""
        self._sum, self._count = self._sum + loss, self._count + 1

    def mean(self) -> float | None:
        """The mean loss since the last call; None when there was no step."""
        mean = self._sum / self._count if self._count else None
        self._sum, self._count = 0.0, 0
        return mean

    def write(self, run: Run, phase: str, facts: Mapping[str, float]) -> None:
        """A line of the log."""
        self.records.add(
            {"step": run.step, "epoch": run.epoch, "phase": phase, "seconds": round(self.seconds, 3), **facts}
        )

    def facts(self) -> dict[str, Any]:
        """What a checkpoint has to keep."""
        return {"loss_sum": self._sum, "loss_count": self._count, "seconds": self.seconds}

    def restore(self, facts: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        self._sum, self._count, self._earlier = facts["loss_sum"], facts["loss_count"], facts["seconds"]

    def draw(self, path: Path, title: str) -> None:
        """Write the learning curve: loss, statistics and learning rate over the steps. Raises `SaveError`."""
        names = ("loss", *self.records.columns[len(COLUMNS) :])
        panels = {name: {phase: self.records.series(phase, name) for phase in ("train", "test")} for name in names}
        panels["learning rate"] = {"train": self.records.series("train", "rate")}
        write_file(path, picture(title, panels).encode())
