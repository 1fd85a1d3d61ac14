"""Text output: CSV tables, or JSON lines."""

from __future__ import annotations

import csv
import json
import math
from typing import Any, TextIO

import numpy as np

from .values import Array, Values, check_equal, grouped


class Table:
    """A csv table: the row, ids and the class where there is one, then the numbers of every value, classes by name."""

    def __init__(self, stream: TextIO) -> None:
        self._writer, self._row = csv.writer(stream, lineterminator="\n"), 0

    def write(self, batch: Values) -> None:
        """A line for each row, for ids in sequences one for each sequence. Raises `DataError`."""
        counts = {name: len(batch.texts.get(name, values)) for name, values in batch.values.items()}
        check_equal(counts, "rows per batch, which a table cannot represent", ".jsonl, with one line per sample")
        names: list[str] = ["row"]
        columns: list[Any] = []
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
        numbers = batch.numbers(self._row, next(iter(counts.values())))
        for number, *cells in zip(numbers.tolist(), *columns, strict=True):
            self._writer.writerow([number, *(cell for part in cells for cell in part)])
        self._row += len(numbers)


def _parts(batch: Values, name: str, count: int) -> list[str]:
    """Names of the columns of a value: their classes, or numbers if the table would have duplicate heads."""
    numbers = list(map(str, range(count)))
    named = batch.names.get(name, numbers)
    return named if len({"class", *named}) > count else numbers


class Lines:
    """A JSON object for each sample; of a value in sequences a list of rows, NaN and infinities as null."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._row = stream, 0

    def write(self, batch: Values) -> None:
        """A line for each sample. Raises `DataError`."""
        count = batch.count_samples()
        samples = {name: _samples(batch, name) for name in batch.values}
        classes = {name: grouped(_classes(batch, name), batch.starts.get(name, ())) for name in batch.classes}
        for at, number in enumerate(batch.numbers(self._row, count).tolist()):
            line: dict[str, Any] = {"row": number}
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
