"""Weights in several files with an index, in numbers of 16 and of 32 bits."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import paddle_layers as pl
from paddle_layers.config import network_of
from paddle_layers.runtime import WeightsError
from tests.training.helpers import write

from .checkpoints import changed_tensors
from .data_files import check_message
from .mutators import ODD_TEXTS, changed_bytes, changed_text, several
from .target import Target, demand

HOMES = (
    "a.safetensors",
    "b.safetensors",
    "../a.safetensors",
    "/a.safetensors",
    "c.safetensors",
    "a.pth",
    "",
    "a",
    1,
    None,
)


def as_file(tensors: dict[str, Any], *, brief: bool) -> bytes:
    """A safetensors file, in bfloat16 where it is `brief`."""
    header, numbers = {}, b""
    for name, array in tensors.items():
        data = (array.view(np.uint32) >> 16).astype(np.uint16).tobytes() if brief else array.tobytes()
        places = [len(numbers), len(numbers) + len(data)]
        header[name] = {"dtype": "BF16" if brief else "F32", "shape": list(array.shape), "data_offsets": places}
        numbers += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + numbers


class Shards(Target):
    """An index of weights, and the files beside it."""

    name = "weights-index"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.net = pl.Net(network_of(write(folder)))
        tensors = {name: np.ascontiguousarray(one.value) for name, one in self.net.arena.by_name.items()}
        self.homes: dict[str, Any] = {name: HOMES[number % 2] for number, name in enumerate(tensors)}
        parts = [{name: tensors[name] for name in tensors if self.homes[name] == home} for home in HOMES[:2]]
        self.files = {home: as_file(part, brief=home == HOMES[0]) for home, part in zip(HOMES[:2], parts, strict=True)}
        self.index = folder / "w.safetensors.index.json"

    def make(self, rng: Random) -> bytes:
        """The index in a line, mostly changed, and then one of the files, sometimes changed."""
        homes: Any = dict(self.homes)
        for _ in range(several(rng) if rng.random() < 0.7 else 0):
            name = rng.choice((*self.homes, *ODD_TEXTS))
            if rng.random() < 0.3:
                homes.pop(name, None)
            else:
                homes[name] = rng.choice((*HOMES, *ODD_TEXTS))
        if rng.random() < 0.05:
            homes = rng.choice(([], None, 1, "x", {}, [homes]))
        text = json.dumps({rng.choice(("weight_map",) * 20 + ("map",)): homes, "metadata": {"total_size": 1}})
        index = text.encode()
        if rng.random() < 0.2:
            index = changed_text(text, rng).encode("utf-8", "surrogatepass")
        elif rng.random() < 0.1:
            index = changed_bytes(index, rng)
        shard = self.files[HOMES[0]]
        if rng.random() < 0.4:
            shard = changed_tensors(shard, rng)
        return index.replace(b"\n", b" ") + b"\n" + shard

    def check(self, case: bytes) -> None:
        """They are loaded whole, or the net stays as it was."""
        index, _, shard = case.partition(b"\n")
        self.index.write_bytes(index)
        for home, sound in self.files.items():
            (self.folder / home).write_bytes(shard if home == HOMES[0] else sound)
        before = {name: one.value.copy() for name, one in self.net.arena.by_name.items()}
        try:
            self.net.load(self.index)
        except WeightsError as error:
            check_message(error, str(self.folder))
            for name, one in self.net.arena.by_name.items():
                demand(np.array_equal(one.value, before[name]), f"`{name}` changed")
        else:
            for name, one in self.net.arena.by_name.items():
                demand(one.value.shape == before[name].shape, f"`{name}` has another shape")
                one.value = before[name]
