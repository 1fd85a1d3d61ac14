"""Array files that grow with every batch: npz and HDF5."""

from __future__ import annotations

import math
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from paddle_layers.data.problems import DataError

from .values import Array, Values

_BUFFER, _CHUNK = 1 << 20, 1 << 16
"""Bytes copied at once, and the chunk size of HDF5."""


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


class Npz:
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
        self.file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  open until `Npz.close`, over many calls
        self._dtype, self._tail, self._count = like.dtype, like.shape[1:], 0

    def add(self, array: Array) -> None:
        self.file.write(np.ascontiguousarray(array, self._dtype).tobytes())
        self._count += len(array)

    def copy_to(self, member: IO[bytes]) -> None:
        header = {"descr": np.lib.format.dtype_to_descr(self._dtype), "fortran_order": False}
        np.lib.format.write_array_header_2_0(member, {**header, "shape": (self._count, *self._tail)})
        self.file.seek(0)
        shutil.copyfileobj(self.file, member, _BUFFER)


class Hdf5:
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
