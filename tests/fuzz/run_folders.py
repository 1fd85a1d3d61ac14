"""Folders of runs and of sweeps, as somebody else may have packed them: files, links, journals."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest import mock

from paddle_layers.config import load_training
from paddle_layers.data import DataError
from paddle_layers.data.fitted_preprocessing import FILE as LEARNED
from paddle_layers.data.fitted_preprocessing import read_fitted
from paddle_layers.define.output_folders import LinkError
from paddle_layers.runtime import SaveError
from paddle_layers.training import TrainingError
from paddle_layers.training.callbacks.monitoring import BEST, BEST_FOLDER
from paddle_layers.training.checkpoints.files import checkpoints
from paddle_layers.training.checkpoints.state import restore_state_files, save_state_files
from paddle_layers.training.results import run_files
from paddle_layers.training.results.folders import CHECKPOINTS, FOLDERS, MARK, clear_folder, is_running
from paddle_layers.training.results.records import CsvLog, read_records
from paddle_layers.training.results.run_files import FOLDER, RUN, end_run, facts_of, read_run, write_run
from paddle_layers.training.results.run_folders import claimed_output_folder
from paddle_layers.training.sweeps.search import ended_trials
from paddle_layers.training.sweeps.study import JOURNAL, Sweep, next_trial, open_study, parse_varied, settings_of
from tests.training.helpers import write

from .data_files import check_message
from .mutators import ODD_NUMBERS, ODD_TEXTS, changed_bytes, changed_text, several
from .target import Target, demand

POINT = f"{CHECKPOINTS}/step-00000004"
SOUND = {
    MARK: "A training of paddle_layers made this folder.\n",
    LEARNED: json.dumps({"words": {"w": ["a", "b"]}, "means": {"x": [1.5]}, "columns": {"x": ["c"]}}),
    "log.csv": "step,epoch,phase,loss,rate,seconds\n4,0,train,1.5,0.1,2.0\n4,0,test,1.25,,2.5\n",
    "weights.safetensors": "weights",
    BEST: "best",
    f"{BEST_FOLDER}/step-00000004.safetensors": "best",
    "values/v-00000004.npz": "values",
    "plateau/loss-00000004.safetensors": "best",
    "tensorboard/train/events.out.tfevents.1": "events",
    f"{POINT}/state.json": "{}",
    f"{POINT}/callbacks/{BEST}": "best",
    f"{POINT}/callbacks/{BEST_FOLDER}/step-00000004.safetensors": "best",
    f"{CHECKPOINTS}/.step-00000008.1.tmp/state.json": "{}",
    ".log.csv.1.tmp": "",
}
"""Files of a run; those of the folder `run` come from the library itself."""
KINDS = ("content", "text", "link", "link to a file", "loop", "folder", "gone", "odd name")
NAMES = (BEST, f"{BEST_FOLDER}/step-00000004.safetensors")


class Change(NamedTuple):
    """What became of an entry of the folder."""

    kind: str
    name: str
    text: str = ""


class RunFolder(Target):
    """Folders of runs."""

    name = "run-folder"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.output, self.victim = folder / "output", folder / "victim"
        self.facts, self.texts = facts_of(load_training(write(folder)), self.output, (), data=False)
        self.output.mkdir()
        write_run(self.output, self.facts, self.texts, resumed=False)
        self.sound = {name: text.encode() for name, text in SOUND.items()}
        for file in (self.output / FOLDER).iterdir():
            self.sound[f"{FOLDER}/{file.name}"] = file.read_bytes()
        for name, content in self.sound.items():
            inner = Path(name).name
            (self.victim / inner).parent.mkdir(exist_ok=True)
            (self.victim / inner).write_bytes(content)
            (self.victim / "step-00000001").mkdir(exist_ok=True)
        self.before = self._victims_files()

    def make(self, rng: Random) -> bytes:
        """What is asked for, and what is odd in the folder."""
        entries = [*self.sound, *("/".join(names) for names in FOLDERS), POINT, f"{POINT}/callbacks"]
        changes = []
        for _ in range(several(rng)):
            name, kind = rng.choice(entries), rng.choice(KINDS)
            text = ""
            if kind in ("content", "text") and name in self.sound:
                text = changed_text(self.sound[name].decode(), rng) if kind == "text" else _odd_object(rng)
            elif kind == "odd name":
                text = rng.choice((*ODD_TEXTS, "step-00000000000000000001", "step-" + "9" * 200, "step-1", ".lock"))
            changes.append(Change(kind, name, text))
        case = {"mode": rng.choice(("new", "resume", "overwrite")), "changes": changes}
        return json.dumps(case).encode()

    def check(self, case: bytes) -> None:
        """Only files of the folder change; what is odd in it is nothing, or is said with its name."""
        try:
            asked = json.loads(case)
            mode, changes = asked["mode"], [Change(*change) for change in asked["changes"]]
        except (ValueError, KeyError, TypeError):
            return  # a case made smaller
        self._write()
        for change in changes:
            with contextlib.suppress(OSError, ValueError):  # where a change before has left no such entry
                self._change(change)
        try:
            # Most of the time; neither the disk nor the installed packages are tested.
            with mock.patch("os.fsync", _nothing), mock.patch.object(run_files, "version", str):
                self._use(mode)
        except (TrainingError, DataError, SaveError, LinkError) as error:
            check_message(error, str(self.output))
        except OSError as error:
            demand(error.filename or error.strerror, f"names no file: {error!r}")
        demand(self._victims_files() == self.before, "files of somebody else have changed")

    def _use(self, mode: str) -> None:
        is_running(self.output)
        place = claimed_output_folder(self.output, self.facts, resume=mode == "resume", overwrite=mode == "overwrite")
        with place as found:
            if found.resume:
                read_fitted(found.folder / LEARNED)
                points = checkpoints(found.folder / CHECKPOINTS)
                for point in points[-1:]:
                    restore_state_files(found.folder, point, NAMES)
            if found.clear:
                clear_folder(found.folder)
                gone = [name for name in (LEARNED, BEST, "log.csv") if (found.folder / name).is_file()]
                demand(not gone, f"{gone} is left of the run before")
            write_run(found.folder, self.facts, self.texts, resumed=found.resume)
            demand(read_run(found.folder) is not None, "what was written cannot be read")
            last = {"train": 4, "test": 4} if found.resume else None
            CsvLog(found.folder / "log.csv", [], last).add({"step": 5, "epoch": 0, "phase": "train", "loss": 1.0})
            demand(read_records(found.folder / "log.csv"), "the log has no line")
            (found.folder / CHECKPOINTS / "new").mkdir(parents=True, exist_ok=True)
            save_state_files(found.folder, found.folder / CHECKPOINTS / "new", NAMES)
            end_run(found.folder, self.facts)
            demand((found.folder / FOLDER / RUN).is_file(), "the run keeps nothing of itself")

    def _write(self) -> None:
        for old in self.folder.glob("output*"):
            shutil.rmtree(old, ignore_errors=True)
        for name, content in self.sound.items():
            (self.output / name).parent.mkdir(parents=True, exist_ok=True)
            (self.output / name).write_bytes(content)

    def _change(self, change: Change) -> None:
        path = self.output / change.name
        if any(entry.is_symlink() for entry in (path, *path.parents)):
            return  # a change before has put a link there
        if change.kind == "odd name":
            path.rename(path.with_name(change.text.replace("/", "_")[:200]))
            return
        if change.kind in ("content", "text") and path.is_file():
            path.write_text(change.text, encoding="utf-8", errors="surrogatepass")
            return
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        targets = {"link": self.victim, "link to a file": self.victim / path.name, "loop": path}
        if change.kind in targets:
            path.symlink_to(targets[change.kind])
        elif change.kind == "folder":
            path.mkdir()

    def _victims_files(self) -> dict[str, bytes]:
        return {str(file): file.read_bytes() if file.is_file() else b"" for file in sorted(self.victim.rglob("*"))}


def _nothing(_: int) -> None:
    """`os.fsync` without a disk."""


def _odd_object(rng: Random) -> str:
    values = (*ODD_NUMBERS, "null", "true", "[]", "{}", '"x"', "NaN", "[" * 2000)
    keys = ("words", "means", "columns", "commands", "steps", "epochs", "ended", "step", "results", "best", "better")
    return "{" + ", ".join(f'"{rng.choice(keys)}": {rng.choice(values)}' for _ in range(rng.randrange(4))) + "}"


CHOICES, RANGE = "optimizer.learning_rate=0.1,0.01", "seed=1..5"


WORKER = b"01234567-89ab-4cde-8fab-0123456789ab-140000000000000"


class SweepJournal(Target):
    """Journals of sweeps."""

    name = "sweep-journal"
    second_per_byte = 1e-4  # Optuna takes a while for each line

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "sweep").mkdir()
        self.sweep = Sweep("t.textproto", (CHOICES, RANGE), str(folder / "sweep"), "loss", "min", 4, 0)
        self.path = folder / "sweep" / JOURNAL
        study = open_study(self.sweep)
        for value in (0.5, 0.25, None):
            with contextlib.ExitStack() as held:
                trial = next_trial(self.sweep, study, held)
                if trial is not None and value is not None:
                    study.tell(trial.number, value)
        # Optuna writes random identifiers and the time, but a case must be the same in every process.
        journal = re.sub(rb'"worker_id":"[^"]*"', b'"worker_id":"%s"' % WORKER, self.path.read_bytes())
        self.sound = re.sub(rb'"(datetime_\w+)":"[^"]*"', rb'"\1":"2026-01-02T03:04:05.678901"', journal)

    def make(self, rng: Random) -> bytes:
        """Lines that are changed, left out, doubled, exchanged, or have other values."""
        if rng.random() < 0.15:
            return changed_bytes(self.sound, rng)
        lines = self.sound.decode().splitlines()
        for _ in range(several(rng)):
            at = rng.randrange(len(lines))
            way = rng.randrange(7)
            if way == 0 and len(lines) > 1:
                del lines[at]
            elif way == 1:
                lines.insert(rng.randrange(len(lines) + 1), lines[at])
            elif way == 2:
                other = rng.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            elif way == 3:
                lines[at] = changed_text(lines[at], rng)
            else:
                lines[at] = _other_value(lines[at], rng)
        return ("\n".join(lines) + rng.choice(("\n", "\n", ""))).encode("utf-8", "surrogatepass")

    def check(self, case: bytes) -> None:
        """Trials are what a sweep could have had, or the journal is refused."""
        self.path.write_bytes(case)
        self.path.with_name(f"{JOURNAL}.lock").unlink(missing_ok=True)
        varied = parse_varied(self.sweep.vary)
        try:
            with contextlib.ExitStack() as held:
                study = open_study(self.sweep)
                ended = ended_trials(self.sweep)
                trial = next_trial(self.sweep, study, held)
        except TrainingError as error:
            check_message(error, str(self.path))
            return
        for one in ended:
            demand(one.value is None or one.value == one.value, "a result is NaN")
            demand(one.value is None or len(one.settings) == len(varied), "a trial lacks settings")
        if trial is not None:
            rate, seed = (setting.partition("=")[2] for setting in settings_of(trial, varied))
            demand(rate in ("0.1", "0.01") and 1 <= int(seed) <= 5, f"{rate} and {seed} are none of its values")


def _other_value(line: str, rng: Random) -> str:
    """A line with another value of one of its keys."""
    try:
        found: dict[str, Any] = json.loads(line)
        key = rng.choice(list(found))
    except (ValueError, IndexError):
        return line
    odd = (
        *ODD_NUMBERS,
        "null",
        "true",
        "[]",
        "{}",
        "[0.5]",
        "[NaN]",
        '["x"]',
        "[1, 2]",
        '"x"',
        "NaN",
        "Infinity",
        '""',
    )
    if key == "distribution" and isinstance(found[key], str) and rng.random() < 0.7:
        text = changed_text(found[key], rng)
        found[key] = text.replace("0.01", "0.02") if rng.random() < 0.3 else text
        return json.dumps(found)
    found[key] = "@"
    return json.dumps(found).replace('"@"', rng.choice(odd))
