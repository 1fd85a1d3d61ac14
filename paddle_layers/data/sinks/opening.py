"""Atomic output files: written under a temporary name, renamed when complete."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol, TextIO

from paddle_layers.data.problems import DataError
from paddle_layers.define.output_folders import open_folder

from .formats import CsvSink, Hdf5Sink, JsonLinesSink, NpzSink, ParquetSink
from .values import Values

KINDS = {
    ".csv": "table",
    ".jsonl": "one JSON object per line",
    ".npz": "arrays",
    ".h5": "HDF5",
    ".hdf5": "HDF5",
    ".parquet": "columns",
}
"""Output formats, by file extension."""
_NEEDED = {".h5": ("h5py", "hdf5"), ".hdf5": ("h5py", "hdf5"), ".parquet": ("pyarrow", "arrow")}
_TEXTS = (".csv", ".jsonl")


class ValueSink(Protocol):
    """Interface of output files for batches of values."""

    def write(self, batch: Values) -> None:
        """Append the rows of a batch. Raises `DataError` for values that cannot be in one file."""
        ...


def check_sink(path: Path) -> None:
    """Raises `DataError` for an ending that is not known, and where what writes it is not installed."""
    ending = path.suffix.lower()
    if ending not in KINDS:
        known = ", ".join(f"{known} ({kind})" for known, kind in KINDS.items())
        raise DataError(f"{path}: unsupported extension; expected {known}")
    module, extra = _NEEDED.get(ending, ("", ""))
    if module and importlib.util.find_spec(module) is None:
        raise DataError(f"{path}: {ending} files require {module}: pip install 'paddle-layers[{extra}]'")


@contextlib.contextmanager
def open_sink(path: Path) -> Iterator[ValueSink]:
    """A sink that replaces the file at `path` when the context ends; after an error nothing has changed.

    Raises `DataError` as `check_sink` does, `OSError` for a file that cannot be written.
    """
    check_sink(path)
    with open_folder(path.parent) as folder, folder.temporary(path.name) as (temporary, handle):
        os.close(handle)
        with _writing(folder.path_of(temporary), path.suffix.lower()) as sink:
            yield sink
        folder.replace(temporary, path.name)


@contextlib.contextmanager
def _writing(path: Path, ending: str) -> Iterator[ValueSink]:
    if ending in _TEXTS:
        with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            yield text_sink(ending, stream)
        return
    sink: Any = NpzSink(path) if ending == ".npz" else ParquetSink(path) if ending == ".parquet" else Hdf5Sink(path)
    with contextlib.closing(sink):
        yield sink
        sink.finish()


def text_sink(ending: str, stream: TextIO) -> ValueSink:
    """A sink that writes text of this kind to a stream."""
    return CsvSink(stream) if ending == ".csv" else JsonLinesSink(stream)
