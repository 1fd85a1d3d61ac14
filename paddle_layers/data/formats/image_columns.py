"""Lazy columns of images, of their label maps, and of their bounding boxes."""

from __future__ import annotations

import operator
import os
import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.errors import suggestion

from ..columns import Rows, SequenceColumn
from ..lazy_columns import BadRecords, RecordReader, StoredColumn, read_each
from ..problems import DataError
from .files import check_regular
from .image_decoder import CHANNELS, MOST_PIXELS, Decoder, DecoderSettings, ImageCrop, ImageSize

Array = NDArray[Any]
Place = Callable[[int], str]
Shape = tuple[int, ...]

LARGEST_FILE = 2**28
"""Maximum size of an image file in bytes."""

CORNERS = 4
_NUMBER = r"(\d{1,9}(?:\.\d{1,9})?)"
_BOX = re.compile(rf"{_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER},([^,]+)", re.ASCII)


def image_column(
    what: str,
    settings: DecoderSettings,
    count: int,
    name: Callable[[int], str],
    content: Callable[[int], bytes],
    crop: Callable[[int], ImageCrop] | None = None,
) -> StoredColumn:
    """The lazy column of the images of a source: `content(row)` returns the bytes of a file, `name(row)` its name.

    If `crop` is given, the crop `crop(row)` is used. Raises `DataError`.
    """
    wanted = wanted_size(settings, name(0))
    size = wanted or Decoder(what, settings, None).shape(name(0), partial(content, 0))
    decoder = Decoder(what, settings, wanted)
    shape = (CHANNELS[settings.color], *size)

    def one(row: int) -> Array:
        try:
            pixels = decoder.array(name(row), partial(content, row), crop and crop(row))
        except DataError as error:
            raise BadRecords({row: str(error)}) from None
        if pixels.shape != shape:
            raise DataError(
                f"{name(row)}: the image has {ImageSize(*pixels.shape[1:])} pixels, but the first one {size}; "
                f"write `height: {size.height} width: {size.width}` in the source to resize all images"
            )
        return pixels

    def read(rows: Rows) -> Array:
        return np.stack(read_each(rows, one)) if len(rows) else np.empty((0, *shape), np.uint8)

    return StoredColumn(read, count, shape, np.uint8, remedy=image_remedy)


def map_column(
    what: str,
    settings: DecoderSettings,
    images: StoredColumn,
    fill: int,
    place: Callable[[int], str],
    files: Callable[[int], tuple[str, str]],
) -> StoredColumn:
    """The label maps of `images`: `files(row)` are those of an image and its map, `place(row)` names them.

    Resized like the images, to the nearest pixel.
    """
    shape = images.shape[2:]
    decoder = Decoder(what, settings, ImageSize(*shape))

    def one(row: int) -> Array:
        image, ids = files(row)
        try:
            size = decoder.shape(f"{place(row)}: {image}", partial(read_image, image))
            return decoder.ids(f"{place(row)}: {ids}", partial(read_image, ids), size, fill)
        except DataError as error:
            raise BadRecords({row: str(error)}) from None

    def read(rows: Rows) -> Array:
        return np.stack(read_each(rows, one)) if len(rows) else np.empty((0, *shape), np.uint8)

    return StoredColumn(read, len(images), shape, np.uint8)


class ListedBoxes:
    """Bounding boxes of an image list, each a word `x1,y1,x2,y2,class` in pixels, concatenated.

    Those of row r are `starts[r]` to `starts[r + 1]`.
    Classes are integers, or the words in `classes`. Raises `DataError`, which begins with `place(row)`.
    """

    def __init__(self, texts: Sequence[str], classes: Sequence[str], place: Place) -> None:
        ids = {word: number for number, word in enumerate(classes)}
        corners, labels, starts = array("d"), array("q"), array("q", [0])
        for row, text in enumerate(texts):
            for word in text.split():
                box, label = _box(word, place(row))
                corners.extend(box)
                labels.append(_class(label, ids, place(row)))
            starts.append(len(labels))
        self.corners = np.frombuffer(corners, np.float64).reshape(-1, CORNERS)
        self.labels = np.frombuffer(labels, np.int64)
        self.starts = np.frombuffer(starts, np.int64)


def box_columns(
    what: str, settings: DecoderSettings, boxes: ListedBoxes, names: Sequence[str], images: StoredColumn, place: Place
) -> dict[str, StoredColumn]:
    """The fields `box`, corners relative to the size of the resulting images, and `label`, the class of each box.

    `names` are the files of the images. Boxes are clipped to the visible part of an image; those whose center is
    outside are removed. A box that exceeds its source image is an error of its record.
    """
    count = len(images)
    decoder = Decoder(what, settings, ImageSize(*images.shape[2:]))

    def one(row: int) -> tuple[Array, Array]:
        mine = slice(boxes.starts[row], boxes.starts[row + 1])
        try:
            size = decoder.shape(f"{place(row)}: {names[row]}", partial(read_image, names[row]))
            _check_within(boxes.corners[mine], size, place(row))
        except DataError as error:
            raise BadRecords({row: str(error)}) from None
        corners = decoder.shares(boxes.corners[mine], size)
        centres = (corners[:, :2] + corners[:, 2:]) / 2
        kept = ((centres >= 0) & (centres <= 1)).all(axis=1)
        return corners[kept].clip(0, 1).astype(np.float32), boxes.labels[mine][kept]

    def read(rows: Rows) -> Mapping[str, SequenceColumn]:
        found = read_each(rows, one)
        starts = np.cumsum([0, *(len(labels) for _, labels in found)])
        corners = np.concatenate([np.empty((0, CORNERS), np.float32), *(corners for corners, _ in found)])
        labels = np.concatenate([np.empty(0, np.int64), *(labels for _, labels in found)])
        return {"box": SequenceColumn(corners, starts), "label": SequenceColumn(labels, starts)}

    records = RecordReader(read)
    return {
        "box": records.column("box", count, (CORNERS,), np.float32, level=1),
        "label": records.column("label", count, (), np.int64, level=1),
    }


def _box(word: str, place: str) -> tuple[list[float], str]:
    found = _BOX.fullmatch(word)
    if found is None:
        raise DataError(
            f"{place}: invalid box {word[:80]!r}; write x1,y1,x2,y2,class without spaces, corners in pixels "
            "from 0 (if the file name contains spaces, separate it by a tab)"
        )
    *numbers, label = found.groups()
    left, top, right, bottom = corners = [float(number) for number in numbers]
    if not (left < right and top < bottom):
        raise DataError(f"{place}: empty box {word[:80]}; x1 must be less than x2, and y1 less than y2")
    return corners, label


def _class(label: str, ids: Mapping[str, int], place: str) -> int:
    if ids:
        if label not in ids:
            raise DataError(f"{place}: unknown class {label[:80]!r}, not in `classes`{suggestion(label, ids)}")
        return ids[label]
    if not (label.isascii() and label.isdecimal() and len(label) < 10):
        raise DataError(
            f"{place}: the class {label[:80]!r} is not an integer; list class names in `classes` of the "
            "source, in the order of their ids (0 is the background for most layers)"
        )
    return int(label)


def _check_within(corners: Array, size: ImageSize, place: str) -> None:
    far = np.flatnonzero((corners[:, 2] > size.width) | (corners[:, 3] > size.height))
    if len(far):
        box = ",".join(f"{value:g}" for value in corners[far[0]])
        raise DataError(
            f"{place}: the box {box} exceeds its image of {size.width}x{size.height} pixels (width x height)"
        )


def read_image(path: str) -> bytes:
    """The bytes of an image file, read as a whole, since a header may claim gigabytes. Raises `OSError`."""
    check_regular(path)
    with open(path, "rb") as file:
        if (size := os.fstat(file.fileno()).st_size) > LARGEST_FILE:
            raise ValueError(f"the file has {size} bytes, the limit is {LARGEST_FILE:,}")
        return file.read()


def wanted_size(settings: DecoderSettings, name: str) -> ImageSize | None:
    """The size that a source sets, None for that of the first image. Raises `DataError`, also for the background."""
    if len(settings.background_color) == 2:
        raise DataError(f"{name}: `background_color` has 2 values, expected 1 (gray) or 3 (red, green, blue)")
    height, width = settings.height, settings.width
    if height is None and width is None:
        return None
    if height is None or width is None:
        raise DataError(f"{name}: `width` requires `height`; set both, or only `height` for squares")
    if height * width > MOST_PIXELS:
        raise DataError(f"{name}: `height: {height} width: {width}` exceeds the limit of {MOST_PIXELS:,} pixels")
    return ImageSize(height, width)


def image_remedy(wanted: Shape, result: Shape, shape: Shape) -> str:
    """The fix for a data layer whose shape differs from that of the images after the transforms."""
    parts = []
    color = next((name for name, channels in CHANNELS.items() if channels == wanted[0]), None)
    if len(wanted) == 3 and wanted[0] != result[0] and color is not None:
        parts.append(f'`color: "{color}"`')
    if len(wanted) == 3 and wanted[1:] != result[1:] and result[1:] == shape[1:]:
        parts.append(f"`height: {wanted[1]} width: {wanted[2]}`")
    there = f"set {declared(result)} in the data layer"
    if len(wanted) == 3 and wanted[0] != result[0] and color is None:
        return f"{there}; images have 1 or 3 channels"
    if not parts:
        return there
    crops = len(wanted) == 3 and all(map(operator.lt, wanted[1:], result[1:]))
    crop = "; if other sources have a transform `crop`, add it here" if crops else ""
    return f"write {' '.join(parts)} in the source, or {there}{crop}"


def declared(shape: Shape) -> str:
    """Type of a data layer of this shape."""
    return f"`shape: [{', '.join(map(str, shape))}]`"
