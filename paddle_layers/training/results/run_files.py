"""Run records for reproduction and comparison: the subfolder `run` of the output folder."""

from __future__ import annotations

import json
import math
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle_layers.config.diagnostics.report import ConfigError
from paddle_layers.config.resolved import NETWORK, flat_fields, resolved_texts
from paddle_layers.define.output_folders import make_folder, open_folder, remove_matching
from paddle_layers.runtime.memory.tensorfiles import save_error, write_file

from ..checkpoints.state import is_count, is_number
from .result_names import best_of

if TYPE_CHECKING:
    from paddle_layers.config import Training

FOLDER, RUN, CONFIG = "run", "run.json", "train.textproto"
RUN_FILES = (RUN, CONFIG, NETWORK)
LENGTHS = ("steps", "epochs")
NOT_COMPARED = (*LENGTHS, "test", "checkpoint", "log", "output", "base")
"""Fields that change how long a training goes on, and what is written of it, and not what it computes."""
PACKAGES = ("numpy", "numba", "scipy", "protobuf", "safetensors")
_LARGEST = 1 << 26
"""Bytes of a file that is read; those that are written are far smaller."""


@dataclass
class RunFacts:
    """Contents of `run.json`."""

    fields: dict[str, str]
    """The fields of training and network, as `--set` names them; they are in the other files."""
    length: tuple[str, int]
    """`steps` or `epochs`, and how many were asked for."""
    given: bool = False
    """Whether data came from Python, so that the files alone do not repeat the run."""
    commands: list[str] = field(default_factory=list)
    """The command line of each sitting."""
    ended: str = ""
    """Why nothing is left to do; empty while there is."""
    step: int = 0
    seconds: float = 0.0
    results: dict[str, float] = field(default_factory=dict)
    """Of the last validation, or of the last test where there are no validation data."""
    test: dict[str, float] = field(default_factory=dict)
    """Of the test at the end of a training with validation data."""
    best: dict[str, float] = field(default_factory=dict)
    """Of the validation or test whose weights `save_best` kept."""
    better: dict[str, str] = field(default_factory=dict)
    """Whether smaller or larger values of a result are better, "min" or "max", if known."""


def facts_of(training: Training, folder: Path, given: Sequence[str], *, data: bool) -> tuple[RunFacts, dict[str, str]]:
    """The record of a new run, and its files by name. `given` are settings, `data` whether data come from Python."""
    text, network = resolved_texts(training, folder / FOLDER, given)
    name = "steps" if training.steps else "epochs"
    fields = _all_fields(text, network)
    facts = RunFacts(fields, (name, getattr(training, name)), given=data, better=best_of(training))
    return facts, {CONFIG: text, NETWORK: network}


def write_run(folder: Path, facts: RunFacts, texts: Mapping[str, str], *, resumed: bool) -> None:
    """Write the files of a run, or of a further sitting of it, which adds its command. Raises `SaveError`."""
    before = read_run(folder) if resumed else None
    facts.commands = [*(before.commands if before is not None else ()), _command()]
    own = folder / FOLDER
    try:
        make_folder(own)
    except OSError as error:
        raise save_error(own, error) from error
    for name, text in texts.items():
        if text:
            write_file(own / name, text.encode())
        else:
            remove_matching(own, name)
    found = {
        "commands": facts.commands,
        "folder": str(Path.cwd()),
        "began": _now(),
        "versions": {"paddle_layers": _version("paddle-layers"), "python": platform.python_version()}
        | {name: _version(name) for name in PACKAGES},
        "machine": platform.platform(),
        "data_from_python": facts.given,
        facts.length[0]: facts.length[1],
        "better": facts.better,
    }
    write_file(folder / FOLDER / RUN, json.dumps(found, indent=1).encode())


def end_run(folder: Path, facts: RunFacts) -> None:
    """Add to `run.json` how far the run came. Raises `SaveError`."""
    found = _object(folder / FOLDER / RUN)
    found |= {"ended": facts.ended, "until": _now(), "step": facts.step, "seconds": round(facts.seconds, 3)}
    found |= {"results": _finite(facts.results), "best": _finite(facts.best)}
    if facts.test:
        found["test"] = _finite(facts.test)
    write_file(folder / FOLDER / RUN, json.dumps(found, indent=1).encode())


def read_run(folder: Path) -> RunFacts | None:
    """The record of a run folder; None if it is unusable. Everything in it is validated."""
    own = folder / FOLDER
    found = _object(own / RUN)
    name = next((name for name in LENGTHS if is_count(found.get(name))), "")
    try:
        fields = _all_fields(_text(own / CONFIG), _text(own / NETWORK))
    except (ConfigError, OSError, ValueError):
        return None
    if not name or not fields:
        return None
    facts = RunFacts(fields, (name, found[name]), given=found.get("data_from_python") is not False)
    commands, ended = found.get("commands"), found.get("ended")
    facts.commands = [one for one in commands if isinstance(one, str)] if isinstance(commands, list) else []
    facts.ended = ended if isinstance(ended, str) else ""
    facts.step = found["step"] if is_count(found.get("step")) else 0
    facts.seconds = float(found["seconds"]) if is_number(found.get("seconds")) else 0.0
    facts.results, facts.best, facts.test = (_numbers(found.get(name)) for name in ("results", "best", "test"))
    better = found.get("better")
    if isinstance(better, dict):
        facts.better = {name: which for name, which in better.items() if which in ("min", "max")}
    return facts


def clear_run(folder: Path) -> None:
    """Remove what an earlier run kept of itself."""
    for name in RUN_FILES:
        remove_matching(folder / FOLDER, name)
    with open_folder(folder) as whole:
        whole.remove_empty(FOLDER)


def same_run(now: RunFacts, before: RunFacts) -> bool:
    """Whether both compute the same, for however long."""
    return not now.given and not before.given and compared(now.fields) == compared(before.fields)


def has_more(now: RunFacts, before: RunFacts) -> bool:
    """Whether a training with the same computation has steps left to do, compared to the other one's position."""
    if now.length[0] != before.length[0] or now.length[1] < before.length[1]:
        return False
    return not before.ended or now.length[1] > before.length[1]


def compared(fields: Mapping[str, str]) -> dict[str, str]:
    """The fields that say what is computed."""
    return {name: value for name, value in fields.items() if name.partition(".")[0] not in NOT_COMPARED}


def _all_fields(text: str, network: str) -> dict[str, str]:
    fields = flat_fields(text, "Training")
    fields.pop("network", None)
    return fields | (flat_fields(network, "Network") if network else {})


def _object(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(_text(path) or "{}")
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(path: Path) -> str:
    """The contents of a file, empty if it does not exist. Raises `OSError`, and `ValueError` for a binary file."""
    if not path.is_file():  # a pipe would never end
        return ""
    with path.open("rb") as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError(f"{path} is too large")
    return content.decode()


def _finite(results: Mapping[str, float]) -> dict[str, float]:
    """The finite values, which JSON can represent."""
    return {name: value for name, value in results.items() if math.isfinite(value)}


def _numbers(found: Any) -> dict[str, float]:
    given = found.items() if isinstance(found, dict) else ()
    return {name: float(value) for name, value in given if is_number(value)}


def _command() -> str:
    name = Path(sys.argv[0]).name if sys.argv else ""
    return shlex.join(["paddle-layers" if name == "__main__.py" else name, *sys.argv[1:]])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
