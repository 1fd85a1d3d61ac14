"""Additional log formats: JSON lines and TensorBoard events."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from paddle_layers.define.output_folders import make_folder, open_folder, remove_matching
from paddle_layers.runtime.memory.tensorfiles import save_error, write_file

from ..problems import TrainingError
from .records import PHASES, CsvLog

JSON_LINES, EVENTS = "log.jsonl", "tensorboard"
"""The file of JSON lines, and the folder with a folder of events for each phase."""
_NO_SCALARS = {"step", "epoch", "phase", "seconds"}


class LogWriter(Protocol):
    """A log that gets every report."""

    def add(self, facts: Mapping[str, Any]) -> None:
        """A report: step, epoch, phase, seconds, and numbers by name. Raises `SaveError`."""
        ...

    def close(self) -> None:
        """Nothing follows."""
        ...


def check_formats(formats: Iterable[str]) -> None:
    """Raises `TrainingError` where what writes a format is not installed."""
    if "tensorboard" in formats and importlib.util.find_spec("tensorboardX") is None:
        raise TrainingError(
            "`log { format: \"tensorboard\" }` needs tensorboardX: pip install 'paddle-layers[tensorboard]'"
        )


def open_logs(formats: Iterable[str], folder: Path, records: CsvLog, last: Mapping[str, int] | None) -> list[LogWriter]:
    """The logs in the folder of a training, appended to the lines that `records` has. Raises `SaveError`."""
    made: list[LogWriter] = []
    for name in dict.fromkeys(formats):
        if name == "jsonl":
            made.append(JsonLines(folder / JSON_LINES, records))
        else:
            made.append(Events(folder / EVENTS, last))
    return made


def clear_logs(folder: Path) -> None:
    """Remove what an earlier training left of its logs."""
    remove_matching(folder, JSON_LINES)
    for phase in PHASES:
        remove_matching(folder / EVENTS / phase, "events.out.tfevents.*")


class JsonLines:
    """A JSON object on each line, with the names of log.csv; null for what is no number."""

    def __init__(self, path: Path, records: CsvLog) -> None:
        self.path = path
        lines = "".join(map(_line, map(_numbers, records.lines)))
        # Written anew from the lines of log.csv that are kept, so both logs agree after an interruption.
        write_file(path, lines.encode())

    def add(self, facts: Mapping[str, Any]) -> None:
        """Append a line."""
        try:
            with open_folder(self.path.parent) as folder:
                folder.append(self.path.name, _line(facts).encode())
        except OSError as error:
            raise save_error(self.path, error) from error

    def close(self) -> None:
        """Nothing to do: the file is closed after each line."""


def _line(facts: Mapping[str, Any]) -> str:
    plain = {name: _plain(value) for name, value in facts.items() if value is not None}
    return json.dumps(plain, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _numbers(line: Mapping[str, str]) -> dict[str, Any]:
    """A line of log.csv as the facts that it was made of."""
    whole = {name: int(line[name]) for name in ("step", "epoch")}
    rest = {name: float(text) for name, text in line.items() if text and name not in (*whole, "phase")}
    return {**whole, "phase": line["phase"], **rest}


class Events:
    """TensorBoard events: one run per phase, so that the curves of both are overlaid."""

    def __init__(self, folder: Path, last: Mapping[str, int] | None) -> None:
        self.folder, self._last, self._writers = folder, last, dict[str, Any]()
        self._folders = contextlib.ExitStack()
        try:
            make_folder(folder)
        except OSError as error:
            raise save_error(folder, error) from error

    def _open(self, phase: str) -> Any:
        """The event writer of a phase; events of an earlier sitting after its last step are superseded."""
        from tensorboardX import SummaryWriter

        first = None if self._last is None else self._last[phase] + 1
        sitting = f".{first or 0}"  # files are named by the second, and a sitting may begin in that of another
        make_folder(self.folder / phase)
        own = self._folders.enter_context(open_folder(self.folder / phase))
        return SummaryWriter(str(own.path_of("")), purge_step=first, filename_suffix=sitting)

    def add(self, facts: Mapping[str, Any]) -> None:
        """A point on the curve of each number."""
        phase = facts["phase"]
        try:
            # With the first event: TensorBoard would show a folder without any as an empty run.
            if phase not in self._writers:
                self._writers[phase] = self._open(phase)
            writer = self._writers[phase]
            for name, value in facts.items():
                if name not in _NO_SCALARS and value is not None:
                    writer.add_scalar(name, value, facts["step"])
            writer.flush()
        except OSError as error:
            raise save_error(self.folder, error) from error

    def close(self) -> None:
        """Write what is left."""
        for writer in self._writers.values():
            writer.close()
        self._folders.close()
