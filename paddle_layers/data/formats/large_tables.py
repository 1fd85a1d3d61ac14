"""Tables of text that are too large for memory: rows are parsed when they are wanted, as a small table is."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from ..columns import GapColumn, Rows, WordColumn
from ..dataset import Dataset
from ..problems import DataError
from ..stored import Records, read_together
from .indexed_lines import IndexedLines
from .table_columns import Settings, TableColumns
from .tables import Table


class LargeTable:
    """The rows of a table, found by where their lines begin."""

    def __init__(self, table: Table, settings: Settings, wanted: Container[str] | None) -> None:
        self._table, self._settings, self._wanted = table, settings, wanted
        self._lines = IndexedLines(table.path, quotes=True, empty=table.delimiter + '"')
        self._titles = int(table.titled)

    def dataset(self, columns: TableColumns, words: Mapping[str, Sequence[str]]) -> Dataset:
        """The fields as those of a small table, but read when they are wanted."""
        count = len(self._lines) - self._titles
        if count < 1:
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
            place=lambda row: self._lines.place(row + self._titles),
            words=words,
            remedies=columns.remedies(),
            columns=columns.names(),
        )

    def _fields(self, rows: Sequence[int]) -> dict[str, Any]:
        lines = (row + self._titles for row in rows)
        part = self._table.part((int(self._lines.numbers[line]), self._lines.text(line)) for line in lines)
        columns = TableColumns(part, self._settings, self._wanted)
        columns.read()
        return columns.fields()

    def _read(self, rows: Rows) -> Mapping[str, Any]:
        return {name: _plain(field) for name, field in read_together(rows, self._fields).items()}


def _plain(field: Any) -> Any:
    if isinstance(field, WordColumn):
        return field.cells
    return field.values if isinstance(field, GapColumn) else field
