"""Validation of field values for a data layer; messages have field, row, value and fix."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from paddle_layers.config.wiring.data_layers import NONE_IGNORED, IgnoredLabels
from paddle_layers.define import Type

from ..columns import Column, SequenceColumn, sparse_part
from ..dataset import Dataset
from ..lazy_columns import StoredColumn
from ..problems import DataError

CHECKED_AT_ONCE = 2**28
"""Fields up to this size in bytes are searched for NaN and infinity before training; larger ones batch by batch."""

_CHUNK = 2**20

_PARTS = "as arrays of an npz file or from Python"
"""Where parts of sequences and sparse rows can be stored, whatever the current source."""

Array = NDArray[Any]


def check_kind(dataset: Dataset, name: str, column: Column, layer: str, wanted: Type) -> None:
    """`DataError` unless the field is stored as its data layer needs it: ids or numbers, rows, sequences, sparse."""
    where = f"{dataset.origin}: field `{name}`"
    target = f"the data layer `{layer}` expects {wanted}"
    if wanted.kind == "DENSE" and name in dataset.word_fields:
        raise words_for_numbers(where, dataset.words.get(name, ()), layer, wanted)
    sparse = sparse_part(column)
    if wanted.kind.startswith("SPARSE") != (sparse is not None):
        if sparse is None:
            starts = "starts" if wanted.level == 0 else "row_starts"
            raise DataError(f"{where} is dense, but {target}; store `{name}.ids` and `{name}.{starts}`, {_PARTS}")
        raise DataError(f"{where} is sparse, but {target}")
    level = 0 if isinstance(column, np.ndarray) else column.level
    if level != wanted.level:
        found = ("single samples", "sequences", "nested sequences")[level]
        remedy = "set `seq_nested_level` in the data layer"
        if level < wanted.level:
            more = "starts" if level == 0 else "sub_starts"
            remedy = f"store `{name}.{more}` in addition to `{name}`, {_PARTS}"
            if wanted.level == 1 and sparse is None:
                axes = ", ".join(["samples", "steps", *map(str, wanted.dims)])
                remedy += f", or for sequences of one length an array of shape ({axes})"
            if sparse is not None and level == 0:
                starts = f"`{name}.row_starts` (start of each row) and `{name}.starts` (start of each sequence)"
                remedy = f"store {starts}, {_PARTS}"
        raise DataError(f"{where} contains {found}, but {target}; {remedy}")
    one_each = wanted.kind == "INT" and not wanted.dims
    if one_each and isinstance(column, np.ndarray) and column.ndim == 2 and _marked(column):
        raise DataError(
            f"{where} is one-hot encoded, but {target}; store class ids instead, in NumPy {name}.argmax(axis=1)"
        )
    values = None if sparse is None else sparse.values
    if wanted.kind == "SPARSE" and values is None:
        raise DataError(f"{where} has no values, but {target}; store `{name}.values`")
    if wanted.kind == "SPARSE_INT" and values is not None:
        raise DataError(
            f"{where} has values, but {target}; remove `{name}.values`, or set `data_type: SPARSE` in the data layer"
        )
    if sparse is not None and sparse.columns not in (None, wanted.size):
        raise DataError(f"{where} is a matrix with {sparse.columns} columns, but {target}")
    words, is_target = dataset.words.get(name, ()), name in dataset.targets
    check_size(words, name, layer, wanted, dataset.origin, target=is_target)


def check_size(words: Sequence[str], name: str, layer: str, wanted: Type, origin: str, *, target: bool) -> None:
    """`DataError` for more names of ids than the data layer takes ids."""
    if wanted.kind in ("INT", "SPARSE", "SPARSE_INT") and wanted.size < len(words):
        unknown = "" if target else f", or `size: {len(words) + 1}` with an id for all other words"
        raise DataError(
            f"{origin}: field `{name}` has {len(words)} words, but the data layer `{layer}` expects "
            f"{wanted}; set `size: {len(words)}` in the data layer{unknown}"
        )


def words_for_numbers(where: str, words: Sequence[str], layer: str, wanted: Type) -> DataError:
    """The error for words, whose ids say nothing but which is which, where a data layer takes quantities."""
    shown = f" such as {words[0]!r}" if words else ""
    size = f" size: {len(words)}" if words else ""
    return DataError(
        f"{where} contains words{shown}, but the data layer `{layer}` expects {wanted}; set `data_type: "
        f"INT{size}` in the data layer, or store numbers instead of words"
    )


def _marked(column: Array) -> bool:
    """Whether every row is one-hot."""
    first = column[:_CHUNK]
    return column.shape[1] > 1 and bool(((first == 0) | (first == 1)).all() and (first.sum(axis=1) == 1).all())


def check_values(
    dataset: Dataset,
    name: str,
    column: Column,
    layer: str,
    wanted: Type,
    dtype: DTypeLike,
    ignored: IgnoredLabels = NONE_IGNORED,
) -> bool:
    """Raise `DataError` for an id out of range, NaN or infinity.

    A number that `dtype`, the precision of the network, cannot hold is an infinity there.

    Ids in `ignored` are legal too: labels that the losses leave out.

    Returns:
        False for data that cannot be searched now: a field that is too large, or loaded lazily.
    """
    if isinstance(column, StoredColumn):
        return wanted.kind != "INT" and column.dtype.kind != "f"
    ids = _ids(column, wanted)
    if ids is not None:
        step = max(1, _CHUNK // max(1, math.prod(ids.shape[1:])))
        for begin in range(0, len(ids), step):
            row_of = partial(_row_behind, column, begin)
            check_ids(dataset, name, ids[begin : begin + step], row_of, layer, wanted, ignored)
    values = _reals(column, wanted)
    if values is None or values.dtype.kind != "f":
        return True
    if values.nbytes > CHECKED_AT_ONCE:
        return False
    step = max(1, _CHUNK // max(1, int(np.prod(values.shape[1:]))))
    for begin in range(0, len(values), step):
        with np.errstate(over="ignore"):
            bad = first_non_finite(values[begin : begin + step].astype(dtype, copy=False))
        if bad is not None:
            raise non_finite(dataset, name, _row(column, begin + bad[0]), values[begin + bad[0]][bad[1:]])
    return True


def first_non_finite(values: Array) -> tuple[int, ...] | None:
    """Position of the first NaN or infinity, or None."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # one pass without a temporary; a false alarm is cleared below
            return None
    bad = np.argwhere(~np.isfinite(values))
    return tuple(map(int, bad[0])) if len(bad) else None


class BadValue(DataError):
    """A value that is missing or no number of its kind; its `row` could be left out."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


def non_finite(dataset: Dataset, name: str, row: int, value: Any) -> BadValue:
    """The error for a NaN or an infinity, or for a number that is one in the precision of the network."""
    large = ", which overflows in the precision of the network" if np.isfinite(value) else ""
    return BadValue(
        row,
        f"{dataset.place(row)}: field `{name}` is {float(value)}{large}; replace the value or remove the row, "
        "or the loss becomes NaN",
    )


def _ids(column: Column, wanted: Type) -> Array | None:
    if sparse := sparse_part(column):
        return sparse.ids
    if wanted.kind != "INT":
        return None
    return np.asarray(column.data if isinstance(column, SequenceColumn) else column)


def _reals(column: Column, wanted: Type) -> Array | None:
    if sparse := sparse_part(column):
        return sparse.values
    if wanted.kind == "INT":
        return None
    return np.asarray(column.data if isinstance(column, SequenceColumn) else column)


def check_ids(
    dataset: Dataset,
    name: str,
    ids: Array,
    row_of: Callable[[int], int],
    layer: str,
    wanted: Type,
    ignored: IgnoredLabels,
) -> None:
    """`DataError` for the first id that is neither in the range of the data layer nor `ignored`.

    Ids that are stored as floats have to be integers. `row_of` gives the row of ids by their position along the first
    axis.
    """
    if ids.dtype.kind == "f":
        _check_integers(dataset, name, ids, row_of, layer, wanted)
    if not ids.size or (ids.min() >= 0 and ids.max() < wanted.size):
        return
    bad = np.argwhere(((ids < 0) | (ids >= wanted.size)) & ~np.isin(ids, list(ignored.legal)))
    if not len(bad):
        return
    first = tuple(map(int, bad[0]))
    value = int(ids[first])
    place = dataset.place(row_of(first[0]))
    words = dataset.words.get(name)
    if name in dataset.unknown or (name in dataset.word_fields and words is not None and value == len(words)):
        row, word = dataset.unknown.get(name, (row_of(first[0]), None))
        raise _unknown_word(dataset, name, row, word, layer, wanted)
    largest = int(ids.max())
    also = f", since the largest id is {largest}" if largest > value else ""
    size = f", or set `size: {largest + 1}` in the data layer{also}" if value >= 0 else ""
    remedy = f"number ids from 0{size}"
    remedy = ignored.remedy(value) or remedy
    at = f" at {', '.join(map(str, first[1:]))}" if len(first) > 1 else ""
    raise DataError(
        f"{place}: field `{name}` is {value}{at}, but the data layer `{layer}` expects 0 to {wanted.size - 1}; {remedy}"
    )


def _unknown_word(dataset: Dataset, name: str, row: int, word: str | None, layer: str, wanted: Type) -> DataError:
    """The error for a word that the training data lack. A feature may have an id for such words; a class may not.

    A network never gives the class of all other words: it would be wrong in every row that has one.
    """
    what = f"{word!r}" if word is not None else "the word"
    remedy = (
        "an unseen class cannot be predicted: add it to the training data, or remove such rows"
        if name in dataset.targets
        else f"set `size: {wanted.size + 1}` in the data layer `{layer}` for an out-of-vocabulary id, and train again"
    )
    return DataError(
        f"{dataset.place(row)}: unknown word {what} of field `{name}`, not one of the "
        f"{len(dataset.words[name])} words of the training data; {remedy}"
    )


def _check_integers(
    dataset: Dataset, name: str, ids: Array, row_of: Callable[[int], int], layer: str, wanted: Type
) -> None:
    """`DataError` for the first float that is no integer, or too large for its precision to tell it from the next."""
    exact = 2.0 ** (np.finfo(ids.dtype).nmant + 1)
    bad = np.argwhere(~((ids == np.floor(ids)) & (np.abs(ids) <= exact)))
    if len(bad):
        first = tuple(map(int, bad[0]))
        value = float(ids[first])
        large = f"; {ids.dtype} represents integers exactly only up to {exact:.0f}" if abs(value) > exact else ""
        row = row_of(first[0])
        raise BadValue(
            row,
            f"{dataset.place(row)}: field `{name}` is {value}, but the data layer `{layer}` expects integers "
            f"({wanted}){large}; replace the value or remove the row; for floats, remove `data_type: "
            "INT` of the data layer",
        )


def _row_behind(column: Column, begin: int, item: int) -> int:
    return _row(column, begin + item)


def _row(column: Column, item: int) -> int:
    return item if isinstance(column, (np.ndarray, StoredColumn)) else column.row_of_item(item)
