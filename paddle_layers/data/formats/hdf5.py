"""Datasets of HDF5 files, with the rows of several files concatenated."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Container, Iterable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.fields.types import shape_text

from ..columns import Rows, SequenceColumn, checked_starts, gather, joined_starts
from ..dataset import Dataset
from ..lazy_columns import MOST_BLOCKS, BadRecords, RowBlocks, StoredColumn
from ..problems import DataError, NoFieldsError, as_data_error, optional_module
from .files import MOST_COMPRESSION, FileRows

Array = NDArray[Any]

LARGEST_CHUNK = 2**28
"""Maximum chunk size in bytes; whole chunks are read for any of their rows."""

MOST_CACHED = 2**28
"""Size in bytes of the chunk cache of a dataset."""

STARTS = ".starts"
"""Suffix of the name of a sequence dataset for the offsets of the sequences, as in an npz file."""

_SLOTS = 997
"""Slots of the hash table of the chunk cache: a prime number, several times the number of chunks."""

_HEADS = {3: 4, 6: 21}
"""Additional bytes per HDF5 filter: the checksum of fletcher32, the header of scaleoffset."""


class Hdf5Files(FileRows):
    """The datasets of the top level of HDF5 files by name; every file has the same ones. Raises `DataError`."""

    def __init__(self, paths: Sequence[Path], wanted: Container[str] | None) -> None:
        self._h5py = optional_module("h5py", "h5py", "hdf5", "the source `hdf5`")
        with contextlib.ExitStack() as opened:  # a file that is refused can be written again
            self._read_structure(paths, wanted, opened)
            opened.pop_all()

    def _read_structure(
        self, paths: Sequence[Path], wanted: Container[str] | None, opened: contextlib.ExitStack
    ) -> None:
        self._open = [self._datasets(path, wanted, opened) for path in paths]
        self.names = list(self._open[0])
        for path, found in zip(paths, self._open, strict=True):
            if list(found) != self.names:
                raise DataError(f"{path} has the datasets {_listed(found)}, but {paths[0]} has {_listed(self.names)}")
        self._starts = [self._cuts(path, found) for path, found in zip(paths, self._open, strict=True)]
        """Starts of the sequences of a file by name of their dataset: 8 bytes per row in memory."""
        super().__init__(paths, [self._rows(*of_file) for of_file in zip(paths, self._open, self._starts, strict=True)])

    def dataset(self) -> Dataset:
        """Every dataset as a field whose rows are read when they are wanted."""
        fields = [name for name in self.names if not name.endswith(STARTS)]
        columns = {name: self._sequences(name) if name in self._starts[0] else self._column(name) for name in fields}
        dataset = Dataset(columns, origin=self.origin, place=self.place, blocks=self._blocks())
        dataset.unread = [name for name in self._all if name not in self.names]
        return dataset

    def _datasets(self, path: Path, wanted: Container[str] | None, opened: contextlib.ExitStack) -> dict[str, Any]:
        with as_data_error(f"{path} is corrupt or not an HDF5 file"):
            file = opened.enter_context(self._h5py.File(path, "r"))
            self._all = sorted(file)
            found = {}
            for name in self._all:
                if wanted is not None and name.removesuffix(STARTS) not in wanted:
                    continue
                if not isinstance(file.get(name, getlink=True), self._h5py.HardLink):
                    raise DataError(f"{path}: `{name}` is a soft or external link, which is not supported")
                item = file[name]
                if not isinstance(item, self._h5py.Dataset):
                    raise DataError(f"{path}: `{name}` is not a dataset; fields must be top-level datasets")
                self._check(path, name, item)
                found[name] = self._cached(file, name, item)
        if not found:
            raise NoFieldsError(path, "datasets", self._all)
        return found

    def _cached(self, file: Any, name: str, item: Any) -> Any:
        """A dataset that keeps as many unpacked chunks as are read by turns."""
        if not item.chunks:
            return item
        access = self._h5py.h5p.create(self._h5py.h5p.DATASET_ACCESS)
        access.set_chunk_cache(_SLOTS, min(MOST_CACHED, (MOST_BLOCKS + 1) * _layer(item)), 0.75)
        return self._h5py.Dataset(self._h5py.h5d.open(file.id, name.encode(), access))

    def _check(self, path: Path, name: str, item: Any) -> None:
        """Check the metadata of a dataset before reading it."""
        place = f"{path}, dataset `{name}`"
        if item.dtype.kind not in "fiub" or item.dtype.fields or item.dtype.subdtype:
            raise DataError(f"{place} contains {str(item.dtype)[:80]}, expected numbers")
        if not item.shape:
            raise DataError(f"{place} is a scalar; the first axis must be the samples")
        if item.is_virtual or item.external:
            raise DataError(f"{place} is virtual or stored externally, which is not supported")
        size = math.prod(item.shape) * item.dtype.itemsize
        if size > max(2**20, MOST_COMPRESSION * path.stat().st_size) or (item.shape[0] and not size):
            raise DataError(
                f"{place} declares the shape {item.shape}, too large for a file of {path.stat().st_size} bytes"
            )
        if item.chunks and math.prod(item.chunks) * item.dtype.itemsize > LARGEST_CHUNK:
            raise DataError(f"{place} has chunks of more than {LARGEST_CHUNK} bytes; write it with smaller chunks")
        if item.chunks:
            _check_chunks(item, path.stat().st_size, place)

    def _cuts(self, path: Path, found: dict[str, Any]) -> dict[str, Rows]:
        cuts = {}
        for name in found:
            if not name.endswith(STARTS):
                continue
            field = name.removesuffix(STARTS)
            if field not in found:
                raise DataError(f"{path}: `{name}` requires `{field}`")
            with as_data_error(f"{path}: cannot read `{name}`"):
                cuts[field] = checked_starts(found[name][()], found[field].shape[0], name, str(path))
        return cuts

    def _rows(self, path: Path, found: dict[str, Any], cuts: dict[str, Rows]) -> int:
        counts = {
            name: len(cuts[name]) - 1 if name in cuts else item.shape[0]
            for name, item in found.items()
            if not name.endswith(STARTS)
        }
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"`{name}` has {count}" for name, count in counts.items())
            raise DataError(f"{path}: all fields must have the same number of rows, but {listed}")
        return int(next(iter(counts.values())))

    def _column(self, name: str) -> StoredColumn:
        shape, dtype = self._kind(name)
        return StoredColumn(partial(self._read, name, shape, dtype, self.starts, int), len(self), shape, dtype)

    def _sequences(self, name: str) -> StoredColumn:
        """The items of a row are those between two of the starts, which count from the first file on."""
        shape, dtype = self._kind(name)
        starts = joined_starts([cuts[name] for cuts in self._starts])
        begins = np.cumsum([0, *(found[name].shape[0] for found in self._open)])

        def row_of(item: int) -> int:
            return int(np.searchsorted(starts, item, "right")) - 1

        def read(rows: Rows) -> SequenceColumn:
            items, cuts = gather(starts, rows)
            return SequenceColumn(self._read(name, shape, dtype, begins, row_of, items), cuts)

        return StoredColumn(read, len(self), shape, dtype, level=1)

    def _kind(self, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Shape and type of a row of a dataset, in all files."""
        items = [found[name] for found in self._open]
        shape, dtype = items[0].shape[1:], items[0].dtype
        for path, item in zip(self.paths, items, strict=True):
            if item.shape[1:] != shape:
                raise DataError(
                    f"{path}: samples of `{name}` have shape {shape_text(item.shape[1:])}, but {shape_text(shape)} "
                    f"in {self.paths[0]}"
                )
            dtype = np.promote_types(dtype, item.dtype)
        return shape, dtype

    def _read(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        starts: Rows,
        row_of: Callable[[int], int],
        items: Rows,
    ) -> Array:
        """Items of a dataset: contiguous ones at once, in the order of the file.

        Those of a file begin at `starts`. Raises `BadRecords`; `row_of` gives the row that an item belongs to.
        """
        order = np.argsort(items, kind="stable")
        wanted, values = items[order], np.empty((len(items), *shape), dtype)
        files = np.searchsorted(starts, wanted, "right") - 1
        breaks = np.flatnonzero((np.diff(wanted) != 1) | (np.diff(files) != 0)) + 1
        runs = list(pairwise([0, *breaks.tolist(), len(wanted)])) if len(wanted) else []
        problems: dict[int, str] = {}
        while runs:
            first, last = runs.pop()
            item, begin = self._open[files[first]][name], int(wanted[first] - starts[files[first]])
            try:
                values[order[first:last]] = item[begin : begin + last - first]
            except (OSError, RuntimeError, ValueError) as error:
                if last - first > 1:  # which of them it is
                    runs += [(at, at + 1) for at in range(first, last)]
                else:
                    row = row_of(int(wanted[first]))
                    problems[row] = f"{self.place(row)}: cannot read `{name}`: {str(error)[:200]}"
        if problems:
            raise BadRecords(dict(sorted(problems.items())))
        return values

    def _blocks(self) -> RowBlocks | None:
        """The first rows of chunks; None if rows are stored one by one."""
        starts: list[Array] = []
        for begin, end, found in zip(self.starts, self.starts[1:], self._open, strict=False):
            count = int(end - begin)  # a chunk of sequences has as many rows as its items are on average
            chunked = (item for name, item in found.items() if item.chunks and not name.endswith(STARTS))
            shares = (item.chunks[0] * count // max(1, item.shape[0]) for item in chunked)
            starts.append(begin + np.arange(0, count, max([1, *shares])))
        blocks = np.concatenate([*starts, self.starts[-1:]])
        if len(blocks) > len(self):
            return None
        largest = max(_layer(item) for found in self._open for item in found.values() if item.chunks)
        return RowBlocks(blocks, max(1, min(MOST_BLOCKS, MOST_CACHED // largest - 1)))


def _layer(item: Any) -> int:
    """Bytes of the chunks that hold a row."""
    return int(item.chunks[0] * math.prod(item.shape[1:]) * item.dtype.itemsize)


def _check_chunks(item: Any, size: int, place: str) -> None:
    """Check the positions of chunks: the decompressor assumes that each has bytes, and aborts the process otherwise."""
    whole = math.prod(item.chunks) * item.dtype.itemsize
    plan = item.id.get_create_plist()
    filters = [plan.get_filter(at)[0] for at in range(plan.get_nfilters())]
    least = 1 + sum(_HEADS.get(number, 0) for number in filters)

    def check(chunk: Any) -> None:
        enough = chunk.size >= (least if filters else whole)
        if not enough or chunk.byte_offset is None or chunk.byte_offset + chunk.size > size:
            raise DataError(f"{place} is corrupt: missing chunk at {chunk.chunk_offset}")

    item.id.chunk_iter(check)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
