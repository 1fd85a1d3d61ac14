"""Places and ids that layers compute, and the layers that take rows by them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

import paddle_layers as pl
from paddle_layers.runtime import FeedError, Sequences

from .target import Target, as_python, demand

COMPUTED = """
layer { name: "x" type: "data" data { shape: 1 seq_nested_level: 2 } }
layer { name: "selected" type: "data" data { shape: 2 } }
layer { name: "rows" type: "data" data { shape: 1 seq_nested_level: 1 } }
layer { name: "first" type: "data" data { shape: 2 } }
layer { name: "moved" type: "fc" input: "first" fc { size: 2 bias: false } }
layer {
  name: "chosen" type: "fc" input: "selected" fc { size: 2 bias: false } param { of: "weight" frozen: true }
}
layer { name: "part" type: "seq_avg_pool" input: "x" seq_avg_pool { level: SUBSEQUENCE } }
layer { name: "best" type: "kmax_seq_score" input: "part" kmax_seq_score { beam_size: 2 } }
layer { name: "top" type: "sub_nested_seq" input: "x" input: "best" }
layer { name: "taken" type: "sub_nested_seq" input: "x" input: "chosen" }
layer { name: "runs" type: "seq_slice" input: "rows" input: "moved" }
layer { name: "scores" type: "fc" input: "runs" fc { size: 3 } }
layer { name: "ids" type: "maxid" input: "scores" }
layer { name: "embedded" type: "embedding" input: "ids" embedding { size: 1 } }
layer { name: "sums" type: "seq_avg_pool" input: "embedded" seq_avg_pool { strategy: SUM } }
layer { name: "cost" type: "sum_cost" input: "sums" }
"""
KEPT = ("moved", "chosen", "best", "top", "taken", "runs", "ids", "embedded")
PLACES = (0, 0, 1, 1, 2, 3, -1, -1, -2, 0.5, 1e9, -1e9, 2.0**31, 2.0**63, 3e38, 1e-30)
WEIGHTS = (1, 1, 1, 1, 2, -1, 0.5, 0, 1e30, -1e38, 3e38)


class ComputedIds(Target):
    """Places and ids that layers compute: out of range, fractions, NaN and infinity."""

    name = "computed-ids"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        with as_python():
            self.net = pl.Net(pl.loads(COMPUTED), keep=KEPT)

    def make(self, rng: Random) -> bytes:
        """Sequences of a few rows, lists of places, and weights that they are multiplied by."""
        samples = rng.choice((1, 2, 3))
        nested = [[rng.choice((0, 1, 1, 2)) for _ in range(rng.choice((0, 1, 2, 3)))] for _ in range(samples)]
        weights = [[1, 0, 0, 1] if rng.random() < 0.6 else [rng.choice(WEIGHTS) for _ in range(4)] for _ in range(2)]
        recipe = {
            "x": nested,
            "scores": [rng.choice((0, 1, 2, 2, -1, 1e30)) for part in nested for rows in part for _ in range(rows)],
            "lengths": [rng.choice((0, 1, 2, 4)) for _ in range(samples)],
            "selected": [[rng.choice(PLACES[: rng.choice((6, 16))]) for _ in range(2)] for _ in range(samples)],
            "first": [[rng.choice(PLACES[: rng.choice((6, 16))]) for _ in range(2)] for _ in range(samples)],
            "chosen.weight": weights[0],
            "moved.weight": weights[1],
            "scores.weight": [rng.choice(WEIGHTS) for _ in range(3)],
        }
        return json.dumps(recipe).encode()

    def check(self, case: bytes) -> None:
        """Each place is one that its sequence has, or the batch is refused; the rows are those of a plain loop."""
        recipe = json.loads(case)
        parts = [rows for part in recipe["x"] for rows in part]
        x = Sequences(
            np.array(recipe["scores"], float).reshape(-1, 1), _cumulated(map(len, recipe["x"])), _cumulated(parts)
        )
        rows = Sequences(np.arange(1.0, sum(recipe["lengths"]) + 1)[:, None], _cumulated(recipe["lengths"]))
        for name in ("chosen.weight", "moved.weight", "scores.weight"):
            parameter = self.net.parameters[name]
            parameter.value = np.array(recipe[name], float).reshape(parameter.value.shape)
        feeds = {"x": x, "rows": rows, "selected": np.array(recipe["selected"]), "first": np.array(recipe["first"])}
        with np.errstate(all="ignore"):
            chosen, moved = (
                _product(recipe[name], recipe[f"{layer}.weight"])
                for name, layer in (("selected", "chosen"), ("first", "moved"))
            )
        wrong = _no_places(chosen, map(len, recipe["x"])) or _no_places(moved, recipe["lengths"])
        with as_python():
            try:
                self.net.forward(feeds)
                self.net.backward()
            except FeedError:
                demand(wrong, f"refused, where the places are {chosen.tolist()} and {moved.tolist()}")
                return
        demand(not wrong, f"takes the places {chosen.tolist()} and {moved.tolist()}")
        self._compare(x, rows, chosen, moved)

    def _compare(self, x: Any, rows: Any, chosen: NDArray[Any], moved: NDArray[Any]) -> None:
        values = {name: self.net.value(name) for name in KEPT}
        for name, places in (("taken", chosen), ("top", values["best"])):
            demand(np.array_equal(values[name].data, _parts_taken(x, places)), f"`{name}` takes other rows")
        demand(np.array_equal(values["runs"].data, _runs(rows, moved)), "`runs` takes other rows")
        ids = values["ids"].data
        demand(((ids >= 0) & (ids < 3)).all(), f"ids are {ids.tolist()}")
        table = self.net.parameters["embedded.table"].value
        demand(np.array_equal(values["embedded"].data, table[ids]), "`embedded` takes other rows")


def _cumulated(lengths: Any) -> NDArray[np.int64]:
    return np.cumsum([0, *lengths], dtype=np.int64)


def _product(values: Any, weight: Any) -> NDArray[Any]:
    """Rows times a matrix, summed in the order of the network and in its precision."""
    rows, columns = np.array(values, np.float32), np.array(weight, np.float32).reshape(2, 2)
    return rows[:, :1] * columns[:1] + rows[:, 1:] * columns[1:]


def _no_places(places: NDArray[Any], lengths: Any) -> bool:
    return any(
        not (value == math.floor(value) and -1 <= value < length) if math.isfinite(value) else True
        for row, length in zip(places.tolist(), lengths, strict=True)
        for value in row
    )


def _parts_taken(x: Any, places: NDArray[Any]) -> NDArray[Any]:
    found = [np.zeros((0, 1), np.float32)]
    for sample, row in enumerate(places.tolist()):
        for place in row:
            if place < 0:
                break
            part = int(x.starts[sample] + place)
            found.append(x.data[x.sub_starts[part] : x.sub_starts[part + 1]].astype(np.float32))
    return np.concatenate(found)


def _runs(rows: Any, places: NDArray[Any]) -> NDArray[Any]:
    found = [np.zeros((0, 1), np.float32)]
    for sample, row in enumerate(places.tolist()):
        for place in row:
            if place < 0:
                break
            found.append(rows.data[int(rows.starts[sample] + place) : rows.starts[sample + 1]].astype(np.float32))
    return np.concatenate(found)
