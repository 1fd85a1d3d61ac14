"""Image files: decoding, EXIF orientation, alpha compositing, resizing."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.errors import first_line

from ..problems import DataError, optional_module

Array = NDArray[Any]

FORMATS = ("JPEG", "PNG", "BMP", "GIF", "WEBP", "PPM")
"""The image formats among those that Pillow reads.

Some of the others start programs, and TIFF's library writes its errors to the terminal unescaped.
"""

ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".ppm", ".pgm"})
"""File extensions of images in a folder, in lower case."""

MOST_PIXELS = 2**26
"""Maximum number of pixels: 8192 by 8192. A file of a few bytes may claim any size."""

CHANNELS = {"rgb": 3, "bgr": 3, "grey": 1}
_MODES = {"rgb": "RGB", "bgr": "RGB", "grey": "L"}

_ALPHA = frozenset({"LA", "PA", "RGBA", "La", "RGBa"})
"""Modes of Pillow with an alpha channel; `a` is premultiplied."""
_KEYED = frozenset({"1", "L", "P", "RGB"})
"""Modes in which a color, or colors of the palette, may mean transparent pixels."""

_STARTS = {
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
    b"II+\0": "BigTIFF",
    b"MM\0+": "BigTIFF",
    b"\0\0\0\x0cjP  ": "JPEG 2000",
    b"\xff\x4f\xff\x51": "JPEG 2000",
    b"\0\0\0\x0cJXL ": "JPEG XL",
    b"\xff\x0a": "JPEG XL",
    b"8BPS": "Photoshop",
    b"\0\0\x01\0": "an icon",
    b"%!PS": "PostScript",
    b"%PDF": "PDF",
    b"<svg": "SVG",
    b"<?xml": "SVG, or other XML",
    b"DDS ": "DirectDraw Surface",
    b"\x76\x2f\x31\x01": "OpenEXR",
    b"SIMPLE  =": "FITS",
}
"""First bytes of unsupported formats, which messages name."""
_BRANDS = {b"avif": "AVIF", b"avis": "AVIF", b"heic": "HEIC", b"heix": "HEIC", b"mif1": "HEIF", b"msf1": "HEIF"}
_FIRST = 16
"""Bytes that are looked at."""


class DecoderSettings(Protocol):
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


class ImageSize(NamedTuple):
    """Rows and columns of pixels."""

    height: int
    width: int

    def __str__(self) -> str:
        return f"{self.height}x{self.width}"


class ImageCrop(NamedTuple):
    """A crop of an image, and its position in the result, which is black around it."""

    of: ImageSize
    box: tuple[int, int, int, int]
    """The first column and row, and the end column and row (exclusive)."""
    corner: tuple[int, int]
    """Column and row where it begins in the result."""
    size: tuple[int, int]
    """Columns and rows that it has there."""


@cache
def pillow(source: str) -> Any:
    """The module `PIL.Image`, for a source. Raises `DataError` where it is not installed."""
    module = optional_module("PIL.Image", "Pillow", "images", f"the source `{source}`")
    warnings.filterwarnings("ignore", module=r"PIL\.")  # what matters of these is refused below
    return module


class Decoder:
    """Decodes image files into arrays, of `size` if it is given. `what` names the source that needs Pillow."""

    def __init__(self, what: str, settings: DecoderSettings, size: ImageSize | None) -> None:
        self._image = pillow(what)
        self._transposed = optional_module("PIL.ImageOps", "Pillow", "images", f"the source `{what}`").exif_transpose
        self.color, self.fit, self.size = settings.color, settings.fit, size
        self._background = settings.background_color

    def shape(self, name: str, content: Callable[[], bytes]) -> ImageSize:
        """The size of an image after EXIF rotation, read from its header. Raises `DataError`."""
        with _Refused(name, content), self._image.open(io.BytesIO(content()), formats=FORMATS) as image:
            self._check(image, name)
            turned = image.getexif().get(0x0112, 1) in {5, 6, 7, 8}  # the orientation: on its side
            return ImageSize(image.width, image.height) if turned else ImageSize(image.height, image.width)

    def array(self, name: str, content: Callable[[], bytes], crop: ImageCrop | None = None) -> Array:
        """An image, or a crop of it, as bytes of shape (channels, height, width).

        Raises `DataError` with the name of the unreadable file.
        """
        with _Refused(name, content), self._image.open(io.BytesIO(content()), formats=FORMATS) as image:
            self._check(image, name)
            if self.size is not None and crop is None:  # JPEG may be decoded to half the size or less: faster
                most = 2 * max(self.size)
                image.draft(None, (most, most))
            flat = opaque(_eight_bits(self._transposed(image)), self._background, self._image)
            whole, how = flat.convert(_MODES[self.color]), self._image.Resampling
            resized = self._resized(whole, how.BILINEAR) if crop is None else self._cropped(whole, crop, name)
            pixels: Array = np.asarray(resized)
        if self.color == "bgr":
            pixels = pixels[:, :, ::-1]
        return np.ascontiguousarray(pixels.transpose(2, 0, 1)) if pixels.ndim == 3 else pixels[None]

    def ids(self, name: str, content: Callable[[], bytes], original: ImageSize, fill: int) -> Array:
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
            size = ImageSize(found.height, found.width)
            if size != original:
                raise DataError(
                    f"{name}: the label map has {size} pixels, but its image {original}; the sizes must be equal"
                )
            return np.asarray(self._resized(found, self._image.Resampling.NEAREST, fill)).astype(np.uint8)

    def _check(self, image: Any, name: str) -> None:
        if image.width * image.height > MOST_PIXELS:
            raise DataError(
                f"{name}: the image has {image.height}x{image.width} pixels, the limit is {MOST_PIXELS:,}; "
                "reduce its size"
            )

    def _cropped(self, image: Any, crop: ImageCrop, name: str) -> Any:
        assert self.size is not None, "crops have a size"
        size = ImageSize(image.height, image.width)
        if size != crop.of:
            raise DataError(f"{name}: the image has {size} pixels, but {crop.of} in the list")
        made = self._image.new(image.mode, (self.size.width, self.size.height))
        made.paste(image.crop(crop.box).resize(crop.size, self._image.Resampling.BILINEAR), crop.corner)
        return made

    def shares(self, corners: Array, original: ImageSize) -> Array:
        """Corners x1, y1, x2, y2 in pixels of an image of that size, relative to the size of the resulting image."""
        left, top, right, bottom = self._shown(original)
        shares: Array = (corners - [left, top, left, top]) / [right - left, bottom - top, right - left, bottom - top]
        return shares

    def _shown(self, original: ImageSize) -> tuple[float, float, float, float]:
        """The visible part of an image: left, top, right and bottom in its pixels, outside of it where it is padded."""
        if self.size is None or self.fit == "stretch":
            return 0, 0, original.width, original.height
        if self.fit == "crop":
            share = max(self._ratios(original))
            cut = self.size.width / share, self.size.height / share
            left, top = (original.width - cut[0]) / 2, (original.height - cut[1]) / 2
            return max(left, 0), max(top, 0), min(left + cut[0], original.width), min(top + cut[1], original.height)
        left, top, width, height = self._within(original)
        across, down = original.width / width, original.height / height
        return -left * across, -top * down, (self.size.width - left) * across, (self.size.height - top) * down

    def _within(self, original: ImageSize) -> tuple[int, int, int, int]:
        """The position of a padded image in the result: its first column and row, and its width and height."""
        assert self.size is not None, "padded to a size"
        share = min(self._ratios(original))
        width, height = max(1, round(original.width * share)), max(1, round(original.height * share))
        return (self.size.width - width) // 2, (self.size.height - height) // 2, width, height

    def _ratios(self, original: ImageSize) -> tuple[float, float]:
        assert self.size is not None, "resized to a size"
        return self.size.width / original.width, self.size.height / original.height

    def _resized(self, image: Any, how: Any, fill: int = 0) -> Any:
        original = ImageSize(image.height, image.width)
        if self.size is None or original == self.size:
            return image
        target = self.size.width, self.size.height
        if self.fit != "pad":
            return image.resize(target, how, self._shown(original))
        left, top, width, height = self._within(original)
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
    return _grey_with_key(values, image.info.get("transparency"), pillow(""))


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
                why = _unread_format(self._content()[:_FIRST])
            raise DataError(f"{self.name}: cannot read the image: {why.replace(self.name, 'it')[:200]}") from None


def _unread_format(first: bytes) -> str:
    """Message for an unsupported image file: its format, if the first bytes show it."""
    found = next((kind for start, kind in _STARTS.items() if first.startswith(start)), "")
    if first[4:8] == b"ftyp":
        found = _BRANDS.get(first[8:12], "")
    return f"{found} is not supported; save the image as PNG or JPEG" if found else "not an image, or corrupt"


def opaque(image: Any, color: Sequence[int], pillow: Any) -> Any:
    """An image of 8 bits over a background color, one value for gray or three; unchanged where it has no alpha.

    Without compositing the color below transparent pixels shows, which is invisible and arbitrary in most files: black
    text on a transparent background becomes black on black.
    """
    key = image.info.get("transparency") if image.mode in _KEYED else None
    if image.mode not in _ALPHA and key is None:
        return image
    if image.mode in {"La", "RGBa"}:
        image = image.convert(image.mode.upper())
    elif key is not None and image.mode != "P":
        image = _with_key(image, key, pillow)
    layers = image.convert("RGBA")
    below = pillow.new("RGBA", layers.size, (*(color if len(color) == 3 else tuple(color) * 3), 255))
    return pillow.alpha_composite(below, layers).convert("RGB")


def _grey_with_key(values: Any, key: object, pillow: Any) -> Any:
    """Grey values of 16 bits as 8, transparent where they are the key."""
    grey = pillow.fromarray((values >> 8).astype(np.uint8))
    if not isinstance(key, int):
        return grey
    return pillow.merge("LA", (grey, pillow.fromarray(np.where(values == key, 0, 255).astype(np.uint8))))


def _with_key(image: Any, key: Any, pillow: Any) -> Any:
    """An image with an alpha channel instead of the color that means transparent.

    The key of an image of 16 bits per channel has 16 bits, while Pillow has read the upper eight of each pixel.
    """
    values = np.asarray(image.convert("L") if image.mode == "1" else image)
    wanted = np.array(key if isinstance(key, tuple) else (key,))
    wanted = 255 * (wanted > 0) if image.mode == "1" else wanted >> 8 if wanted.max() > 255 else wanted
    clear = (values.reshape(*values.shape[:2], -1) == wanted).all(axis=2)
    layers = image.convert("RGBA")
    layers.putalpha(pillow.fromarray(np.where(clear, 0, 255).astype(np.uint8)))
    return layers
