"""The log of a training in other forms, beside log.csv: JSON lines, and events for TensorBoard."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from paddle_layers.runtime.memory.tensorfiles import save_error, write_file

from ..problems import TrainingError
from .records import Records

JSON_LINES, EVENTS = "log.jsonl", "tensorboard"
"""The file of JSON lines, and the folder with a folder of events for each phase."""
_PHASES = ("train", "test")
_NO_SCALARS = {"step", "epoch", "phase", "seconds"}


class Log(Protocol):
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


def open_logs(
    formats: Iterable[str], folder: Path, records: Records, resume_at: int | None, *, tested: bool
) -> list[Log]:
    """The logs in the folder of a training, which go on behind the lines that `records` has. Raises `SaveError`."""
    made: list[Log] = []
    for name in dict.fromkeys(formats):
        if name == "jsonl":
            made.append(JsonLines(folder / JSON_LINES, records))
        else:
            made.append(Events(folder / EVENTS, resume_at, tested=tested))
    return made


def clear_logs(folder: Path) -> None:
    """Remove what an earlier training left of its logs."""
    (folder / JSON_LINES).unlink(missing_ok=True)
    for phase in _PHASES:
        for path in (folder / EVENTS / phase).glob("events.out.tfevents.*"):
            path.unlink()


class JsonLines:
    """A JSON object on each line, with the names of log.csv; null for what is no number."""

    def __init__(self, path: Path, records: Records) -> None:
        self.path = path
        lines = "".join(map(_line, map(_numbers, records.lines)))
        write_file(path, lines.encode())

    def add(self, facts: Mapping[str, Any]) -> None:
        """Append a line."""
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(_line(facts))
        except OSError as error:
            raise save_error(self.path, error) from error

    def close(self) -> None:
        """Nothing to do: the file is closed behind each line."""


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
    """Events for TensorBoard: a run for each phase, so that curves of both lie over each other."""

    def __init__(self, folder: Path, resume_at: int | None, *, tested: bool) -> None:
        self.folder, self._writers = folder, {}
        for phase in _PHASES:
            later = None if resume_at is None else resume_at + (phase == "train" or tested)
            self._writers[phase] = self._open(phase, later)

    def _open(self, phase: str, first: int | None) -> Any:
        """What writes the events of a phase; of an earlier sitting none counts from the step `first` on."""
        from tensorboardX import SummaryWriter

        sitting = f".{first or 0}"  # files are named by the second, and a sitting may begin in that of another
        try:
            return SummaryWriter(str(self.folder / phase), purge_step=first, filename_suffix=sitting)
        except OSError as error:
            raise save_error(self.folder / phase, error) from error

    def add(self, facts: Mapping[str, Any]) -> None:
        """A point on the curve of each number."""
        writer = self._writers[facts["phase"]]
        try:
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
