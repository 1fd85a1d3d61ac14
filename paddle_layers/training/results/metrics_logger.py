"""Metrics logger: log lines, running sums, learning curve."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paddle_layers.runtime.memory.tensorfiles import write_file

from ..evaluation import named_costs, take_statistics
from ..events import Events, FinalTestDone, Reported, Run, StepDone, TestDone
from ..processes.ranks import SingleProcess
from .curves import picture
from .logs import LogWriter, open_logs
from .records import COLUMNS, CsvLog


class MetricsLogger:
    """Writes the log: mean losses since the last line, statistics and test results, over several sittings.

    `losses` and `statistics` are the names in the log of single losses and of statistics, by those of the net.
    """

    def __init__(
        self, losses: Mapping[str, str], statistics: Mapping[str, str], ranks: SingleProcess, events: Events
    ) -> None:
        self._names, self._ranks, self._events = (losses, statistics), ranks, events
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

    def last_evaluation(self, phase: str, before: int) -> tuple[int, dict[str, float]]:
        """As `CsvLog.last_evaluation`."""
        return self._records.last_evaluation(phase, before) if self._records is not None else (-1, {})

    @property
    def seconds(self) -> float:
        """Time spent so far."""
        return self._earlier + time.monotonic() - self._began

    def step_done(self, step: StepDone) -> None:
        """Add the losses of a step, and write a line if it is due."""
        if step.costs:
            losses = {"loss": step.run.loss, **named_costs(step.costs, self._names[0])}
            self._sums = {name: self._sums.get(name, 0.0) + loss for name, loss in losses.items()}
            self._count += 1
        if step.due.report:
            self.report(step.run)

    def report(self, run: Run) -> None:
        """Write the mean losses since the last line and the statistics; nothing if no step was made since."""
        if not self._count:
            return
        means = {name: total / self._count for name, total in self._sums.items()}
        self._sums, self._count = {}, 0
        self._ranks.join_counts(run.net)
        statistics = take_statistics(run.net, self._names[1])
        self._write(run, "train", {**means, "rate": run.rate, **statistics})
        self._events.emit(Reported(run, means, statistics))

    def test_done(self, test: TestDone) -> None:
        """Write the results of a validation or test."""
        self._write(test.run, test.run.monitored, test.run.results)

    def final_test_done(self, test: FinalTestDone) -> None:
        """Write the results of the test at the end."""
        self._write(test.run, "test", test.run.test_results)

    def _write(self, run: Run, phase: str, facts: Mapping[str, float]) -> None:
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

    def draw(self, path: Path, title: str, monitored: str, further: Sequence[str] = ()) -> None:
        """Write the learning curve: loss, statistics and learning rate over the steps. Raises `SaveError`.

        Results of the phase `monitored` are lines, and so are those of its `further` sources.
        """
        if (records := self._records) is None:
            return
        names = ("loss", *records.columns[len(COLUMNS) :])
        own = [name for name in names if not name.startswith(tuple(f"{source}." for source in further))]
        panels = {name: {phase: records.series(phase, name) for phase in ("train", monitored)} for name in own}
        for source in further:
            for name in own:
                panels[name][source] = records.series(monitored, f"{source}.{name}")
        panels["learning rate"] = {"train": records.series("train", "rate")}
        write_file(path, picture(title, panels).encode())
