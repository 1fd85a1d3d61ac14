"""Data that are made up, to try a network or to measure it without any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import Choice, Int, Strings, Type, source

from ..dataset import Dataset
from ..problems import DataError

MOST = 2**31
"""Numbers of a field that are made, at most."""


@source("made_up", elsewhere={"Caffe": "DummyData"})
class MadeUp:
    """Random rows of given types, the same each time: to try a network, or to measure it, before there are data.

    A field is its name and its type, as `validate` and `show` write types: `"image: 3x32x32"`, `"label: ids<10"`,
    `"words: sequence of ids<5000"`. Ids are drawn evenly. Sequences have 1 to `length` rows. Caffe draws new numbers
    for every batch; here there are `rows` of them, and then the same again.
    """

    fields = Strings("name and type of each field", min_items=1)
    rows = Int("how many samples there are", default=1024, min=1, max=2**31 - 1)
    length = Int("rows of the longest sequence", default=20, min=1, max=2**20)
    filler = Choice(
        "what the real numbers are",
        options={"GAUSSIAN": "of mean 0 and variance 1", "UNIFORM": "even between 0 and 1", "ZERO": "zeros"},
        default="GAUSSIAN",
    )
    seed = Int("other seeds make other numbers", default=0, min=0)

    def open(self, base: Path) -> Dataset:
        """The fields, drawn one after the other."""
        rng = np.random.default_rng(self.seed)
        arrays: dict[str, Any] = {}
        for text in self.fields:
            name, type_ = _field(text)
            if name in arrays:
                raise DataError(f"made-up data: two fields are called `{name}`")
            longest = self.length if type_.level else 1
            if self.rows * longest * (1 if type_.kind == "INT" else type_.size) > MOST:
                raise DataError(
                    f"made-up data: `{text}` has too many numbers for {self.rows:,} rows; take fewer `rows`"
                )
            count = self.rows
            if type_.level:
                starts = np.concatenate([[0], np.cumsum(rng.integers(1, self.length + 1, self.rows))])
                arrays[f"{name}.starts"], count = starts, int(starts[-1])
            arrays[name] = self._rows(type_, count, rng)
        return Dataset(arrays, origin="the made-up data")

    def _rows(self, type_: Type, count: int, rng: np.random.Generator) -> NDArray[Any]:
        shape = (count, *type_.dims)
        if type_.kind == "INT":
            return rng.integers(0, type_.size, shape)
        if self.filler == "ZERO":
            return np.zeros(shape, np.float32)
        return rng.random(shape, np.float32) if self.filler == "UNIFORM" else rng.standard_normal(shape, np.float32)


def _field(text: str) -> tuple[str, Type]:
    """Name and type. Raises `DataError` for what is no field."""
    name, _, written = (part.strip() for part in text.partition(":"))
    try:
        type_ = Type.parse(written)
    except ValueError:
        type_ = None
    if not name or type_ is None:
        raise DataError(
            f"made-up data: {text!r} is no field; write its name and its type, as `image: 3x32x32`, `label: ids<10` or "
            "`words: sequence of ids<5000`"
        )
    if type_.kind not in ("DENSE", "INT") or type_.level > 1:
        raise DataError(f"made-up data: `{name}` is {type_}; there are dense rows, ids, and sequences of these")
    return name, type_
