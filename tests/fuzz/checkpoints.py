"""What a training leaves and another one goes on from: weights, and checkpoints with their log."""

from __future__ import annotations

import contextlib
import io
import json
import struct
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np

import paddle_layers as pl
from paddle_layers.config import load_training, network_of
from paddle_layers.data import DataError, Dataset
from paddle_layers.data.fitted_preprocessing import FILE, FittedPreprocessing, encoded, parse_fitted, read_fitted
from paddle_layers.runtime import DeviceError, WeightsError
from paddle_layers.runtime.memory.tensorfiles import write_tensors
from paddle_layers.runtime.memory.weightfiles import DATA
from paddle_layers.training import TrainingError
from paddle_layers.training.data_loading import learned_for
from paddle_layers.training.job import Job, prepare
from paddle_layers.training.loop import TrainingLoop
from paddle_layers.training.progress import LineProgress
from paddle_layers.training.results.metrics_logger import MetricsLogger
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, write

from .data_files import check_message
from .mutators import ODD_NUMBERS, ODD_TEXTS, TEXT_NUMBERS, changed_bytes, changed_text, several
from .target import Target, as_python, demand

LISTENERS = """
test { every: 5 }
callback { type: "save_best" save_best { best_tests: 2 } }
callback { type: "early_stop" early_stop { patience: 50 } }
callback { type: "plateau" plateau { reload: true } }
"""
DTYPES = ("F32", "F32", "F64", "F16", "BF16", "F8_E4M3", "I64", "I8", "U64", "BOOL", "C64", "F4", "", "f32", None, 5)


def changed_tensors(data: bytes, rng: Random) -> bytes:
    """A safetensors file with something odd in its header, in its numbers or in any byte."""
    if rng.random() < 0.3:
        return changed_bytes(data, rng)
    (size,) = struct.unpack_from("<Q", data)
    header, numbers = json.loads(data[8 : 8 + size]), bytearray(data[8 + size :])
    for _ in range(several(rng)):
        name = rng.choice(list(header) or ["x"])
        way = rng.randrange(8)
        if way == 0:
            header.pop(name, None)
        elif way == 1:
            header[rng.choice((name + "x", *ODD_TEXTS))] = header.get(name)
        elif way == 2 and numbers:
            at = rng.randrange(len(numbers))
            numbers[at : at + 4] = struct.pack("<f", rng.choice((np.nan, np.inf, 1e38, 0, -1, 1e-45)))
        elif way == 3:
            del numbers[rng.randrange(len(numbers) + 1) :]
        elif isinstance(header.get(name), dict):
            _change_entry(header[name], rng)
    text = _spelt(json.dumps(header), rng).encode("utf-8", "surrogatepass")
    length = (
        len(text) if rng.random() < 0.95 else rng.choice((0, len(text) - 1, len(text) + 8, 2**31, 2**63, 2**64 - 1))
    )
    return struct.pack("<Q", length) + text + bytes(numbers)


def _change_entry(entry: dict[str, Any], rng: Random) -> None:
    key = rng.choice(("dtype", "shape", "shape", "data_offsets", "x"))
    if key == "dtype":
        entry[key] = rng.choice(DTYPES)
    elif key == "x":
        entry[rng.choice(("x", "shape", "dtype"))] = rng.choice((None, 1, "x", [], {}))
    else:
        values = entry.get(key)
        values = list(values) if isinstance(values, list) and values else [0]
        at = rng.randrange(len(values))
        values[at : at + rng.randrange(2)] = [
            rng.choice((0, 1, -1, 2, 1.5, "1", None, 2**31, 2**62, 2**64, values[at]))
        ]
        entry[key] = values * rng.choice((1, 1, 1, 40))


def _spelt(text: str, rng: Random) -> str:
    return changed_text(text, rng) if rng.random() < 0.1 else text


class Weights(Target):
    """Weights in safetensors files."""

    name = "weights"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.net = pl.Net(network_of(write(folder)))
        self.path = folder / "w.safetensors"
        self.net.save(str(self.path))
        self.sound = self.path.read_bytes()

    def make(self, rng: Random) -> bytes:
        """Those of the net, changed."""
        return changed_tensors(self.sound, rng)

    def check(self, case: bytes) -> None:
        """They are loaded whole, or the net stays as it was."""
        self.path.write_bytes(case)
        before = {name: one.value.copy() for name, one in self.net.arena.by_name.items()}
        try:
            self.net.load(str(self.path))
        except WeightsError as error:
            check_message(error, str(self.path))
            for name, one in self.net.arena.by_name.items():
                demand(np.array_equal(one.value, before[name]), f"`{name}` changed")
        else:
            for name, one in self.net.arena.by_name.items():
                demand(one.value.shape == before[name].shape, f"`{name}` has another shape")
                one.value = before[name]


class DataNames(Target):
    """The names of ids and columns in the header of weights, and in `data.json` beside them."""

    name = "data-names"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path, self.weights = folder / FILE, folder / "w.safetensors"
        learned = FittedPreprocessing(
            {"label": ["cat", "dog", "é"], "words": ["", "a b"]}, {"x": [0.5, 2]}, {"x": ["b", "c"]}
        )
        self.sound = learned.line()
        self.data = Dataset(
            {"label": np.array([1, 0, 1]), "x": np.array([[1.0, 2.0]] * 3)},
            words={"label": ["dog", "cat"]},
            columns={"x": ["c", "b"]},
            origin=str(folder),
        )

    def make(self, rng: Random) -> bytes:
        """The JSON with other values, or changed as text or as bytes."""
        way = rng.random()
        if way < 0.2:
            return changed_bytes(self.sound.encode(), rng)
        text = _changed_facts(self.sound, rng) if way < 0.6 else changed_text(self.sound, rng)
        return text.encode("utf-8", "surrogatepass")

    def check(self, case: bytes) -> None:
        """Both places are read alike or refused; what is read is written as it was, and other data are aligned."""
        self.path.write_bytes(case)
        try:
            learned = read_fitted(self.path)
        except DataError as error:
            check_message(error, str(self.path))
            return
        demand(parse_fitted(learned.line(), "here") == learned or not learned, "it is written otherwise than read")
        write_tensors(self.weights, {"w": np.zeros(2)}, {DATA: case.decode()} if case else {})
        demand(learned_for(self.weights)[0] == learned, "the header says something else than the file")
        try:
            found = encoded(self.data, learned, "here")
        except DataError as error:
            check_message(error, str(self.folder))
            return
        names = found.words["label"]
        demand([names[number] for number in found.fields["label"]] == ["cat", "dog", "cat"], "other names")


class Checkpoint(Target):
    """Checkpoint folders: facts, states of the optimizer, weights and the log."""

    name = "checkpoint"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        path = write(folder, NETWORK + SOURCES + SETTINGS + LISTENERS)
        self.training = load_training(path)
        self.output = folder / "output"
        self.point = self.output / "checkpoints" / "step-00000010"
        with as_python(), contextlib.redirect_stdout(io.StringIO()), mock.patch.object(MetricsLogger, "seconds", 1.5):
            self.job = self._job()
            loop = self._loop()
            self.output.mkdir()
            loop.begin(resume=False, weights=None)
            loop.run.total = 12
            loop.run_steps()
        files = [*sorted(file for file in self.point.rglob("*") if file.is_file()), self.output / "log.csv"]
        self.sound = {str(file.relative_to(self.output)): file.read_bytes() for file in files}

    def _job(self) -> Job:
        def quiet(*said: Any) -> None:
            pass

        options: dict[str, Any] = {"datasets": {}, "callbacks": (), "say": quiet, "compiling": quiet}
        return prepare(self.training, seed=0, device="cpu", **options)

    def _loop(self) -> TrainingLoop:
        own = [settings.definition.create(settings.attributes) for settings in self.training.callback]
        return TrainingLoop(self.training, self.job, self.output, LineProgress(io.StringIO()), own)

    def make(self, rng: Random) -> bytes:
        """The name of a file, and what is in it."""
        name = rng.choice((*self.sound, *(one for one in self.sound if not one.endswith("safetensors"))))
        content = self.sound[name]
        if name.endswith("safetensors"):
            content = changed_tensors(content, rng)
        elif rng.random() < 0.2:
            content = changed_bytes(content, rng)
        elif name.endswith("json") and rng.random() < 0.8:
            content = _changed_facts(content.decode(), rng).encode("utf-8", "surrogatepass")
        else:
            content = changed_text(content.decode(), rng).encode("utf-8", "surrogatepass")
        return name.encode() + b"\n" + content

    def check(self, case: bytes) -> None:
        """The training goes on from there, and takes a step; or says which file is damaged."""
        name, _, content = case.partition(b"\n")
        for file, sound in self.sound.items():
            (self.output / file).write_bytes(content if file == name.decode() else sound)
        loop = self._loop()
        with as_python():
            try:
                loop.begin(resume=True, weights=None)
            except (TrainingError, WeightsError) as error:
                check_message(error, str(self.output))
                return
            loop.run.total = loop.run.step + 1
            with contextlib.suppress(TrainingError, DeviceError):  # of weights that are not finite
                loop.run_steps()


def _changed_facts(text: str, rng: Random) -> str:
    """Other values of the facts, of any kind, at any depth."""
    facts = json.loads(text)
    for _ in range(several(rng)):
        owner: Any = facts
        key = rng.choice(list(owner))
        while isinstance(owner[key], (dict, list)) and owner[key] and rng.random() < 0.8:
            owner = owner[key]
            key = rng.choice(list(owner)) if isinstance(owner, dict) else rng.randrange(len(owner))
        if rng.random() < 0.1:
            del owner[key]
            if not facts:
                break
        else:
            owner[key] = f"@{_odd_json(rng)}@"
    return json.dumps(facts).replace('"@', "").replace('@"', "").replace('\\"', '"')


def _odd_json(rng: Random) -> str:
    numbers = [*ODD_NUMBERS, "NaN", "Infinity", "-Infinity", *TEXT_NUMBERS[:1]]
    others = ["null", "true", "[]", "{}", "[1]", '"x"', "[" * 2000 + "]" * 2000, '{"a": 1}', "[[1, 2], [3]]", "[null]"]
    return rng.choice((*numbers, *others))
