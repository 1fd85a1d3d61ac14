"""Image crops that a file lists: region proposals for R-CNN."""

from __future__ import annotations

import math
from array import array
from collections.abc import Container, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paddle_layers.define import Bool, Choice, Float, Int, String, source
from paddle_layers.define.decimals import number_of

from ..dataset import Dataset
from ..formats.files import folder_of, inside
from ..formats.image_columns import image_column, read_image
from ..formats.image_decoder import ImageCrop, ImageSize
from ..formats.text_lines import read_lines
from ..problems import DataError
from .images import ANYWHERE, ImageSettings

FIELDS = 6
"""Columns of a window: class, overlap, and the first and last column and row."""


class _ListedImage(NamedTuple):
    name: str
    size: ImageSize


@source("window_list", elsewhere={"Caffe": "WindowData"}, terms=("image crops", "region proposals", "R-CNN"))
class WindowList:
    """Window list of Caffe: resized crops of images, each with a class, for training R-CNN.

    An image has the lines `# number`, its name, its channels, its height, its width, and the number of its windows.
    Each window is a line `class overlap x1 y1 x2 y2`: the overlap with the object of that class, from 0 to 1, and the
    first and the last column and row. A window whose overlap is at least `foreground` has its class, from 1 on; one
    below `background` has class 0; others are ignored. With two such sources, `windows: "foreground"` with `ratio: 1`
    and `windows: "background"` with `ratio: 3`, a quarter of a batch is foreground, as in Caffe, where that is
    `fg_fraction`.

    Fields: `image` (channels, height, width; integers from 0 to 255), black where a window with context exceeds its
    image, and `label`. Mean subtraction changes the black as well; Caffe leaves 0 there. Names are relative to the
    `folder`, as in `image_list`. Girshick et al., "Rich feature hierarchies" (2014). Needs Pillow:
    `pip install 'paddle-layers[images]'`.
    """

    fit = "stretch"

    file = String("path of the list, relative to the training file")
    folder = String(
        "folder that the names are relative to, itself to the training file; absent: the list's", default=""
    )
    color = ImageSettings.color
    background_color = ImageSettings.background_color
    height = Int("height in pixels that windows are resized to", min=1)
    width = Int("width in pixels that windows are resized to", optional=True, default_from="height", min=1)
    context = Int("context on each side of the window, in pixels of the result", default=0, min=0)
    square = Bool("whether a window is extended to a square before it is resized: Caffe's `crop_mode`", default=False)
    windows = Choice(
        "windows that are used",
        options={"all": "both kinds", "foreground": "windows of objects", "background": "the others"},
        default="all",
    )
    foreground = Float("minimum overlap (IoU) of foreground windows, which have their class", default=0.5, min=0, max=1)
    background = Float("overlap (IoU) below which a window is background", default=0.5, min=0, max=1)

    def open(self, base: Path) -> Dataset:
        """The windows; no image is read."""
        return self.open_fields(base, None)

    def open_fields(self, base: Path, wanted: Container[str] | None) -> Dataset:
        """As `open`, but only the fields in `wanted`."""
        path = base / self.file
        if 4 * self.context > min(self.height, self.width):
            raise DataError(f"{path}: `context: {self.context}` on both sides exceeds half of the window; reduce it")
        folder = folder_of(base, self.folder) if self.folder else path.parent
        listed: list[_ListedImage] = []
        owners, labels, lines, boxes = array("q"), array("q"), array("q"), array("q")
        for line, image, label, overlap, box in _windows(path, folder):
            if listed[-1:] != [image]:
                listed.append(image)
            is_object = overlap >= self.foreground
            if not is_object and overlap >= self.background:
                continue
            if is_object and label < 1:
                raise DataError(f"{path}:{line}: a foreground window has class {label}, but 0 is the background")
            if self.windows != "all" and is_object != (self.windows == "foreground"):
                continue
            owners.append(len(listed) - 1)
            labels.append(label if is_object else 0)
            lines.append(line)
            boxes.extend(box)
        if not owners:
            kind = "" if self.windows == "all" else f' with `windows: "{self.windows}"`'
            raise DataError(f"{path} has no windows{kind}")

        def place(row: int) -> str:
            return f"{path}:{lines[row]}"

        images = image_column(
            "window_list",
            self,
            len(owners),
            lambda row: f"{place(row)}: {listed[owners[row]].name}",
            lambda row: read_image(listed[owners[row]].name),
            lambda row: self._crop(listed[owners[row]].size, boxes[4 * row : 4 * row + 4]),
        )
        fields = {"image": images, "label": np.frombuffer(labels, np.int64)}
        return Dataset(
            {name: fields[name] for name in fields if wanted is None or name in wanted}, origin=str(path), place=place
        )

    def _crop(self, original: ImageSize, box: array[int]) -> ImageCrop:
        """The crop of the source image, and its position in the result."""
        lengths = box[2] - box[0] + 1, box[3] - box[1] + 1
        sides = []
        for axis, (wanted, there) in enumerate(((self.width, original.width), (self.height, original.height))):
            length = max(lengths) if self.square else lengths[axis]
            reach = length / 2 * wanted / (wanted - 2 * self.context)
            middle = box[axis] + lengths[axis] / 2
            first, end = _rounded(middle - reach), _rounded(middle + reach)
            shown = max(first, 0), min(end, there)
            share = wanted / (end - first)
            at = min(_rounded((shown[0] - first) * share), wanted - 1)
            sides.append((shown, at, max(_rounded((shown[1] - first) * share), at + 1)))
        (columns, left, right), (rows, top, bottom) = sides
        return ImageCrop(
            original, (columns[0], rows[0], columns[1], rows[1]), (left, top), (right - left, bottom - top)
        )


def _rounded(value: float) -> int:
    return math.floor(value + 0.5)


def _windows(path: Path, folder: Path) -> Iterator[tuple[int, _ListedImage, int, float, tuple[int, ...]]]:
    """Line, image, class, overlap and corners of every window. Raises `DataError`."""
    lines = ((line, text.strip()) for line, text in read_lines(path) if text.strip())

    def after(what: str) -> tuple[int, str]:
        found = next(lines, None)
        if found is None:
            raise DataError(f"unexpected end of {path}, expected {what}")
        return found

    def count(what: str) -> int:
        line, text = after(what)
        return _whole(path, line, text, what)

    for line, text in lines:
        if not text.startswith("#"):
            raise DataError(f"{path}:{line}: expected `# number`, the start of an image, got {text[:40]!r}")
        place, name = after("the file name of an image")
        count("the number of channels")
        size = ImageSize(count("the height of an image"), count("the width of an image"))
        image = _ListedImage(inside(folder, name, f"{path}:{place}", ANYWHERE), size)
        for _ in range(count("the number of windows")):
            at, window = after("a window")
            yield at, image, *_window(path, at, window.split(), size)


def _window(path: Path, line: int, words: list[str], size: ImageSize) -> tuple[int, float, tuple[int, ...]]:
    if len(words) != FIELDS:
        raise DataError(f"{path}:{line}: expected `class overlap x1 y1 x2 y2`, got {len(words)} words")
    overlap = number_of(words[1])
    if overlap is None or not 0 <= overlap <= 1:
        raise DataError(f"{path}:{line}: invalid overlap {words[1][:40]!r}, expected a number from 0 to 1")
    label, *box = (_whole(path, line, word, "a value of a window") for word in (words[0], *words[2:]))
    if not (box[0] <= box[2] < size.width and box[1] <= box[3] < size.height):
        raise DataError(f"{path}:{line}: the window {' '.join(words[2:])} exceeds its image of {size} pixels")
    return label, overlap, tuple(box)


def _whole(path: Path, line: int, text: str, what: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise DataError(f"{path}:{line}: expected {what}, an integer, got {text[:40]!r}")
    return int(text)
