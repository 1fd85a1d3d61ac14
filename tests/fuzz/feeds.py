"""What is fed from Python: arrays, sequences and sparse rows."""

from __future__ import annotations

import itertools
import json
import math
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

import paddle_layers as pl
from paddle_layers.runtime import Csr, FeedError, Sequences

from .mutators import several
from .target import Target, as_python, demand

Recipe = dict[str, Any]
"""What is fed, in JSON: an array is its `values`, `dtype` and `layout`; a list of starts or rows holds such."""

NET = """
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "words" type: "data" data { data_type: INT size: 10 seq_nested_level: 1 } }
layer { name: "parts" type: "data" data { shape: 2 seq_nested_level: 2 } }
layer { name: "tags" type: "data" data { data_type: SPARSE_INT size: 6 } }
layer { name: "counts" type: "data" data { data_type: SPARSE size: 6 seq_nested_level: 1 } }
layer { name: "embedded" type: "embedding" input: "words" embedding { size: 2 } }
layer { name: "part" type: "seq_avg_pool" input: "parts" seq_avg_pool { level: SUBSEQUENCE } }
layer { name: "dense" type: "fc" input: "x" input: "tags" fc { size: 3 } }
layer { name: "rows" type: "fc" input: "counts" fc { size: 2 } }
layer { name: "cost" type: "softmax_with_loss" input: "dense" input: "label" }
layer { name: "sum_of_words" type: "sum_cost" input: "embedded" }
layer { name: "sum_of_counts" type: "sum_cost" input: "rows" }
"""
IDS = {"label": 3, "words": 10, "tags": 6, "counts": 6}
LAYOUTS = (
    "plain",
    "plain",
    "strided",
    "reversed",
    "fortran",
    "readonly",
    "swapped",
    "unaligned",
    "masked",
    "list",
    "tuple",
)
KINDS = ("<f4", "<f8", "<f2", "<i8", "<i4", "|i1", "|u1", "<u8", "|b1", "<c8", "<U3", "|S2", "|O", "<M8[s]", "<m8[s]")
NUMBERS = (
    0,
    1,
    2,
    3,
    5,
    9,
    10,
    11,
    -1,
    -2,
    127,
    255,
    2**31 - 1,
    2**31,
    2**53,
    2**63 - 1,
    -(2**63),
    0.5,
    1e30,
    1e39,
    1e300,
)
WORDS = (
    math.nan,
    math.inf,
    -math.inf,
    None,
    "x",
    "",
    [],
    [1],
    True,
    {"values": [1], "dtype": "<i8", "layout": "plain"},
)


def array(values: Any, dtype: str) -> Recipe:
    """An array as it is."""
    return {"values": values, "dtype": dtype, "layout": "plain"}


def sound() -> Recipe:
    """A batch of three samples."""
    return {
        "x": array([[1, 2, 3], [0.5, 0, -1], [2, 2, 2]], "<f4"),
        "label": array([0, 2, 1], "<i8"),
        "words": {"data": array([3, 9, 0, 1, 4], "<i8"), "starts": array([0, 2, 2, 5], "<i8")},
        "parts": {
            "data": array([[1, 2], [3, 4], [5, 6], [7, 8]], "<f4"),
            "starts": array([0, 1, 3, 4], "<i8"),
            "sub_starts": array([0, 1, 1, 3, 4], "<i8"),
        },
        "tags": {"start": array([0, 2, 2, 3], "<i8"), "id": array([0, 5, 3], "<i8")},
        "counts": {
            "data": {
                "start": array([0, 1, 3, 3], "<i8"),
                "id": array([2, 0, 5], "<i8"),
                "value": array([1, 0.5, 2], "<f4"),
            },
            "starts": array([0, 1, 1, 3], "<i8"),
        },
    }


class Feeds(Target):
    """Arrays, sequences and sparse rows of any type, layout and content."""

    name = "feeds"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        with as_python():
            self.net = pl.Net(pl.loads(NET))
            self.wanted = self.forward(sound(), True)

    def make(self, rng: Random) -> bytes:
        """Other numbers, types and layouts somewhere in the batch."""
        recipe = sound()
        for _ in range(several(rng)):
            _change(recipe, rng)
        return json.dumps(recipe).encode()

    def check(self, case: bytes) -> None:
        """What is odd in its layout alone gives the result of a plain copy; what is wrong is refused, both ways."""
        recipe = json.loads(case)
        odd, plain = self.forward(recipe, False), self.forward(recipe, True)
        demand(_same(odd, plain), f"{odd} where a plain copy gives {plain}")
        if wrong := unlawful(recipe):
            demand(isinstance(odd, str), f"takes {wrong}")
        if zlib.crc32(case) % 8 == 0:
            demand(_same(self.forward(sound(), True), self.wanted), "the next batch gives another result")

    def forward(self, recipe: Recipe, plain: bool) -> Any:
        """The outputs, or what the error says."""
        try:
            feeds = {name: built(value, plain) for name, value in recipe.items()}
        except NotBuilt as error:
            return str(error)
        with as_python():
            try:
                outputs = self.net.forward(feeds, step=1)
            except FeedError:
                return "refused"
        return [value.data if isinstance(value, Sequences) else value for value in outputs.values()]


def _change(recipe: Recipe, rng: Random) -> None:
    """Another number, type, layout or length of an array; or something else in place of a part."""
    places = list(_places(recipe))
    if not places:
        return
    owner, name = rng.choice(places)
    found, way = owner[name], rng.randrange(12)
    if "values" not in found and way > 4:
        found["form"] = rng.choice(("lists", "ones" if name == "tags" else "matrix"))
    elif way == 0:
        owner[name] = rng.choice((*WORDS, *(other[key] for other, key in _places(sound()))))
    elif way == 1:
        del owner[name]
    elif "values" in found:
        _change_array(found, way, rng)


def _change_array(found: Recipe, way: int, rng: Random) -> None:
    values = found["values"]
    if way < 5:
        found["layout"] = rng.choice(LAYOUTS)
    elif way < 7:
        found["dtype"] = rng.choice(KINDS)
    elif way == 7 or not isinstance(values, list):
        more = (values * 2, values[:-1]) if isinstance(values, list) else ()
        found["values"] = rng.choice(([], [values], 3, [[]], *more))
    else:
        while values and isinstance(values[0], list):
            values = rng.choice(values)
        if values and isinstance(values, list):
            values[rng.randrange(len(values))] = rng.choice((*NUMBERS, *NUMBERS, *WORDS[:6]))


def _places(recipe: Recipe) -> Iterator[tuple[Recipe, str]]:
    """Every array and every record of arrays, with what holds it."""
    for name, value in recipe.items():
        if isinstance(value, dict):
            yield recipe, name
            if "values" not in value:
                yield from _places(value)


class NotBuilt(Exception):
    """NumPy itself does not make such an array."""


def built(recipe: Any, plain: bool) -> Any:
    """What a recipe describes; `plain`: with arrays as NumPy makes them."""
    if not isinstance(recipe, dict):
        return recipe
    if "values" in recipe:
        return _array(recipe, plain)
    parts = {name: built(value, plain) for name, value in recipe.items()}
    if "id" in parts or "start" in parts:
        made: Any = Csr(parts.get("start"), parts.get("id"), parts.get("value"))
    else:
        made = Sequences(parts.get("data"), parts.get("starts"), parts.get("sub_starts"))
    return made if plain else _FORMS.get(recipe.get("form"), lambda made: made)(made)


def _lists(made: Any) -> Any:
    """The rows of each sequence, or the columns of each sparse row, in lists, where all of it is in order."""
    if isinstance(made, Sequences) and not isinstance(made.data, Csr) and _numbers(made.data, made.starts):
        if made.sub_starts is None:
            return _cut(made.data, made.starts)
        parts = _cut(made.data, made.sub_starts) if _numbers(made.data, made.sub_starts) else None
        return made if parts is None else _cut(parts, made.starts)
    if isinstance(made, Csr) and made.value is None and _numbers(made.id, made.start):
        rows = _cut(made.id, made.start)
        return made if rows is made.id else [row.tolist() for row in rows]
    return made


def _matrix(made: Any) -> Any:
    """Sparse rows as a SciPy matrix, which checks little of it."""
    parts = (made.id, made.start, made.value) if isinstance(made, Csr) else ("",)
    if not _numbers(*parts) or made.id.dtype.kind not in "iu" or made.start.dtype.kind not in "iu":
        return made
    matrix = csr_matrix((3, 6))
    matrix.indptr, matrix.indices, matrix.data = made.start, made.id, made.value
    return matrix


def _ones(made: Any) -> Any:
    """The same, of sparse rows without values."""
    if not isinstance(made, Csr) or made.value is not None or not _numbers(made.id) or made.id.ndim != 1:
        return made
    return _matrix(Csr(made.start, made.id, np.ones(len(made.id))))


_FORMS: dict[Any, Callable[[Any], Any]] = {"lists": _lists, "matrix": _matrix, "ones": _ones}


def _numbers(*arrays: Any) -> bool:
    return all(isinstance(array, np.ndarray) and array.ndim and array.dtype.kind in "iufb" for array in arrays)


def _cut(rows: Any, starts: Any) -> Any:
    """The rows between the starts; all rows in one piece, where the starts are none."""
    if starts.ndim != 1 or starts.dtype.kind not in "iu" or starts.tolist() != sorted(starts.tolist()):
        return rows
    if not len(starts) or starts[0] != 0 or starts[-1] != len(rows):
        return rows
    return [rows[first:last] for first, last in itertools.pairwise(starts.tolist())]


def _array(recipe: Recipe, plain: bool) -> Any:
    values, layout = recipe["values"], recipe.get("layout", "plain")
    try:
        with np.errstate(all="ignore"):
            made = np.array(values)
            made = made.astype(np.dtype(recipe["dtype"]))
    except (ValueError, TypeError, OverflowError, Warning) as error:
        raise NotBuilt(str(error)) from None
    if plain or made.ndim == 0 or layout not in _LAID_OUT:
        return made
    if layout in ("list", "tuple") and made.dtype.kind not in "iufb":
        return made  # a list says another thing of such values than an array
    return _LAID_OUT[layout](made)


def _strided(made: Any) -> Any:
    wide = np.zeros((*made.shape[:-1], 2 * made.shape[-1]), made.dtype)
    wide[..., ::2] = made
    return wide[..., ::2]


def _readonly(made: Any) -> Any:
    made.flags.writeable = False
    return made


def _unaligned(made: Any) -> Any:
    if made.dtype.hasobject:
        return made
    return (
        np.frombuffer(b"\0" + made.tobytes(), np.uint8, offset=1).view(made.dtype).reshape(made.shape)
        if made.size
        else made
    )


_LAID_OUT: dict[str, Callable[[Any], Any]] = {
    "strided": _strided,
    "reversed": lambda made: made[::-1].copy()[::-1],
    "fortran": np.asfortranarray,
    "readonly": _readonly,
    "swapped": lambda made: made.astype(made.dtype.newbyteorder()),
    "unaligned": _unaligned,
    "masked": lambda made: np.ma.masked_array(made, np.zeros(made.shape, bool)),
    "list": lambda made: made.tolist(),
    "tuple": lambda made: tuple(made.tolist()),
}


def unlawful(recipe: Recipe) -> str:
    """Something that no feed may have, or nothing."""
    for name in sound():
        if name not in recipe:
            return f"no `{name}`"
    for name, size in IDS.items():
        rows = recipe[name]
        rows = rows.get("data", rows) if isinstance(rows, dict) else rows
        ids = rows.get("id", rows) if isinstance(rows, dict) else rows
        for value in _flat(ids):
            if isinstance(value, (int, float)) and not 0 <= value < size and _kept(ids):
                return f"the id {value} of `{name}`"
    for owner, key in _places(recipe):
        if key in ("starts", "start", "sub_starts") and _kept(owner[key]):
            starts = _flat(owner[key])
            if not starts or starts[0] != 0 or starts != sorted(starts):
                return f"the starts {starts}"
    values = _flat(recipe["x"])
    if _kept(recipe["x"]) and not all(isinstance(value, (int, float)) and math.isfinite(value) for value in values):
        return f"the values {values}"
    return ""


def _kept(ids: Any) -> bool:
    """Whether the numbers of a recipe are those of its array: its type can hold them."""
    kinds = {"<i8": (int,), "<f8": (int, float)}.get(ids.get("dtype"), ()) if isinstance(ids, dict) else ()
    return bool(kinds) and all(type(value) in kinds and abs(value) < 2**53 for value in _flat(ids))


def _flat(recipe: Any) -> list[Any]:
    values = recipe.get("values", []) if isinstance(recipe, dict) else []
    waiting, found = [values], []
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += reversed(value)
        else:
            found.append(value)
    return found


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str)
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
