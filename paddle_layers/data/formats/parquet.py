"""Columns of Parquet files, read by row group."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paddle_layers.define.concurrency import ForkSafeLock

from ..columns import Rows, SequenceColumn, WordColumn, gather, joined_starts, size_of
from ..dataset import Dataset
from ..lazy_columns import MOST_BLOCKS, BadRecords, RecordReader, RowBlocks
from ..problems import DataError, NoFieldsError, as_data_error, optional_module
from .arrow_columns import ColumnKind, column_kind, column_values
from .files import MOST_COMPRESSION, FileRows

MOST_KEPT = 2**28
"""Size limit in bytes of cached row groups; at least one is cached."""

LARGEST_GROUP = 2**30
"""Bytes of a row group, which is read as a whole."""


class ParquetFiles(FileRows):
    """The columns of Parquet files by name; every file has the same ones. Raises `DataError`.

    Columns of numbers are fields, lists of a fixed length too, other lists are sequences, and strings are words. Row
    groups are cached.
    """

    def __init__(self, paths: Sequence[Path], wanted: Container[str] | None) -> None:
        self._arrow = optional_module("pyarrow", "pyarrow", "arrow", "the source `parquet`")
        self._parquet = optional_module("pyarrow.parquet", "pyarrow", "arrow", "the source `parquet`")
        self._files = [self._opened(path) for path in paths]
        self._fields = [field for field in self._files[0].schema_arrow if wanted is None or field.name in wanted]
        if not self._fields:
            raise NoFieldsError(paths[0], "columns", self._files[0].schema_arrow.names)
        self._groups = [
            (file, group) for file in range(len(paths)) for group in range(self._files[file].num_row_groups)
        ]
        for path, file in zip(paths, self._files, strict=True):
            self._check(path, paths[0], file)
        counts = [self._files[file].metadata.row_group(group).num_rows for file, group in self._groups]
        self._begins: Rows = np.cumsum([0, *counts])
        """The first row of each row group."""
        of_file = [
            sum(count for (at, _), count in zip(self._groups, counts, strict=True) if at == file)
            for file in range(len(paths))
        ]
        super().__init__(paths, of_file)
        self._kept: OrderedDict[int, _RowGroup] = OrderedDict()
        self._reading = ForkSafeLock()

    def dataset(self) -> Dataset:
        """Every column as a field whose rows are read when they are wanted."""
        if not len(self):
            raise DataError(f"{self.origin} has no rows")
        records, fields = RecordReader(self._read), {}
        for field in self._fields:
            shape, dtype, level = self._kind(field)
            column = records.column(field.name, len(self), shape, dtype, level=level)
            fields[field.name] = WordColumn(column) if dtype is object else column
        together = max(1, min(MOST_BLOCKS, MOST_KEPT // max(1, self._largest()) - 1))
        dataset = Dataset(fields, origin=self.origin, place=self.place, blocks=RowBlocks(self._begins, together))
        dataset.unread = [name for name in self._files[0].schema_arrow.names if name not in fields]
        return dataset

    def _opened(self, path: Path) -> Any:
        with as_data_error(f"{path} is corrupt or not a Parquet file"):
            return self._parquet.ParquetFile(path)

    def _check(self, path: Path, first: Path, file: Any) -> None:
        """Check the metadata of a file before reading it."""
        names = [field.name for field in self._fields]
        schema = file.schema_arrow
        for field in self._fields:
            if schema.get_all_field_indices(field.name) != [schema.get_field_index(field.name)]:
                raise DataError(f"{path} must have exactly one column `{field.name}`")
            if schema.field(field.name).type != field.type:
                raise DataError(
                    f"{path}: column `{field.name}` has type {schema.field(field.name).type}, but "
                    f"{field.type} in {first}"
                )
        size = path.stat().st_size
        for group in range(file.num_row_groups):
            claim = file.metadata.row_group(group)
            most = MOST_COMPRESSION * size
            if not 0 <= claim.num_rows <= most or not 0 <= claim.total_byte_size <= most:
                raise DataError(f"{path} is corrupt: row group {group} declares {claim.num_rows} rows")
            if claim.total_byte_size > LARGEST_GROUP:
                raise DataError(
                    f"{path}: row group {group} has {claim.total_byte_size} bytes, the limit is "
                    f"{LARGEST_GROUP}; write smaller ones, with `row_group_size=10000` of "
                    f"{', '.join(names[:3])}"
                )

    def _kind(self, field: Any) -> ColumnKind:
        return column_kind(self._arrow, field, str(self.paths[0]))

    def _largest(self) -> int:
        sizes = (self._files[file].metadata.row_group(group).total_byte_size for file, group in self._groups)
        return int(max(sizes))

    def _read(self, rows: Rows) -> Mapping[str, Any]:
        """The columns of rows; a column with missing values in some of them is replaced by `BadRecords`."""
        groups = np.searchsorted(self._begins, rows, "right") - 1
        parts: list[tuple[Rows, _RowGroup, Rows]] = []
        problems: dict[int, str] = {}
        for group in np.unique(groups).tolist():
            at = np.flatnonzero(groups == group)
            try:
                values = self._values(group)
            except DataError as error:
                problems |= dict.fromkeys(rows[at].tolist(), str(error))
                continue
            parts.append((at, values, rows[at] - self._begins[group]))
        if problems:
            raise BadRecords(problems)
        return {
            field.name: self._missing(field, parts) or self._joined(field, parts, len(rows)) for field in self._fields
        }

    def _missing(self, field: Any, parts: Sequence[tuple[Rows, _RowGroup, Rows]]) -> BadRecords | None:
        """The rows that have no value in a column."""
        rows = [row for _, group, own in parts for row in own[np.isin(own, group.missing[field.name])] + group.first]
        what = f"column `{field.name}` has a missing value; fill it or remove the row"
        return BadRecords({int(row): f"{self.place(int(row))}: {what}" for row in rows}) if rows else None

    def _joined(self, field: Any, parts: Sequence[tuple[Rows, _RowGroup, Rows]], count: int) -> Any:
        """A column of a batch: places in it, and the rows of a group that come there."""
        shape, dtype, level = self._kind(field)
        if not level:
            column = np.empty((count, *shape), dtype)
            for at, values, rows in parts:
                column[at] = values.columns[field.name][rows]
            return column.tolist() if dtype is object else column
        data, starts = [np.empty((0, *shape), dtype)], [np.zeros(1, np.int64)]
        for _, values, rows in parts:
            items, cuts = gather(values.columns[field.name].starts, rows)
            data.append(values.columns[field.name].data[items])
            starts.append(cuts)
        order = np.argsort(np.concatenate([np.empty(0, np.int64), *(at for at, _, _ in parts)]))
        items, cuts = gather(joined_starts(starts), order)
        return SequenceColumn(np.concatenate(data)[items], cuts)

    def _values(self, group: int) -> _RowGroup:
        """The columns of a row group, kept for the next batch."""
        with self._reading.current:
            if group not in self._kept:
                self._kept[group] = self._decoded(group)
                while len(self._kept) > 1 and sum(size_of(kept.columns) for kept in self._kept.values()) > MOST_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(group)
            return self._kept[group]

    def _decoded(self, number: int) -> _RowGroup:
        file, group = self._groups[number]
        place = f"{self.paths[file]}, row group {group}"
        with as_data_error(f"cannot read {place}"):
            table = self._files[file].read_row_group(group, [field.name for field in self._fields], use_threads=False)
            table.validate(full=True)
            found = {
                field.name: column_values(self._arrow, table.column(field.name), self._kind(field))
                for field in self._fields
            }
            columns = {name: values for name, (values, _) in found.items()}
            if any(len(values) != self._files[file].metadata.row_group(group).num_rows for values in columns.values()):
                raise ValueError("the number of rows differs from the metadata")
            return _RowGroup(
                int(self._begins[number]), columns, {name: missing for name, (_, missing) in found.items()}
            )


class _RowGroup(NamedTuple):
    """The columns of a row group by name, and the rows of each, from its `first` one, in which a value is missing."""

    first: int
    columns: Mapping[str, Any]
    missing: Mapping[str, Sequence[int]]
