"""LMDB databases of Caffe's Datum records, read in pure Python."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from paddle_layers.define.fields.types import shape_text
from paddle_layers.schema.datum_pb2 import Datum

from ..columns import Rows
from ..dataset import Dataset
from ..lazy_columns import BadRecords, RecordReader, read_each
from ..problems import DataError
from .files import PositionedFile
from .image_columns import declared, image_remedy, wanted_size
from .image_decoder import Array, Decoder, DecoderSettings

_MAGIC, _VERSION = 0xBEEFC0DE, 1
_HEAD, _NODE = 16, 8
"""Bytes in front of the contents of a page, and of a node."""
_BRANCH, _LEAF, _OVERFLOW, _META = 1, 2, 4, 8
_BIG = 1
"""The value of the node is in overflow pages."""
_PLAIN = 0
_DEEPEST = 32
_NO_PAGE = 2**64 - 1
_SIZES = {2**power for power in range(8, 17)}

Shape = tuple[int, ...]


class _Tree(NamedTuple):
    page_size: int
    pages: int
    entries: int
    root: int
    written: int


class LmdbFile:
    """An LMDB database, a folder with `data.mdb` or the file itself, of single values for each key.

    Its keys are found when it is opened; `value(row)` reads a value, in any thread. Raises `DataError`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path / "data.mdb" if path.is_dir() else path
        self._file = PositionedFile(self.path)
        self._size = self._file.size
        self._tree = self._newest()
        self._places = self._all_places()

    def __len__(self) -> int:
        return len(self._places)

    def key(self, row: int) -> bytes:
        """The key of a row."""
        at, size = self._places[row, :2].tolist()
        return self._file.read(at, size)

    def place(self, row: int) -> str:
        """File and key of a row."""
        return f"{self.path}, key {self.key(row).decode('utf-8', 'backslashreplace')!r}"

    def value(self, row: int) -> bytes:
        """The value of a row."""
        at, size = self._places[row, 2:].tolist()
        found = self._file.read(at, size)
        if len(found) < size:
            raise DataError(f"{self.place(row)}: the file is truncated")
        return found

    def _wrong(self, what: str) -> DataError:
        return DataError(f"{self.path} is corrupt or not an LMDB database: {what}")

    def _newest(self) -> _Tree:
        """The tree that was written last: it is in one of the two pages at the beginning."""
        first = self._meta(0)
        if first is None:
            raise self._wrong("invalid header, or written on a machine of another architecture")
        second = self._meta(first.page_size)
        newest = second if second is not None and second.written > first.written else first
        if newest.page_size not in _SIZES:
            raise self._wrong(f"invalid page size {newest.page_size}")
        if newest.pages * newest.page_size > self._size:
            raise self._wrong(f"truncated, it declares {newest.pages} pages of {newest.page_size} bytes")
        return newest

    def _meta(self, at: int) -> _Tree | None:
        page = self._file.read(at, _HEAD + 136)
        if len(page) < _HEAD + 136 or not struct.unpack_from("<H", page, 10)[0] & _META:
            return None
        magic, version = struct.unpack_from("<II", page, _HEAD)
        if (magic, version) != (_MAGIC, _VERSION):
            return None
        (page_size,) = struct.unpack_from("<I", page, _HEAD + 24)
        flags, entries, root, last, written = (
            *struct.unpack_from("<H", page, _HEAD + 24 + 48 + 4),
            *struct.unpack_from("<QQQQ", page, _HEAD + 24 + 48 + 32),
        )
        if flags & ~0x08:  # 0x08: keys are numbers; all others are for several values of a key
            raise self._wrong("duplicate keys and named databases are not supported")
        return _Tree(page_size, last + 1, entries, root, written)

    def _all_places(self) -> NDArray[np.int64]:
        if self._tree.root == _NO_PAGE:
            raise DataError(f"{self.path} has no records")
        if self._tree.entries * _NODE > self._size:
            raise self._wrong(f"it declares {self._tree.entries} records")
        table = np.empty((self._tree.entries, 4), np.int64)
        filled = 0
        for node in self._nodes(self._tree.root, 0, set()):
            if filled == len(table):
                raise self._wrong(f"it has more records than the {len(table)} it declares")
            table[filled] = node
            filled += 1
        if filled < len(table) or not filled:
            raise self._wrong(f"it has {filled} records, but declares {len(table)}")
        return table

    def _page(self, number: int) -> bytes:
        if number >= self._tree.pages:
            raise self._wrong(f"page {number} is out of range")
        page = self._file.read(number * self._tree.page_size, self._tree.page_size)
        if len(page) < self._tree.page_size:
            raise self._wrong("truncated")
        return page

    def _nodes(self, number: int, depth: int, seen: set[int]) -> Iterator[tuple[int, int, int, int]]:
        """The places of all records below a page, in the order of their keys."""
        if number in seen or depth > _DEEPEST:
            raise self._wrong(f"page {number} is referenced twice")
        seen.add(number)
        page, start = self._page(number), number * self._tree.page_size
        flags, lower = struct.unpack_from("<HH", page, 10)
        if flags & (_BRANCH | _LEAF | _OVERFLOW | _META) not in {_BRANCH, _LEAF} or not _HEAD <= lower <= len(page):
            raise self._wrong(f"page {number} has no keys")
        for at in struct.unpack_from(f"<{(lower - _HEAD) // 2}H", page, _HEAD):
            if at + _NODE > len(page):
                raise self._wrong(f"a record of page {number} is out of range")
            low, high, node_flags, key_size = struct.unpack_from("<HHHH", page, at)
            key = at + _NODE
            if key + key_size > len(page):
                raise self._wrong(f"a key of page {number} is out of range")
            if flags & _BRANCH:
                yield from self._nodes(low | high << 16 | node_flags << 32, depth + 1, seen)
                continue
            value, size = key + key_size, low | high << 16
            place = start + value if node_flags == _PLAIN else self._big(page, value, size, node_flags, number)
            if node_flags == _PLAIN and value + size > len(page):
                raise self._wrong(f"a value of page {number} is out of range")
            yield start + key, key_size, place, size

    def _big(self, page: bytes, at: int, size: int, flags: int, number: int) -> int:
        """The position of a value in overflow pages."""
        if flags != _BIG or at + 8 > len(page):
            raise self._wrong(f"unknown record type in page {number}")
        (first,) = struct.unpack_from("<Q", page, at)
        head = self._page(first)[:_HEAD]
        (kind,), (pages,) = struct.unpack_from("<H", head, 10), struct.unpack_from("<I", head, 12)
        place = first * self._tree.page_size + _HEAD
        if not kind & _OVERFLOW or size > pages * self._tree.page_size - _HEAD or place + size > self._size:
            raise self._wrong(f"invalid overflow page of a value in page {number}")
        return int(place)


class Datums:
    """The records of a database; the first one says what all are."""

    def __init__(self, what: str, file: LmdbFile, settings: DecoderSettings) -> None:
        self._file, self._what, self._settings = file, what, settings
        self._decoder: Decoder | None = None
        first = self._record(0)
        if first.encoded:
            self._decoder = Decoder(what, settings, wanted_size(settings, file.place(0)))
        sample = self._array(first, 0)
        self._shape, self._dtype = sample.shape, sample.dtype

    def dataset(self) -> Dataset:
        """The fields `image` and `label`, whose rows are read when they are wanted."""
        records, count = RecordReader(self._read), len(self._file)
        image = records.column("image", count, self._shape, self._dtype, remedy=self._remedy)
        label = records.column("label", count, (), np.int64)
        return Dataset({"image": image, "label": label}, origin=str(self._file.path), place=self._file.place)

    def _read(self, rows: Rows) -> Mapping[str, Array]:
        found = read_each(rows, self._one)
        images = np.stack([image for image, _ in found]) if found else np.empty((0, *self._shape), self._dtype)
        return {"image": images, "label": np.array([label for _, label in found], np.int64)}

    def _one(self, row: int) -> tuple[Array, int]:
        try:
            record = self._record(row)
            image = self._array(record, row)
        except DataError as error:
            raise BadRecords({row: str(error)}) from None
        if image.shape != self._shape or image.dtype != self._dtype:
            resize = (
                "; write `height` and `width` in the source to resize all images" if self._decoder is not None else ""
            )
            raise DataError(
                f"{self._file.place(row)}: the record is {_described(image.shape, image.dtype)}, but the "
                f"first one is {_described(self._shape, self._dtype)}{resize}"
            )
        return image, record.label

    def _record(self, row: int) -> Datum:
        try:
            return Datum.FromString(self._file.value(row))
        except DecodeError:
            raise DataError(f"{self._file.place(row)}: the record is corrupt or not a Datum") from None

    def _array(self, record: Datum, row: int) -> Array:
        place = self._file.place(row)
        if record.encoded:
            if self._decoder is None:
                raise DataError(f"{place}: the record is an encoded image, but the first one is not")
            return self._decoder.array(place, lambda: record.data)
        shape = record.channels, record.height, record.width
        size = math.prod(shape)
        if min(shape) < 1 or size not in {len(record.data), len(record.float_data)}:
            raise DataError(
                f"{place}: the record declares the shape {shape_text(shape)}, but has "
                f"{len(record.data)} bytes and {len(record.float_data)} floats"
            )
        if len(record.data) == size:
            return np.frombuffer(record.data, np.uint8).reshape(shape)
        return np.array(record.float_data, np.float32).reshape(shape)

    def _remedy(self, wanted: Shape, result: Shape, shape: Shape) -> str:
        if self._decoder is not None:
            return image_remedy(wanted, result, shape)
        return f"set {declared(result)} in the data layer"


def _described(shape: Shape, dtype: np.dtype[Any]) -> str:
    return f"{shape_text(shape)} of {dtype}"
