"""Comparison of runs: different settings, results, and learning curves."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..problems import TrainingError
from .curves import Series, picture
from .folders import LOG, MARK, is_running
from .records import COLUMNS, read_records
from .run_files import FOLDER, RUN, read_run

NOT_SHOWN = ("base", "output", "log", "checkpoint")
"""Fields that say nothing of what came out."""
MOST_LINES, MOST_POINTS = 24, 400
"""Maximum number of runs in a plot, and of points of each."""
_LARGEST = 1 << 26
"""Bytes of a log that is read."""


@dataclass
class ComparedRun:
    """A run folder in a comparison."""

    name: str
    folder: Path
    fields: Mapping[str, str]
    state: str
    step: int
    seconds: float
    last: Mapping[str, float]
    """Results of the last validation, else of the last test, else of the last line of the log."""
    best: Mapping[str, float]
    """The best of all validations (tests), for results of which it is known what is better."""
    test: Mapping[str, float]
    """Results of the test at the end of a training with validation data."""
    lines: Mapping[str, Series]
    """Steps and values by result, of the validations, else of the tests, else of the training."""


def compare(folders: Iterable[str | Path]) -> tuple[list[ComparedRun], list[str]]:
    """The runs in some folders, or that are these, in the order of their names; and notes on what cannot be read.

    Raises `TrainingError` for a missing folder, or one without runs.
    """
    found: list[ComparedRun] = []
    notes: list[str] = []
    for given in map(Path, folders):
        if not given.is_dir():
            raise TrainingError(f"no such folder: {given}")
        inside = sorted((path for path in given.iterdir() if path.is_dir()), key=_order)
        runs = [path for path in ([given] if _is_run(given) else inside) if _is_run(path)]
        if not runs:
            raise TrainingError(f"no runs in {given}; a run is an output folder of `paddle-layers train`")
        for folder in runs:
            name = str(folder.relative_to(given)) if folder != given else str(folder)
            try:
                found.append(_read(name, folder))
            except (TrainingError, OSError) as error:
                notes.append(str(error))
    return found, notes


def differing(runs: Sequence[ComparedRun]) -> list[str]:
    """The settings that are not the same in all runs, those of the training before those of the network."""
    names = dict.fromkeys(name for run in runs for name in run.fields)
    plain = [name for name in names if name.partition(".")[0] not in NOT_SHOWN and name != "net.name"]
    changed = [name for name in plain if len({run.fields.get(name) for run in runs}) > 1]
    return sorted(changed, key=lambda name: name.startswith("net."))


def result_names(runs: Sequence[ComparedRun]) -> list[str]:
    """The results that any of the runs has."""
    return list(dict.fromkeys(name for run in runs for name in run.last))


def comparison_picture(title: str, runs: Sequence[ComparedRun]) -> str:
    """SVG text: a panel for each result, a line for each run."""
    names = result_names(runs)
    return picture(title, {name: {run.name: _thinned(run.lines.get(name, ())) for run in runs} for name in names})


def _is_run(folder: Path) -> bool:
    return (folder / MARK).is_file() or (folder / FOLDER / RUN).is_file()


def _order(path: Path) -> list[tuple[int, str]]:
    """Names with numbers in the order of these."""
    parts = re.split(r"([0-9]{1,15})", path.name)
    return [(int(part), "") if number % 2 else (-1, part) for number, part in enumerate(parts)]


def _read(name: str, folder: Path) -> ComparedRun:
    facts, log = read_run(folder), folder / LOG
    if not log.is_file():
        raise TrainingError(f"{folder} has no {LOG} yet")
    if log.stat().st_size > _LARGEST:
        raise TrainingError(f"skipped {log}: larger than {_LARGEST >> 20} MiB")
    records = read_records(log)
    phases = ([line for line in records if line["phase"] == phase] for phase in ("validation", "test"))
    tests = next(filter(None, phases), records)
    columns = ("loss", *(column for column in (records[0] if records else {}) if column not in COLUMNS))
    lines = {
        column: [(int(line["step"]), float(line[column])) for line in tests if line.get(column)] for column in columns
    }
    lines = {column: line for column, line in lines.items() if line}
    better = facts.better if facts is not None else {"loss": "min"}
    finite = {column: [value for _, value in line if math.isfinite(value)] for column, line in lines.items()}
    best = {
        column: min(values) if better[column] == "min" else max(values)
        for column, values in finite.items()
        if values and column in better
    }
    ended = facts.ended if facts is not None else ""
    state = "running" if is_running(folder) else "finished" if ended == "all steps" else ended or "incomplete"
    last = {column: line[-1][1] for column, line in lines.items()}
    step = max((int(line["step"]) for line in records), default=0)
    seconds = max((float(line["seconds"]) for line in records if line.get("seconds")), default=0.0)
    fields, test = (facts.fields, facts.test) if facts is not None else ({}, {})
    return ComparedRun(name, folder, fields, state, step, seconds, last, best, test, lines)


def _thinned(line: Series) -> Series:
    """The line with fewer points, the last one among them."""
    every = -(-len(line) // MOST_POINTS) or 1
    return [*line[:-1][::every], *line[-1:]]
