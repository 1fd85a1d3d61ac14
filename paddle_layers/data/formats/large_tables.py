"""Lazy tables: rows of CSV files that are too large for memory are parsed on demand."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from ..columns import GapColumn, Rows, WordColumn
from ..dataset import Dataset
from ..lazy_columns import Records, read_together
from ..problems import DataError
from .indexed_lines import IndexedLines
from .table_columns import Settings, TableColumns
from .tables import Table


class LargeTable:
    """The rows of a table, found by where their lines begin."""

    def __init__(
        self, table: Table, settings: Settings, wanted: Container[str] | None, targets: Container[str] = ()
    ) -> None:
        self._table, self._settings, self._wanted, self._targets = table, settings, wanted, targets
        self._lines = IndexedLines(table.file, table.data_records())

    def dataset(self, columns: TableColumns, words: Mapping[str, Sequence[str]]) -> Dataset:
        """The fields as those of a small table, but read when they are wanted."""
        count = len(self._lines)
        if not count:
            raise DataError(f"{self._table.path} has no rows")
        records = Records(self._read)
        fields: dict[str, Any] = {}
        for name, field in self._fields([]).items():
            if isinstance(field, WordColumn):
                fields[name] = WordColumn(records.column(name, count, (), object), text=field.text)
            elif isinstance(field, GapColumn):
                stored = records.column(name, count, (len(field.names),), np.float64)
                fields[name] = GapColumn(stored, field.names, mark=field.mark)
            else:
                fields[name] = records.column(name, count, field.shape[1:], field.dtype)
        return Dataset(
            fields,
            origin=str(self._table.path),
            place=self._lines.place,
            words=words,
            remedies=columns.remedies(),
            columns=columns.names(),
            note=columns.note(),
        )

    def _fields(self, rows: Sequence[int]) -> dict[str, Any]:
        part = self._table.part([(int(self._lines.numbers[row]), self._lines.text(row)) for row in rows])
        columns = TableColumns(part, self._settings, self._wanted, self._targets)
        columns.read()
        return columns.fields()

    def _read(self, rows: Rows) -> Mapping[str, Any]:
        return {name: _plain(field) for name, field in read_together(rows, self._fields).items()}


def _plain(field: Any) -> Any:
    if isinstance(field, WordColumn):
        return field.cells
    return field.values if isinstance(field, GapColumn) else field
