"""Feeds and results of networks as ONNX models have them: padded sequences with their lengths."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import onnxruntime

from paddle_layers.runtime import Csr, Sequences

PADDING = 0.75
"""What stands behind the ends of sequences: a number that would be noticed."""


def dense(rows, type_):
    """Rows as an array; sparse ones with all their columns."""
    if not isinstance(rows, Csr):
        return np.asarray(rows, np.int64 if type_.kind == "INT" else np.float32)
    found = np.zeros((len(rows.start) - 1, type_.size), np.float32)
    for row in range(len(found)):
        entries = slice(rows.start[row], rows.start[row + 1])
        np.add.at(found[row], rows.id[entries], 1 if rows.value is None else rows.value[entries])
    return found


def padded(rows, starts):
    """`[S, T, ...]` of rows that start where `starts` says, and the lengths."""
    lengths = np.diff(starts)
    shape = (len(lengths), max([1, *lengths]), *rows.shape[1:])
    found = np.full(shape, 0 if rows.dtype == np.int64 else PADDING, rows.dtype)
    for place, (first, last) in enumerate(pairwise(starts)):
        found[place, : last - first] = rows[first:last]
    return found, lengths.astype(np.int64)


def model_feeds(feeds, types):
    """Feeds of a network as those of its model."""
    found = {}
    for name, given in feeds.items():
        type_ = types[name]
        if not type_.level:
            found[name] = dense(given, type_)
        elif type_.level == 1:
            found[name], found[f"{name}.lengths"] = padded(dense(given.data, type_), given.starts)
        else:
            inner, lengths = padded(dense(given.data, type_), given.sub_starts)
            found[name], found[f"{name}.lengths"] = padded(inner, given.starts)
            found[f"{name}.sub_lengths"], _ = padded(lengths, given.starts)
    return found


def real_rows(result, name):
    """The rows of a padded result that are real, one after the other."""
    value = result[name]
    if f"{name}.lengths" not in result:
        return value
    lengths = result[f"{name}.lengths"]
    parts = [one[:length] for one, length in zip(value, lengths, strict=True)]
    if f"{name}.sub_lengths" in result:
        inner = [one[:length] for one, length in zip(result[f"{name}.sub_lengths"], lengths, strict=True)]
        parts = [
            row[:length] for part, own in zip(parts, inner, strict=True) for row, length in zip(part, own, strict=True)
        ]
    return np.concatenate(parts)


def run_model(path: Path, feeds):
    """Outputs by name."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = {one.name for one in session.get_inputs()}
    values = session.run(None, {name: array for name, array in feeds.items() if name in names})
    return {one.name: value for one, value in zip(session.get_outputs(), values, strict=True)}


def rows_of(value):
    """Rows of a result of a net."""
    return value.data if isinstance(value, Sequences) else value
