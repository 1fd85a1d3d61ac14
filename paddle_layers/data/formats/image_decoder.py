"""Image files: decoding, EXIF orientation, resizing."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.errors import first_line

from ..columns import Rows
from ..lazy_columns import BadRecords, StoredColumn, read_each
from ..problems import DataError
from .extras import optional_module
from .files import check_regular
from .transparency import grey_with_key, opaque
from .unread_images import FIRST, unread_format

Array = NDArray[Any]
Shape = tuple[int, ...]

FORMATS = ("JPEG", "PNG", "BMP", "GIF", "WEBP", "PPM")
"""The image formats among those that Pillow reads.

Some of the others start programs, and TIFF's library writes its errors to the terminal unescaped.
"""

ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".ppm", ".pgm"})
"""File extensions of images in a folder, in lower case."""

LARGEST_FILE = 2**28
"""Maximum size of an image file in bytes."""

MOST_PIXELS = 2**26
"""Maximum number of pixels: 8192 by 8192. A file of a few bytes may claim any size."""

CHANNELS = {"rgb": 3, "bgr": 3, "grey": 1}
_MODES = {"rgb": "RGB", "bgr": "RGB", "grey": "L"}


class Settings(Protocol):
    """Settings of the image sources."""

    color: str
    fit: str
    background_color: tuple[int, ...]

    @property
    def height(self) -> int | None:
        """Height in pixels; None for that of the first image."""
        ...

    @property
    def width(self) -> int | None:
        """Width in pixels; None for that of the first image."""
        ...


class Size(NamedTuple):
    """Rows and columns of pixels."""

    height: int
    width: int

    def __str__(self) -> str:
        return f"{self.height}x{self.width}"


class Part(NamedTuple):
    """A crop of an image, and its position in the result, which is black around it."""

    of: Size
    box: tuple[int, int, int, int]
    """The first column and row, and the end column and row (exclusive)."""
    corner: tuple[int, int]
    """Column and row where it begins in the result."""
    size: tuple[int, int]
    """Columns and rows that it has there."""


@cache
def pillow(source: str) -> Any:
    """The module `PIL.Image`, for a source. Raises `DataError` where it is not installed."""
    module = optional_module("PIL.Image", "Pillow", "images", source)
    warnings.filterwarnings("ignore", module=r"PIL\.")  # what matters of these is refused below
    return module


class Decoder:
    """Decodes image files into arrays, of `size` if it is given. `what` names the source that needs Pillow."""

    def __init__(self, what: str, settings: Settings, size: Size | None) -> None:
        self._image = pillow(what)
        self._transposed = optional_module("PIL.ImageOps", "Pillow", "images", what).exif_transpose
        self.color, self.fit, self.size = settings.color, settings.fit, size
        self._background = settings.background_color

    def shape(self, name: str, content: Callable[[], bytes]) -> Size:
        """The size of an image after EXIF rotation, read from its header. Raises `DataError`."""
        with _Refused(name, content), self._image.open(io.BytesIO(content()), formats=FORMATS) as image:
            self._check(image, name)
            turned = image.getexif().get(0x0112, 1) in {5, 6, 7, 8}  # the orientation: on its side
            return Size(image.width, image.height) if turned else Size(image.height, image.width)

    def array(self, name: str, content: Callable[[], bytes], part: Part | None = None) -> Array:
        """An image, or a crop of it, as bytes of shape (channels, height, width).

        Raises `DataError` with the name of the unreadable file.
        """
        with _Refused(name, content), self._image.open(io.BytesIO(content()), formats=FORMATS) as image:
            self._check(image, name)
            if self.size is not None and part is None:  # JPEG may be decoded to half the size or less: faster
                most = 2 * max(self.size)
                image.draft(None, (most, most))
            flat = opaque(self._transposed(_eight_bits(image)), self._background, self._image)
            whole, how = flat.convert(_MODES[self.color]), self._image.Resampling
            picture = self._resized(whole, how.BILINEAR) if part is None else self._cut(whole, part, name)
            pixels: Array = np.asarray(picture)
        if self.color == "bgr":
            pixels = pixels[:, :, ::-1]
        return np.ascontiguousarray(pixels.transpose(2, 0, 1)) if pixels.ndim == 3 else pixels[None]

    def ids(self, name: str, content: Callable[[], bytes], picture: Size, fill: int) -> Array:
        """The label map of an image of that size, shape (height, width): palette indices or gray values.

        Resized to the nearest pixel if the size differs, and `fill` outside of the image. Raises `DataError`.
        """
        with _Refused(name, content), self._image.open(io.BytesIO(content()), formats=FORMATS) as image:
            self._check(image, name)
            if image.mode not in {"1", "L", "P"} or image.format == "JPEG":
                kind = f"{image.format} of mode {image.mode}"
                raise DataError(
                    f"{name}: the label map is a {kind}; use a lossless image with one value per pixel, such "
                    "as a palette or grayscale PNG"
                )
            found = self._transposed(image)
            size = Size(found.height, found.width)
            if size != picture:
                raise DataError(
                    f"{name}: the label map has {size} pixels, but its image {picture}; the sizes must be equal"
                )
            return np.asarray(self._resized(found, self._image.Resampling.NEAREST, fill)).astype(np.uint8)

    def _check(self, image: Any, name: str) -> None:
        if image.width * image.height > MOST_PIXELS:
            raise DataError(
                f"{name}: the image has {image.height}x{image.width} pixels, the limit is {MOST_PIXELS:,}; "
                "reduce its size"
            )

    def _cut(self, image: Any, part: Part, name: str) -> Any:
        assert self.size is not None, "crops have a size"
        size = Size(image.height, image.width)
        if size != part.of:
            raise DataError(f"{name}: the image has {size} pixels, but {part.of} in the list")
        made = self._image.new(image.mode, (self.size.width, self.size.height))
        made.paste(image.crop(part.box).resize(part.size, self._image.Resampling.BILINEAR), part.corner)
        return made

    def shares(self, corners: Array, picture: Size) -> Array:
        """Corners x1, y1, x2, y2 in pixels of an image of that size, relative to the size of the resulting image."""
        left, top, right, bottom = self._shown(picture)
        shares: Array = (corners - [left, top, left, top]) / [right - left, bottom - top, right - left, bottom - top]
        return shares

    def _shown(self, picture: Size) -> tuple[float, float, float, float]:
        """The visible part of an image: left, top, right and bottom in its pixels, outside of it where it is padded."""
        if self.size is None or self.fit == "stretch":
            return 0, 0, picture.width, picture.height
        if self.fit == "crop":
            share = max(self._ratios(picture))
            cut = self.size.width / share, self.size.height / share
            left, top = (picture.width - cut[0]) / 2, (picture.height - cut[1]) / 2
            return max(left, 0), max(top, 0), min(left + cut[0], picture.width), min(top + cut[1], picture.height)
        left, top, width, height = self._within(picture)
        across, down = picture.width / width, picture.height / height
        return -left * across, -top * down, (self.size.width - left) * across, (self.size.height - top) * down

    def _within(self, picture: Size) -> tuple[int, int, int, int]:
        """The position of a padded image in the result: its first column and row, and its width and height."""
        assert self.size is not None, "padded to a size"
        share = min(self._ratios(picture))
        width, height = max(1, round(picture.width * share)), max(1, round(picture.height * share))
        return (self.size.width - width) // 2, (self.size.height - height) // 2, width, height

    def _ratios(self, picture: Size) -> tuple[float, float]:
        assert self.size is not None, "resized to a size"
        return self.size.width / picture.width, self.size.height / picture.height

    def _resized(self, image: Any, how: Any, fill: int = 0) -> Any:
        picture = Size(image.height, image.width)
        if self.size is None or picture == self.size:
            return image
        target = self.size.width, self.size.height
        if self.fit != "pad":
            return image.resize(target, how, self._shown(picture))
        left, top, width, height = self._within(picture)
        padded = self._image.new(image.mode, target, fill)
        padded.paste(image.resize((width, height), how), (left, top))
        return padded


def _eight_bits(image: Any) -> Any:
    """Grey values of 16 bits as 8; Pillow would cut off what is above 255."""
    return _from_sixteen(image) if image.mode.startswith("I;16") or image.mode in {"I", "F"} else image


def _from_sixteen(image: Any) -> Any:
    values = np.asarray(image)
    if values.dtype.kind == "f" or values.min() < 0 or values.max() >= 2**16:
        raise ValueError(f"pixels are {values.dtype} from {values.min():g} to {values.max():g}, expected 0 to 65535")
    return grey_with_key(values, image.info.get("transparency"), pillow(""))


class _Refused:
    """Converts exceptions of Pillow, other than lack of memory, to a one-line `DataError`."""

    def __init__(self, name: str, content: Callable[[], bytes]) -> None:
        self.name, self._content = name, content

    def __enter__(self) -> None:
        """Nothing."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, (DataError, MemoryError)):
            why = error.strerror if isinstance(error, OSError) and error.strerror else first_line(error)
            if why.startswith("cannot identify image file"):
                why = unread_format(self._content()[:FIRST])
            raise DataError(f"{self.name}: cannot read the image: {why.replace(self.name, 'it')[:200]}") from None


def picture_column(
    what: str,
    settings: Settings,
    count: int,
    name: Callable[[int], str],
    content: Callable[[int], bytes],
    part: Callable[[int], Part] | None = None,
) -> StoredColumn:
    """The lazy column of the images of a source: `content(row)` returns the bytes of a file, `name(row)` its name.

    If `part` is given, the crop `part(row)` is used. Raises `DataError`.
    """
    wanted = wanted_size(settings, name(0))
    size = wanted or Decoder(what, settings, None).shape(name(0), partial(content, 0))
    decoder = Decoder(what, settings, wanted)
    shape = (CHANNELS[settings.color], *size)

    def one(row: int) -> Array:
        try:
            pixels = decoder.array(name(row), partial(content, row), part and part(row))
        except DataError as error:
            raise BadRecords({row: str(error)}) from None
        if pixels.shape != shape:
            raise DataError(
                f"{name(row)}: the image has {Size(*pixels.shape[1:])} pixels, but the first one {size}; "
                f"write `height: {size.height} width: {size.width}` in the source to resize all images"
            )
        return pixels

    def read(rows: Rows) -> Array:
        return np.stack(read_each(rows, one)) if len(rows) else np.empty((0, *shape), np.uint8)

    return StoredColumn(read, count, shape, np.uint8, remedy=picture_remedy)


def map_column(
    what: str,
    settings: Settings,
    pictures: StoredColumn,
    fill: int,
    place: Callable[[int], str],
    files: Callable[[int], tuple[str, str]],
) -> StoredColumn:
    """The label maps of `pictures`: `files(row)` are those of an image and its map, `place(row)` names them.

    Resized like the images, to the nearest pixel.
    """
    shape = pictures.shape[2:]
    decoder = Decoder(what, settings, Size(*shape))

    def one(row: int) -> Array:
        picture, ids = files(row)
        try:
            size = decoder.shape(f"{place(row)}: {picture}", partial(read_picture, picture))
            return decoder.ids(f"{place(row)}: {ids}", partial(read_picture, ids), size, fill)
        except DataError as error:
            raise BadRecords({row: str(error)}) from None

    def read(rows: Rows) -> Array:
        return np.stack(read_each(rows, one)) if len(rows) else np.empty((0, *shape), np.uint8)

    return StoredColumn(read, len(pictures), shape, np.uint8)


def read_picture(path: str) -> bytes:
    """The bytes of an image file, read as a whole, since a header may claim gigabytes. Raises `OSError`."""
    check_regular(path)
    with open(path, "rb") as file:
        if (size := os.fstat(file.fileno()).st_size) > LARGEST_FILE:
            raise ValueError(f"the file has {size} bytes, the limit is {LARGEST_FILE:,}")
        return file.read()


def wanted_size(settings: Settings, name: str) -> Size | None:
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
    return Size(height, width)


def picture_remedy(wanted: Shape, result: Shape, shape: Shape) -> str:
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
    return f"write {' '.join(parts)} in the source, or set {declared(result)} in the data layer" if parts else there


def declared(shape: Shape) -> str:
    """Type of a data layer of this shape."""
    return f"`shape: [{', '.join(map(str, shape))}]`"


def folder_of(base: Path, given: str) -> Path:
    """A folder that a source names. Raises `DataError` if it is not a folder."""
    path = base / given
    try:
        there = path.is_dir()
    except ValueError as error:  # a zero byte in the name
        raise DataError(f"cannot read {str(path)!r}: {error}") from None
    if not there:
        kind = "is a file" if path.is_file() else "does not exist"
        raise DataError(f"folder {path} {kind}; paths are relative to the training file")
    return path
