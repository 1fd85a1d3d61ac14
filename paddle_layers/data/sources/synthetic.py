"""Synthetic data, to try a network or to measure it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import Choice, Int, Strings, Type, source

from ..dataset import Dataset
from ..problems import DataError

MOST = 2**31
"""Maximum number of values of a field."""


@source(
    "synthetic",
    elsewhere={"Caffe": "DummyData"},
    terms=("synthetic", "random data", "dummy data"),
)
class Synthetic:
    """Synthetic random data of given types, the same in every run: to try or measure a network before there are data.

    A field is its name and its type, written as in `validate` and `show`: `"image: 3x32x32"`, `"label: ids<10"`,
    `"words: sequence of ids<5000"`. Ids are uniformly distributed. Sequences have 1 to `length` steps. Caffe generates
    new values for every batch; here there are `rows` samples, which repeat.
    """

    fields = Strings("name and type of each field", min_items=1)
    rows = Int("number of samples", default=1024, min=1, max=2**31 - 1)
    length = Int("maximum sequence length", default=20, min=1, max=2**20)
    filler = Choice(
        "distribution of the floating-point values",
        options={"GAUSSIAN": "standard normal", "UNIFORM": "uniform between 0 and 1", "ZERO": "zeros"},
        default="GAUSSIAN",
    )
    seed = Int("random seed", default=0, min=0)

    def open(self, base: Path) -> Dataset:
        """The fields, sampled one after the other."""
        rng = np.random.default_rng(self.seed)
        arrays: dict[str, Any] = {}
        for text in self.fields:
            name, type_ = _field(text)
            if name in arrays:
                raise DataError(f"synthetic data: duplicate field `{name}`")
            longest = self.length if type_.level else 1
            if self.rows * longest * (1 if type_.kind == "INT" else type_.size) > MOST:
                raise DataError(f"synthetic data: `{text}` is too large with {self.rows:,} rows; reduce `rows`")
            count = self.rows
            if type_.level:
                starts = np.concatenate([[0], np.cumsum(rng.integers(1, self.length + 1, self.rows))])
                arrays[f"{name}.starts"], count = starts, int(starts[-1])
            arrays[name] = self._rows(type_, count, rng)
        dataset = Dataset(arrays, origin="the synthetic data")
        dataset.shape_remedies = {
            name: f"write `{name}: {{type}}` in `fields` of the source" for name in dataset.fields
        }
        return dataset

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
            f"synthetic data: invalid field {text!r}; write its name and type, such as `image: 3x32x32`, "
            "`label: ids<10` or `words: sequence of ids<5000`"
        )
    if type_.kind not in ("DENSE", "INT") or type_.level > 1:
        raise DataError(
            f"synthetic data: type {type_} of `{name}` is not supported; supported are dense values, ids, and "
            "sequences of these"
        )
    return name, type_
