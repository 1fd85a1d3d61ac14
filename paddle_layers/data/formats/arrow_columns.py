"""Columns of Arrow tables as arrays, sequences or words, and the rows in which a value is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..columns import SequenceColumn
from ..problems import DataError

Array = NDArray[Any]

_FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}
"""Types whose names differ in NumPy."""


class ColumnKind(NamedTuple):
    """Shape and data type of a row of a column, or of an item if the rows are sequences (level 1)."""

    shape: tuple[int, ...]
    dtype: Any
    level: int


def column_kind(arrow: Any, field: Any, origin: str) -> ColumnKind:
    """The kind of a column of an Arrow schema; `object` for strings. Raises `DataError` for unsupported types."""
    types, kind, level = arrow.types, value_type(field.type), 0
    if is_string(kind):
        return ColumnKind((), object, 0)
    if is_list(kind):
        kind, level = kind.value_type, 1
    shape: tuple[int, ...] = ()
    if types.is_fixed_size_list(kind):
        shape, kind = (kind.list_size,), kind.value_type
    if types.is_decimal(kind):
        return ColumnKind(shape, np.dtype(np.float64), level)
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        raise DataError(
            f"{origin}: column `{field.name}` has unsupported type {str(field.type)[:80]}; supported are "
            f"numbers, strings, lists of numbers and lists of fixed-size lists; {_remedy(types, kind)}"
        )
    # `to_pandas_dtype` of older versions imports pandas.
    return ColumnKind(shape, np.dtype(_FLOATS.get(str(kind), str(kind))), level)


def _remedy(types: Any, kind: Any) -> str:
    if types.is_temporal(kind):
        return "convert dates and times to numbers, such as the days since the first one"
    if is_string(value_type(kind)):
        return "join the words of each list by spaces, for a string that is read as text"
    return "boxes are pyarrow.list_(pyarrow.list_(pyarrow.float32(), 4))"


def value_type(kind: Any) -> Any:
    """The type of the values of a column, which may be encoded by a dictionary."""
    return kind.value_type if type(kind).__name__ == "DictionaryType" else kind


def is_string(kind: Any) -> bool:
    """Whether values are strings; `string_view` is the type of columns of polars."""
    return str(kind) in ("string", "large_string", "string_view")


def is_list(kind: Any) -> bool:
    """Whether values are lists of varying length."""
    return str(kind).startswith(("list<", "large_list<"))


def decoded(arrow: Any, column: Any) -> Any:
    """The same column without a dictionary."""
    kind = value_type(column.type)
    if kind is column.type:
        return column
    if is_string(kind):  # there is no cast of dictionaries of string views
        return arrow.chunked_array([arrow.array(column.to_pylist(), arrow.large_string())])
    return column.cast(kind)


def column_values(arrow: Any, column: Any, kind: ColumnKind) -> tuple[Array | SequenceColumn, Sequence[int]]:
    """The values of a column, and its rows in which a value is missing; these have zeros or are empty."""
    shape, dtype, level = kind
    column = decoded(arrow, column)
    whole, starts = column, np.zeros(1, np.int64)
    if level or shape:
        column = column.combine_chunks()
    for depth in range(level + len(shape)):
        if column.null_count:
            return _with_gaps(whole, kind)
        if level and depth == 0:
            starts = np.cumsum([0, *column.value_lengths().to_numpy()])
        column = column.flatten()
    if column.null_count:
        return _with_gaps(whole, kind)
    values = np.asarray(column.to_numpy(zero_copy_only=False), dtype).reshape(-1, *shape)
    return SequenceColumn(values, starts) if level else values, ()


def _with_gaps(column: Any, kind: ColumnKind) -> tuple[Array | SequenceColumn, Sequence[int]]:
    shape, dtype, level = kind
    rows = column.to_pylist()
    missing = [number for number, row in enumerate(rows) if _has_gaps(row)]
    nothing: Any = [] if level else "" if dtype is object else np.zeros(shape, dtype)
    for number in missing:
        rows[number] = nothing
    if not level:
        return np.array(rows, dtype).reshape(-1, *shape), missing
    items = [item for row in rows for item in row]
    starts = np.cumsum([0, *map(len, rows)])
    return SequenceColumn(np.array(items, dtype).reshape(-1, *shape), starts), missing


def _has_gaps(value: Any) -> bool:
    return value is None or (isinstance(value, list) and any(map(_has_gaps, value)))
