"""Caffe's Datum records: images as bytes or as encoded files, or floats, each with a label."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from paddle_layers.schema.datum_pb2 import Datum

from ..columns import Rows
from ..dataset import Dataset
from ..lazy_columns import BadRecords, Records, read_each
from ..problems import DataError
from .image_decoder import Array, Decoder, Settings, declared, picture_remedy, wanted_size
from .lmdb import LmdbFile

Shape = tuple[int, ...]


class Datums:
    """The records of a database; the first one says what all are."""

    def __init__(self, what: str, file: LmdbFile, settings: Settings) -> None:
        self._file, self._what, self._settings = file, what, settings
        self._decoder: Decoder | None = None
        first = self._record(0)
        if first.encoded:
            self._decoder = Decoder(what, settings, wanted_size(settings, file.place(0)))
        sample = self._array(first, 0)
        self._shape, self._dtype = sample.shape, sample.dtype

    def dataset(self) -> Dataset:
        """The fields `image` and `label`, whose rows are read when they are wanted."""
        records, count = Records(self._read), len(self._file)
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
                f"{place}: the record declares the shape {'x'.join(map(str, shape))}, but has "
                f"{len(record.data)} bytes and {len(record.float_data)} floats"
            )
        if len(record.data) == size:
            return np.frombuffer(record.data, np.uint8).reshape(shape)
        return np.array(record.float_data, np.float32).reshape(shape)

    def _remedy(self, wanted: Shape, result: Shape, shape: Shape) -> str:
        if self._decoder is not None:
            return picture_remedy(wanted, result, shape)
        return f"set {declared(result)} in the data layer"


def _described(shape: Shape, dtype: np.dtype[Any]) -> str:
    return f"{'x'.join(map(str, shape))} of {dtype}"
