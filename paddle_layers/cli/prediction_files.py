"""Predictions as files: a table, a JSON object on each line, or arrays."""

from __future__ import annotations

import csv
import io
import json
import math
import zipfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

if TYPE_CHECKING:
    from paddle_layers.training.prediction import Prediction


def write_table(found: Prediction, stream: TextIO) -> None:
    """Columns: the row, ids and the class where there is one, then the numbers of every value, classes by name."""
    counts = {name: len(found.texts.get(name, values)) for name, values in found.values.items()}
    _check_equal(counts, "lines, which no table can hold", ".jsonl, which has a line for each sample")
    names: list[str] = ["row"]
    columns: list[Any] = []
    for name, values in found.values.items():
        if name in found.texts:
            names.append(f"{name}.class" if name in found.classes else name)
            columns.append([[text] for text in found.texts[name]])
        if values.dtype.kind == "i":
            continue
        flat = values.reshape(len(values), -1)
        names += [f"{name}.{part}" for part in _parts(found, name, flat.shape[1])] if flat.shape[1] > 1 else [name]
        columns.append([[f"{value:.6g}" for value in row] for row in flat])
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    for row, parts in enumerate(zip(*columns, strict=True)):
        writer.writerow([row, *(cell for part in parts for cell in part)])


def _parts(found: Prediction, name: str, count: int) -> list[str]:
    """What the columns of a value are called: their classes, or numbers where heads of the table would be the same."""
    numbers = list(map(str, range(count)))
    named = found.names.get(name, numbers)
    return named if len({"class", *named}) > count else numbers


def write_lines(found: Prediction, stream: TextIO) -> None:
    """A JSON object for each sample; of a value in sequences a list of rows, NaN and infinities as null."""
    samples = {name: _samples(found, name) for name in found.values}
    counts = {name: len(rows) for name, rows in samples.items()}
    _check_equal(counts, "samples, which no line can hold", ".npz, which holds them all")
    classes = {name: _grouped(found.texts[name], found.starts.get(name, ())) for name in found.classes}
    for row in range(next(iter(counts.values()))):
        line: dict[str, Any] = {"row": row}
        for name, rows in samples.items():
            if name in classes:
                line[f"{name}.class"] = classes[name][row]
            line[name] = rows[row]
        stream.write(json.dumps(line, ensure_ascii=False) + "\n")


def write_arrays(found: Prediction, stream: io.BytesIO) -> None:
    """Arrays by name; `NAME.class` are the numbers of the classes, `NAME.starts` where sequences begin."""
    arrays: dict[str, Any] = {}
    for name, values in found.values.items():
        arrays[name] = values
        if name in found.classes:
            arrays[f"{name}.class"] = found.classes[name]
        for part, starts in zip(("starts", "sub_starts"), found.starts.get(name, ()), strict=False):
            arrays[f"{name}.{part}"] = starts
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


def content(found: Prediction, ending: str) -> bytes:
    """The whole file. Raises `TrainingError` for values that it cannot hold beside each other."""
    if ending == ".npz":
        arrays = io.BytesIO()
        write_arrays(found, arrays)
        return arrays.getvalue()
    text = io.StringIO()
    WRITERS[ending](found, text)
    return text.getvalue().encode(errors="backslashreplace")


WRITERS: dict[str, Callable[[Prediction, TextIO], None]] = {".csv": write_table, ".jsonl": write_lines}
KINDS = {".csv": "a table", ".jsonl": "a JSON object on each line", ".npz": "arrays"}
"""What is written, by the ending of the file's name."""


def _samples(found: Prediction, name: str) -> list[Any]:
    """A value of each sample, as JSON has it."""
    values = found.values[name]
    if name in found.texts and name not in found.classes:
        parts: list[Any] = [text.split(" ") if name in found.starts else text for text in found.texts[name]]
        return parts if len(found.starts.get(name, ())) < 2 else _grouped(parts, found.starts[name][:1])
    rows = [_numbers(row) for row in values.reshape(len(values), -1)]
    return _grouped(rows, found.starts.get(name, ()))


def _numbers(row: Any) -> Any:
    """The shortest numbers that read back exactly in the precision of the network."""
    numbers = [float(text) if math.isfinite(float(text)) else None for text in row.astype(str).tolist()]
    return numbers[0] if len(numbers) == 1 else numbers


def _grouped(items: Sequence[Any], starts: Sequence[Any]) -> list[Any]:
    """Rows in sequences, and in sub-sequences, as lists of lists."""
    grouped = list(items)
    for ends in reversed(starts):
        grouped = [grouped[first:last] for first, last in pairwise(ends.tolist())]
    return grouped


def _check_equal(counts: dict[str, int], problem: str, remedy: str) -> None:
    """A line is for a row of every value; values in sequences have other rows than those of samples."""
    from paddle_layers.training import TrainingError

    if len(set(counts.values())) > 1:
        listed = ", ".join(f"`{name}` {count}" for name, count in counts.items())
        raise TrainingError(
            f"the values have different numbers of {problem}: {listed}. Choose some with --value, or write a file "
            f"that ends in {remedy}"
        )
