"""Metrics logger: log lines, running sums, learning curve."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paddle_layers.runtime.memory.tensorfiles import write_file

from ..runs import Run
from .curves import picture
from .logs import LogWriter, open_logs
from .records import COLUMNS, CsvLog


class MetricsLogger:
    """Adds up the losses between two lines and keeps the time, over several sittings of a resumed training."""

    def __init__(self) -> None:
        self._records: CsvLog | None = None
        self._logs: list[LogWriter] = []
        self._sums: dict[str, float] = {}
        self._count, self._earlier = 0, 0.0
        self._began = time.monotonic()

    def open(
        self, path: Path | None, names: Sequence[str], last: Mapping[str, int] | None, formats: Sequence[str] = ()
    ) -> None:
        """Start the log, or go on with its lines up to the `last` step of each phase.

        `names` are the columns of single costs and statistics, `formats` what is written beside. Without a path
        nothing is: another process does it.
        """
        if path is not None:
            self._records = CsvLog(path, names, last)
            self._logs = open_logs(formats, path.parent, self._records, last)

    def last_test(self, before: int) -> tuple[int, dict[str, float]]:
        """As `CsvLog.last_test`."""
        return self._records.last_test(before) if self._records is not None else (-1, {})

    @property
    def seconds(self) -> float:
        """Time spent so far."""
        return self._earlier + time.monotonic() - self._began

    def add(self, losses: Mapping[str, float]) -> None:
        """The loss of a step, and its costs by name where there are several."""
        self._sums = {name: self._sums.get(name, 0.0) + loss for name, loss in losses.items()}
        self._count += 1

    def means(self) -> dict[str, float]:
        """The mean losses since the last call; empty when there was no step."""
        means = {name: total / self._count for name, total in self._sums.items()} if self._count else {}
        self._sums, self._count = {}, 0
        return means

    def write(self, run: Run, phase: str, facts: Mapping[str, float]) -> None:
        """A line of the log."""
        line = {"step": run.step, "epoch": run.epoch, "phase": phase, "seconds": round(self.seconds, 3), **facts}
        if self._records is not None and self._records.add(line):
            for log in self._logs:
                log.add(line)

    def close(self) -> None:
        """Nothing follows."""
        for log in self._logs:
            log.close()

    def facts(self) -> dict[str, Any]:
        """The state of the logger in a checkpoint."""
        costs = {name: total for name, total in self._sums.items() if name != "loss"}
        loss = self._sums.get("loss", 0.0)
        return {"loss_sum": loss, "cost_sums": costs, "loss_count": self._count, "seconds": self.seconds}

    def restore(self, facts: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        self._sums = {"loss": facts["loss_sum"], **facts.get("cost_sums", {})}
        self._count, self._earlier = facts["loss_count"], facts["seconds"]

    def draw(self, path: Path, title: str, further: Sequence[str] = ()) -> None:
        """Write the learning curve: loss, statistics and learning rate over the steps. Raises `SaveError`.

        Results of `further` sources of tests are lines beside those of the first one.
        """
        if (records := self._records) is None:
            return
        names = ("loss", *records.columns[len(COLUMNS) :])
        own = [name for name in names if not name.startswith(tuple(f"{source}." for source in further))]
        panels = {name: {phase: records.series(phase, name) for phase in ("train", "test")} for name in own}
        for source in further:
            for name in own:
                panels[name][source] = records.series("test", f"{source}.{name}")
        panels["learning rate"] = {"train": records.series("train", "rate")}
        write_file(path, picture(title, panels).encode())
