"""Progress display of a training: a progress bar on a terminal, log lines otherwise. Both write to stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, TextIO

from paddle_layers.define.escaping import printable, printable_line
from paddle_layers.define.standard_streams import dropping

if TYPE_CHECKING:
    from rich.progress import TaskID

    from .events import FinalTestDone, Reported, StepDone, TestDone

COMPILING = "compiling kernels for this network; later runs start immediately"


class Progress(Protocol):
    """Interface through which the trainer reports progress."""

    def say(self, text: str) -> None:
        """A line that stays."""
        ...

    def compiling(self, done: int, total: int, what: str) -> None:
        """So many kernels of `total` are compiled."""
        ...

    def step(self, done: int, total: int, facts: Mapping[str, float], rows: int) -> None:
        """A step over `rows` rows is done."""
        ...

    def report(self, done: int, total: int, facts: Mapping[str, float]) -> None:
        """The log gets a line with these facts."""
        ...

    def close(self) -> None:
        """Nothing follows."""
        ...


def make_progress(stream: TextIO | None = None) -> Progress:
    """A bar if the stream (stderr when absent) is a terminal, else plain lines; what cannot be written is dropped."""
    stream = dropping(sys.stderr if stream is None else stream)
    if stream is None:  # as under `pythonw`, or after `2>&-`
        return NullProgress()
    return Bar(stream) if stream.isatty() else LineProgress(stream)


def as_text(facts: Mapping[str, float]) -> str:
    """Numbers by name, such as `loss 0.1234  accuracy 97.50 %`."""
    return "  ".join(
        f"{name} {value:.2%}".replace("%", " %") if ".accuracy" in f".{name}" else f"{name} {value:.4g}"
        for name, value in facts.items()
    )


class _TimeLeft:
    """The time that is left to compile, by what was done so far."""

    def __init__(self) -> None:
        self._began: tuple[float, int] | None = None

    def text(self, done: int, total: int) -> str:
        """Such as `12 s left`; nothing before something is done."""
        now = time.monotonic()
        began, first = self._began = self._began or (now, done)
        return f"{(now - began) / (done - first) * (total - done):.0f} s left" if first < done < total else ""


class _Speed:
    """Rows per second and the time that is left, without the time before the first step."""

    def __init__(self) -> None:
        self._began = self._rows = 0.0
        self._steps = 0

    def add(self, rows: int) -> None:
        if not self._steps:
            # The first step is slower: caches are cold, and kernels of the optimizer may have to be compiled. It would
            # distort the estimate for a long time.
            self._began = time.monotonic()
        else:
            self._rows += rows
        self._steps += 1

    def text(self, left: int) -> str:
        elapsed = time.monotonic() - self._began
        if self._steps < 2 or elapsed <= 0:
            return ""
        return f"{self._rows / elapsed:.0f} samples/s  {duration(left * elapsed / (self._steps - 1))} left"


def duration(seconds: float) -> str:
    """Such as `45 s`, `3:20 min` or `2:05 h`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02d} h"


class LineProgress:
    """Plain lines, one for each report."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream, self._speed, self._said, self._compiled = stream, _Speed(), 0.0, False
        self._left = _TimeLeft()

    def say(self, text: str) -> None:
        """Print it."""
        if self._stream is not None:
            print(printable(text), file=self._stream, flush=True)

    def compiling(self, done: int, total: int, what: str) -> None:  # noqa: ARG002  `Progress.compiling` has it; lines name no kernels
        """A line at the start, at the end and every few seconds."""
        now, left = time.monotonic(), self._left.text(done, total)
        if not self._said:
            self.say(f"{COMPILING} ({total} kernels)")
        # Plain lines usually go to a file: one per kernel would bury everything else.
        elif done < total and now - self._said < 5:
            return
        else:
            # Kernels are chosen by the number of rows: smaller batches may need further ones.
            kernels = f"compiled {done} of {total}{' more' if self._compiled else ''} kernels"
            self.say(", ".join(filter(None, (kernels, left))))
        self._said, self._compiled = now, self._compiled or done == total

    def step(self, done: int, total: int, facts: Mapping[str, float], rows: int) -> None:  # noqa: ARG002  (for bars)
        """Count."""
        self._speed.add(rows)

    def report(self, done: int, total: int, facts: Mapping[str, float]) -> None:
        """A line."""
        self.say("  ".join(filter(None, (f"step {done}/{total}", as_text(facts), self._speed.text(total - done)))))

    def close(self) -> None:
        """Nothing to do."""


class NullProgress(LineProgress):
    """No output: another process reports the progress."""

    def __init__(self) -> None:
        super().__init__(None)


class Bar:
    """A bar of rich that stays in its place."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed}/{task.total}"),
            TextColumn("{task.fields[facts]}", markup=False),
            console=Console(file=stream, highlight=False, markup=False, emoji=False),
            refresh_per_second=8,
        )
        self._bar.start()
        self._kernels: TaskID | None = None
        self._steps: TaskID | None = None
        self._speed, self._left = _Speed(), _TimeLeft()

    def say(self, text: str) -> None:
        """Print it above the bar."""
        self._bar.console.print(printable(text), soft_wrap=True)

    def compiling(self, done: int, total: int, what: str) -> None:
        """Move the bar of the kernels."""
        if self._kernels is None:
            self.say(COMPILING)
            self._kernels = self._bar.add_task("kernels", total=total, facts="")
        shown = printable_line("  ".join(filter(None, (what, self._left.text(done, total)))))
        self._bar.update(self._kernels, completed=done, total=total, facts=shown, visible=done < total)

    def step(self, done: int, total: int, facts: Mapping[str, float], rows: int) -> None:
        """Move the bar of the steps."""
        self._speed.add(rows)
        if self._steps is None:
            self._steps = self._bar.add_task("steps", total=total, facts="")
        shown = f"{as_text(facts)}  {self._speed.text(total - done)}"
        self._bar.update(self._steps, completed=done, facts=printable_line(shown))

    def report(self, done: int, total: int, facts: Mapping[str, float]) -> None:
        """Nothing: the bar shows them."""

    def close(self) -> None:
        """Leave the bar as it is."""
        self._bar.stop()


class ProgressListener:
    """Shows steps, lines of the log and tests of a training."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._statistics: Mapping[str, float] = {}

    def step_done(self, step: StepDone) -> None:
        """Show the loss, and the statistics of the last line of the log."""
        run = step.run
        self._progress.step(run.step, run.total, {"loss": run.loss, **self._statistics}, step.rows)

    def reported(self, report: Reported) -> None:
        """Show a line of the log."""
        run, self._statistics = report.run, report.statistics
        self._progress.report(run.step, run.total, {**report.losses, **report.statistics})

    def test_done(self, test: TestDone) -> None:
        """Show the results of a validation or test, with notes."""
        self._progress.say(f"step {test.run.step}: {test.run.monitored}  {as_text(test.run.results)}")
        for note in test.notes:
            self._progress.say(f"note: {note}")

    def final_test_done(self, test: FinalTestDone) -> None:
        """Show the results of the test at the end."""
        run = test.run
        of = "" if test.weights_of == run.step else f" of the weights of step {test.weights_of}"
        self._progress.say(f"step {run.step}: test{of}  {as_text(run.test_results)}")
