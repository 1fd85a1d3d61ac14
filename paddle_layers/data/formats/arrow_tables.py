"""Tables in memory (pandas, polars, Arrow), whose columns are read as those of a CSV file."""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import math
from collections.abc import Collection, Container, Iterable, Mapping, Sequence, Sized
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..columns import SequenceColumn
from ..problems import DataError, as_data_error, optional_module
from .arrow_columns import column_kind, column_values, decoded, is_list, is_string, value_type
from .table_cells import BadCell, TableCells


@runtime_checkable
class ArrowStream(Protocol):
    """A table with the Arrow PyCapsule interface, such as a DataFrame of pandas 2.2 or polars, or a pyarrow.Table."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule with an Arrow stream."""


class ColumnTable(Protocol):
    """A table whose columns are its items by name, such as a DataFrame of an older pandas."""

    columns: Iterable[Any]

    def __getitem__(self, column: Any, /) -> Any:
        """A column."""


def is_data_frame(data: object) -> bool:
    """Whether data are a table with named columns."""
    if isinstance(data, (Mapping, type)):
        return False
    # Statically, since the columns of a lazy table are computed with a warning.
    has_columns = inspect.getattr_static(data, "columns", None) is not None and hasattr(data, "__getitem__")
    return isinstance(data, ArrowStream) or hasattr(data, "__arrow_c_array__") or has_columns


class ArrowTable(TableCells):
    """The columns of a table in memory; dictionaries (categories) are read as their values.

    Args:
        data: The table; see `is_data_frame`.
        origin: Its name in messages.
        missing: Strings that are missing values, besides null.

    Raises:
        DataError: It is not a table, or has no rows.
    """

    empty = "missing value"

    def __init__(self, data: Any, origin: str, missing: Iterable[str] = ()) -> None:
        self._arrow = optional_module("pyarrow", "pyarrow", "arrow", f"{origin}: a DataFrame")
        self._table, self._problems = _arrow_table(self._arrow, data, origin)
        self.missing = frozenset(missing)
        self._count = int(self._table.num_rows)
        super().__init__(origin, self._table.column_names)
        if not self.count:
            raise DataError(f"{origin} has no rows")

    @property
    def count(self) -> int:
        """Number of rows."""
        return self._count

    def place(self, row: int) -> str:
        """Origin and number of a row."""
        return f"{self.origin}, row {row}"

    def column_text(self, column: int) -> str:
        """Name of a column."""
        return f"column `{self.names[column]}`"

    def is_words(self, column: int) -> bool:
        """Whether a column has strings, or categories that are strings."""
        return is_string(self._type(column))

    def is_lists(self, column: int) -> bool:
        """Whether a column has lists."""
        kind = self._type(column)
        return is_list(kind) or bool(self._arrow.types.is_fixed_size_list(kind))

    def lists(self, column: int) -> NDArray[Any] | SequenceColumn:
        """A column of lists, as in a Parquet file. Raises `DataError`."""
        kind = column_kind(self._arrow, self._table.schema.field(column), self.origin)
        values, missing = column_values(self._arrow, self._table.column(column), kind)
        if len(missing):
            raise DataError(f"{self.cell(missing[0], column)} has a missing value; fill it or remove the row")
        return values

    def without(self, names: Collection[str]) -> ArrowTable:
        """The table without some of its columns."""
        part = copy.copy(self)
        part._table = self._table.drop_columns(list(names))
        part.names = part._table.column_names
        return part

    def read(
        self, numbers: Sequence[int], words: Sequence[int] = (), *, gaps: Container[int] = (), skip: bool = False
    ) -> None:
        """Read columns of numbers and words, as `TableCells.read` describes."""
        self._numbers = list(dict.fromkeys(numbers))
        self.values = np.empty((self.count, len(self._numbers)))
        for place, column in enumerate(self._numbers):
            self.values[:, place] = self._read_numbers(column, gaps, skip=skip)
        self._check_finite(gaps, skip=skip)
        self.words = {column: self._read_words(column) for column in words}

    def _type(self, column: int) -> Any:
        if problem := self._problems.get(self.names[column]):
            raise DataError(
                f"{self.origin}: {self.column_text(column)} has values of several types, or of an unsupported one "
                f"({problem}); convert it to numbers, or to strings by `astype(str)`"
            )
        return value_type(self._table.schema.types[column])

    def _read_numbers(self, column: int, gaps: Container[int], *, skip: bool) -> NDArray[np.float64]:
        types, kind = self._arrow.types, self._type(column)
        is_time = column in self.dates and (types.is_timestamp(kind) or types.is_date(kind))
        if is_string(kind) or (column in self.dates and not is_time):  # such as 20260511
            return self._parsed(column, gaps, skip=skip)
        numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
        if not is_time and not any(check(kind) for check in numeric):
            remedy = _fix(kind, self.names[column])
            raise DataError(f"{self.origin}: {self.column_text(column)} has type {kind}, expected numbers{remedy}")
        stored = decoded(self._arrow, self._table.column(column))
        values = (
            _days(self._arrow, stored)
            if is_time
            else np.array(stored.cast(self._arrow.float64(), safe=False).to_numpy(), np.float64)
        )
        absent = np.flatnonzero(np.isnan(values)) if column not in gaps else ()
        for row in map(int, absent):
            self._refuse_cell(BadCell(f"{self.cell(row, column)}: {self.empty}", "", column, -1, "empty"), row, skip)
            values[row] = 0
        return values

    def _parsed(self, column: int, gaps: Container[int], *, skip: bool) -> NDArray[np.float64]:
        """Numbers or dates in a column of strings, or of what is written as such."""
        values = np.zeros(self.count)
        for row, cell in enumerate(self._read_words(column)):
            try:
                values[row] = self.number(cell, column, -1, self.cell(row, column), gaps)
            except BadCell as error:
                self._refuse_cell(error, row, skip)
        return values

    def _refuse_cell(self, error: BadCell, row: int, skip: bool) -> None:
        if not skip:
            raise error
        self.refuse(row, str(error), skip=True)

    def _read_words(self, column: int) -> list[str]:
        kind = self._type(column)
        types = self._arrow.types
        scalar = (types.is_integer, types.is_floating, types.is_boolean, types.is_date, types.is_null)
        is_time = column in self.times and types.is_timestamp(kind)
        if not is_time and not is_string(kind) and not any(check(kind) for check in scalar):
            raise DataError(
                f"{self.origin}: {self.column_text(column)} has type {kind}, expected words; convert it to strings"
            )
        stored = self._table.column(column)
        if types.is_floating(kind):  # 0.1 and not the float64 that is closest to the float32 0.1
            stored = decoded(self._arrow, stored).cast(self._arrow.string()).cast(self._arrow.float64())
        elif is_time:  # Python has no nanoseconds
            stored = decoded(self._arrow, stored).cast(self._arrow.timestamp("us", kind.tz), safe=False)
        cells = map(_text, stored.to_pylist())
        return ["" if cell in self.missing else cell for cell in cells]


def _text(value: object) -> str:
    """A value as the cell of a CSV file."""
    if isinstance(value, float):  # nullable integers of pandas, which a CSV file has as 3 and not as 3.0
        return "" if math.isnan(value) else str(int(value)) if value.is_integer() else repr(value)
    return "" if value is None else str(value).strip()


def _days(arrow: Any, stored: Any) -> NDArray[np.float64]:
    """The days from 1970-01-01 to dates and times, which are local if they have a time zone; NaN for null."""
    if getattr(stored.type, "tz", None):
        stored = importlib.import_module("pyarrow.compute").local_timestamp(stored)
    moments = stored.cast(arrow.timestamp("us"), safe=False).to_numpy()
    days = moments.astype("datetime64[us]").astype(np.int64) / 86400e6
    return np.where(np.isnat(moments), np.nan, days)


def _fix(kind: Any, column: str) -> str:
    name = str(kind)
    if name.startswith(("timestamp", "date")):
        return f'; in a source `csv`, write `dates: "{column} = year, month"` for its parts, or leave the column out'
    if "list" in name:
        return "; without a source `csv`, a column of lists is the field of a data layer of its name"
    return "; convert it to numbers, or leave the column out"


def _arrow_table(arrow: Any, data: Any, origin: str) -> tuple[Any, dict[str, str]]:
    """The table, and what is wrong with columns that cannot be converted; these are null."""
    if not _exports_arrow(data) and (hasattr(data, "collect") or hasattr(data, "compute")):
        raise DataError(f"{origin} is a lazy table; load it first, with `collect()` of polars or `compute()` of dask")
    has_columns = hasattr(data, "columns") and not hasattr(data, "column_names")
    if hasattr(data, "to_frame"):
        raise DataError(
            f"{origin} is a single column, not a table; pass a table, or a dict with the column by its field"
        )
    try:
        table, problems = (arrow.table(data), {}) if _exports_arrow(data) else _from_columns(arrow, data)
    except Exception as error:  # code of the user's library, with any errors; reported, or tried by columns
        if not has_columns:
            raise DataError(f"{origin} cannot be read as a table: {_reason(error)}") from error
        table, problems = _from_columns(arrow, data)
    with as_data_error(f"{origin} is not a valid table"):
        table.validate(full=True)
    index = [name for name in _pandas_index(table.schema) if name in table.column_names]
    return (table.drop_columns(index) if index else table), problems


def _exports_arrow(data: Any) -> bool:
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _from_columns(arrow: Any, data: ColumnTable) -> tuple[Any, dict[str, str]]:
    """As `_arrow_table`, column by column: pandas does not export a table with a column of mixed types."""
    names = [*data.columns]
    columns, problems = [], {}
    for place, name in enumerate(names):
        try:
            columns.append(arrow.chunked_array(_chunks(arrow.array(_column(data, name, place), from_pandas=True))))
        except Exception as error:  # the same for a column: an error only if a layer reads it, then with this reason
            problems[str(name)] = _reason(error)
            columns.append(None)
    rows = len(data) if isinstance(data, Sized) else 0  # where no column can be converted
    count = next((len(column) for column in columns if column is not None), rows)
    filled = [arrow.chunked_array([arrow.nulls(count)]) if column is None else column for column in columns]
    return arrow.table(filled, names=[str(name) for name in names]), problems


def _column(data: Any, name: Any, place: int) -> Any:
    """A column, by its position in pandas, where names may be duplicates."""
    return data.iloc[:, place] if hasattr(data, "iloc") else data[name]


def _chunks(column: Any) -> list[Any]:
    return column.chunks if hasattr(column, "chunks") else [column]


def _reason(error: Exception) -> str:
    return ": ".join(dict.fromkeys(str(part) for part in reversed(error.args)))[:200] or type(error).__name__


def _pandas_index(schema: Any) -> list[str]:
    """The columns that hold the index of a pandas DataFrame, which CSV files without an index lack."""
    try:
        facts = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        return [name for name in facts.get("index_columns", []) if isinstance(name, str)]
    except (ValueError, AttributeError, RecursionError):
        return []
