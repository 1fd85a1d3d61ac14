"""Training log: a CSV file with one line per report, for spreadsheets and programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paddle_layers.define.output_folders import open_folder
from paddle_layers.runtime.memory.tensorfiles import save_error, write_file

from ..problems import TrainingError

_REMEDY = "fix the file or move it away"
_DIGITS = 15
PHASES = ("train", "validation", "test")
COLUMNS = ("step", "epoch", "phase", "loss", "rate", "seconds")


class CsvLog:
    """Lines of `log.csv`: step, epoch, phase, loss, learning rate, seconds since the start, then the statistics.

    `last` has the steps up to which the lines of an earlier sitting are kept, by phase; without it there was none.
    """

    def __init__(self, path: Path, statistics: Sequence[str], last: Mapping[str, int] | None = None) -> None:
        self.path = path
        self.columns = (*COLUMNS, *statistics)
        self.lines: list[dict[str, str]] = []
        if last is not None and path.exists():
            # Lines after the checkpoint belong to steps that are made again.
            self.lines = [line for line in read_records(path) if int(line["step"]) <= last.get(line["phase"], -1)]
        lines = ([line.get(name, "") for name in self.columns] for line in self.lines)
        write_file(path, _csv(self.columns, *lines).encode())

    def add(self, facts: Mapping[str, Any]) -> bool:
        """Append a line, unless an earlier sitting did; returns whether. Numbers read back exactly; `SaveError`."""
        place = str(facts["step"]), facts["phase"]
        recent = self.lines[-len(PHASES) :]  # a step has a line of each phase
        if any((line["step"], line["phase"]) == place for line in recent):
            return False
        line = {name: "" if facts.get(name) is None else str(facts[name]) for name in self.columns}
        self.lines.append(line)
        try:
            with open_folder(self.path.parent) as folder:
                folder.append(self.path.name, _csv(list(line.values())).encode())
        except OSError as error:
            raise save_error(self.path, error) from error
        return True

    def last_evaluation(self, phase: str, before: int) -> tuple[int, dict[str, float]]:
        """The last evaluation of a phase before a step: its step and its results; -1 and none where none was."""
        for line in reversed(self.lines):
            if line["phase"] == phase and int(line["step"]) < before:
                names = ("loss", *self.columns[len(COLUMNS) :])
                return int(line["step"]), {name: float(line[name]) for name in names if line.get(name)}
        return -1, {}

    def series(self, phase: str, name: str) -> list[tuple[int, float]]:
        """Steps and values of a column in a phase."""
        return [
            (int(line["step"]), float(line[name])) for line in self.lines if line["phase"] == phase and line.get(name)
        ]


def read_records(path: Path) -> list[dict[str, str]]:
    """The lines of a log; one that was cut short by a crash is left out. `TrainingError` for what is no log."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            found = COLUMNS if reader.fieldnames is None else reader.fieldnames  # none: the file is empty
            missing = [name for name in COLUMNS if name not in found]
            if missing:
                raise TrainingError(f"{path}:1: missing column `{missing[0]}`; {_REMEDY}")
            lines = []
            for line in reader:
                if None not in line.values() and line["step"].isdecimal():
                    _check(line, f"{path}:{reader.line_num}")
                    lines.append(line)
            return lines
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TrainingError(f"cannot read {path}: {error}; {_REMEDY}") from None


def _check(line: Mapping[str, str], place: str) -> None:
    """Whether the columns of numbers hold numbers; in those that a report lacks there is nothing."""
    if len(line["step"]) > _DIGITS:
        raise TrainingError(f"{place}: `step` has {len(line['step'])} digits; {_REMEDY}")
    for name, value in line.items():
        if name is not None and name != "phase" and value:  # cells after the last column have no name
            try:
                float(value)
            except ValueError:
                raise TrainingError(f"{place}: `{name}` is {value[:40]!r}, expected a number; {_REMEDY}") from None


def _csv(*lines: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
