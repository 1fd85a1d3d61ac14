"""Output formats: CSV, JSON lines, npz, HDF5, Parquet."""

from __future__ import annotations

import csv
import json
import math
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, TextIO

import numpy as np

from paddle_layers.data.problems import DataError

from .values import Array, Values, check_equal, grouped

_BUFFER, _CHUNK = 1 << 20, 1 << 16
"""Bytes copied at once, and the chunk size of HDF5."""

_ROWS, _BYTES = 1 << 16, 1 << 24
"""Number of rows, or of bytes, from which waiting rows are written as a row group."""


class CsvSink:
    """A csv table: the row, its file if it is one, ids and the class, then the numbers of every value, by class."""

    def __init__(self, stream: TextIO) -> None:
        self._writer, self._row = csv.writer(stream, lineterminator="\n"), 0

    def write(self, batch: Values) -> None:
        """A line for each row, for ids in sequences one for each sequence. Raises `DataError`."""
        counts = {name: len(batch.texts.get(name, values)) for name, values in batch.values.items()}
        check_equal(counts, "rows per batch, which a table cannot represent", ".jsonl, with one line per sample")
        count = next(iter(counts.values()))
        names: list[str] = ["row"]
        columns: list[Any] = []
        if batch.files:
            names.append(batch.title)
            columns.append([[file] for file in batch.files_of(count)])
        for name, values in batch.values.items():
            if name in batch.texts:
                names.append(f"{name}.class" if name in batch.classes else name)
                columns.append([[text] for text in batch.texts[name]])
            if values.dtype.kind == "i":
                continue
            flat = values.reshape(len(values), math.prod(values.shape[1:]))
            parts = _parts(batch, name, flat.shape[1])
            names += [f"{name}.{part}" for part in parts] if flat.shape[1] > 1 else [name]
            columns.append([[f"{value:.6g}" for value in row] for row in flat.tolist()])
        if not self._row:
            self._writer.writerow(names)
        numbers = batch.numbers(self._row, count)
        for number, *cells in zip(numbers.tolist(), *columns, strict=True):
            self._writer.writerow([number, *(cell for part in cells for cell in part)])
        self._row += min(map(batch.samples, batch.values))


def _parts(batch: Values, name: str, count: int) -> list[str]:
    """Names of the columns of a value: their classes, or numbers if the table would have duplicate heads."""
    numbers = list(map(str, range(count)))
    named = batch.names.get(name, numbers)
    return named if len({"class", *named}) > count else numbers


class JsonLinesSink:
    """A JSON object for each sample; of a value in sequences a list of rows, NaN and infinities as null."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._row = stream, 0

    def write(self, batch: Values) -> None:
        """A line for each sample. Raises `DataError`."""
        count = batch.count_samples()
        samples = {name: _samples(batch, name) for name in batch.values}
        classes = {name: grouped(_classes(batch, name), batch.starts.get(name, ())) for name in batch.classes}
        files = batch.files_of(count) if batch.files else []
        for at, number in enumerate(batch.numbers(self._row, count).tolist()):
            line: dict[str, Any] = {"row": number, batch.title: files[at]} if files else {"row": number}
            for name, rows in samples.items():
                if name in classes:
                    line[f"{name}.class"] = classes[name][at]
                line[name] = rows[at]
            self._stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._row += count


def _classes(batch: Values, name: str) -> list[Any]:
    """The word of each row's class, or where each pixel has one their numbers."""
    classes = batch.classes[name]
    return batch.texts[name] if classes.ndim == 1 else classes.tolist()


def _samples(batch: Values, name: str) -> list[Any]:
    """A value of each sample, as JSON has it."""
    values, starts, texts = batch.values[name], batch.starts.get(name, ()), list(batch.texts.get(name, ()))
    if values.dtype.kind == "i" and values.ndim > 1:
        return grouped(values.tolist(), starts)
    if name in batch.texts and name not in batch.classes:
        parts: list[Any] = [text.split(" ") if text else [] for text in texts] if starts else texts
        return parts if len(starts) < 2 else grouped(parts, starts[:1])
    return grouped(_numbers(values.reshape(len(values), math.prod(values.shape[1:]))), starts)


def _numbers(flat: Array) -> list[Any]:
    """The rows, as the shortest numbers that read back exactly in the precision of the network."""
    rows: list[Any] = [list(map(float, row)) for row in flat.astype(str).tolist()]
    for row, column in np.argwhere(~np.isfinite(flat)).tolist():
        rows[row][column] = None
    return [row[0] for row in rows] if flat.shape[1] == 1 else rows


def arrays_of(batch: Values, rows: dict[str, int]) -> Iterator[tuple[str, Array]]:
    """The arrays that a batch extends: a value, `NAME.class`, `NAME.starts` and `NAME.sub_starts`."""
    if batch.records is not None:
        if "row" in batch.values:
            raise DataError("a value is named `row`, the name of the record numbers: rename it")
        yield "row", batch.records
    for name, values in batch.values.items():
        yield name, values
        if name in batch.classes:
            yield f"{name}.class", batch.classes[name]
        for part, starts in zip(("starts", "sub_starts"), batch.starts.get(name, ()), strict=False):
            own = f"{name}.{part}"
            before = rows.get(own)
            yield own, starts if before is None else starts[1:] + before
            rows[own] = (before or 0) + int(starts[-1])


class NpzSink:
    """An npz file. Arrays wait in files beside it, since each has to be whole before the next begins."""

    def __init__(self, path: Path) -> None:
        self._path, self._parts = path, dict[str, _Part]()
        self._rows: dict[str, int] = {}

    def write(self, batch: Values) -> None:
        """Add the rows of a batch."""
        for name, array in arrays_of(batch, self._rows):
            if name not in self._parts:
                self._parts[name] = _Part(self._path.parent, array)
            self._parts[name].add(array)

    def finish(self) -> None:
        """Write the file."""
        with zipfile.ZipFile(self._path, "w") as archive:
            for name, part in self._parts.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    part.copy_to(member)
        self.close()

    def close(self) -> None:
        """Remove what waits."""
        for part in self._parts.values():
            part.file.close()


class _Part:
    def __init__(self, folder: Path, like: Array) -> None:
        self.file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  filled batch by batch; `NpzSink.close` closes it
        self._dtype, self._tail, self._count = like.dtype, like.shape[1:], 0

    def add(self, array: Array) -> None:
        self.file.write(np.ascontiguousarray(array, self._dtype).tobytes())
        self._count += len(array)

    def copy_to(self, member: IO[bytes]) -> None:
        header = {"descr": np.lib.format.dtype_to_descr(self._dtype), "fortran_order": False}
        np.lib.format.write_array_header_2_0(member, {**header, "shape": (self._count, *self._tail)})
        self.file.seek(0)
        shutil.copyfileobj(self.file, member, _BUFFER)


class Hdf5Sink:
    """An HDF5 file: a data set for each array, in chunks."""

    def __init__(self, path: Path) -> None:
        import h5py

        self._file: Any = h5py.File(path, "w")
        self._rows: dict[str, int] = {}

    def write(self, batch: Values) -> None:
        """Add the rows of a batch."""
        for name, array in arrays_of(batch, self._rows):
            if name not in self._file:
                tail = array.shape[1:]
                rows = max(1, _CHUNK // max(1, math.prod(tail) * array.itemsize))
                shapes = {"maxshape": (None, *tail), "chunks": (rows, *(max(1, size) for size in tail))}
                self._file.create_dataset(name, (0, *tail), dtype=array.dtype, **shapes)
            data = self._file[name]
            before = len(data)
            data.resize(before + len(array), axis=0)
            data[before:] = array

    def finish(self) -> None:
        """Write what is left."""
        self._file.close()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


class ParquetSink:
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
        if batch.files:
            fields.append(arrow.field(batch.title, arrow.string()))
            columns.append(arrow.array(batch.files_of(count), arrow.string()))
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
