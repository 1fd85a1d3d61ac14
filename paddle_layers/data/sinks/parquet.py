"""Parquet output: values as columns."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from .values import Values

_ROWS, _BYTES = 1 << 16, 1 << 24
"""Number of rows, or of bytes, from which waiting rows are written as a row group."""


class Parquet:
    """A row for each sample: a number, a list of the numbers of a row, a list of rows of a value in sequences."""

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet

        self._arrow: Any = pyarrow
        self._path = path
        self._writer: Any = None
        self._waiting: list[Any] = []
        self._row = 0

    def write(self, batch: Values) -> None:
        """Add the rows of a batch. Raises `DataError`."""
        arrow, count = self._arrow, batch.count_samples()
        fields = [arrow.field("row", arrow.int64())]
        columns = [arrow.array(batch.numbers(self._row, count), arrow.int64())]
        for name in batch.values:
            starts = batch.starts.get(name, ())
            if name in batch.classes:
                columns.append(self._grouped(arrow.array(list(batch.texts[name]), arrow.string()), starts))
                fields.append(arrow.field(f"{name}.class", columns[-1].type))
            columns.append(self._grouped(self._rows(batch.values[name]), starts))
            shape = "x".join(map(str, batch.values[name].shape[1:]))
            fields.append(arrow.field(name, columns[-1].type, metadata={"shape": shape}))
        self._row += count
        self._waiting.append(arrow.Table.from_arrays(columns, schema=arrow.schema(fields)))
        if sum(len(one) for one in self._waiting) >= _ROWS or sum(one.nbytes for one in self._waiting) >= _BYTES:
            self._flush()

    def _rows(self, values: Any) -> Any:
        """One value per row, or a list of values, last axis fastest."""
        arrow, width = self._arrow, math.prod(values.shape[1:])
        flat = arrow.array(values.reshape(-1))
        return flat if width == 1 else arrow.FixedSizeListArray.from_arrays(flat, width)

    def _grouped(self, items: Any, starts: Any) -> Any:
        for ends in reversed(starts):
            items = self._arrow.ListArray.from_arrays(self._arrow.array(ends, self._arrow.int32()), items)
        return items

    def _flush(self) -> None:
        if not self._waiting:
            return
        table = self._arrow.concat_tables(self._waiting)
        if self._writer is None:
            words = [field.name for field in table.schema if field.name.endswith(".class")]
            self._writer = self._arrow.parquet.ParquetWriter(self._path, table.schema, use_dictionary=words)
        self._writer.write_table(table)
        self._waiting = []

    def finish(self) -> None:
        """Write what is left."""
        self._flush()
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._writer is not None:
            self._writer.close()
