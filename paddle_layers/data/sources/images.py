"""Sources of images, read lazily: folders, lists, LMDB databases."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from array import array
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paddle_layers.define import Choice, Int, Ints, String, Strings, source
from paddle_layers.define.decimals import is_integer, number_of
from paddle_layers.define.errors import suggestion

from ..columns import WordColumn
from ..dataset import Dataset
from ..formats.files import files_in, folder_of, inside
from ..formats.image_columns import ListedBoxes, Place, box_columns, image_column, map_column, read_image
from ..formats.image_decoder import ENDINGS
from ..formats.text_lines import read_lines
from ..lazy_columns import StoredColumn
from ..problems import DataError

ANYWHERE = 'to allow it, write `folder: "/"` in the source, and absolute paths in the list'
"""The fix for a listed file outside of the folder."""


class ImageSettings:
    """Settings that the sources of images share."""

    color = Choice(
        "color channels of an image",
        options={"rgb": "red, green, blue", "bgr": "blue, green, red, as in Caffe", "grey": "one channel"},
        default="rgb",
    )
    height = Int("height in pixels that images are resized to; absent: that of the first image", optional=True, min=1)
    width = Int("width in pixels that images are resized to", optional=True, default_from="height", min=1)
    fit = Choice(
        "resizing of an image with another aspect ratio",
        options={
            "stretch": "the aspect ratio changes",
            "crop": "resized until it covers the size, then center-cropped",
            "pad": "resized until it fits, then padded with black",
        },
        default="stretch",
    )
    background_color = Ints(
        "background of transparent pixels, from 0 to 255: one value, or red, green and blue, whatever `color`; "
        "white by default",
        default=(255,),
        min=0,
        max=255,
        min_items=1,
        max_items=3,
    )


class _ImageSource(ImageSettings, ABC):
    """Sources of image files."""

    def open(self, base: Path) -> Dataset:
        """The images; only the header of the first is read."""
        return self.open_fields(base, None)

    @abstractmethod
    def open_fields(self, base: Path, wanted: Container[str] | None) -> Dataset:
        """As `open`, but only the fields in `wanted`."""


@source(
    "image_folder",
    elsewhere={"Keras": "image_dataset_from_directory", "PyTorch": "ImageFolder"},
    terms=("image folder", "image classification", "image directory"),
)
class ImageFolder(_ImageSource):
    """Image folder: one folder of image files per class.

    Fields: `image` (channels, height, width; integers from 0 to 255) and `label`. Classes get their ids in alphabetical
    order, or in the order of `classes`, and are stored beside the weights. Images (jpg, png, bmp, gif, webp, ppm) may
    be in folders within those of a class; other files, and names that begin with a dot, are ignored. The EXIF
    orientation is applied; an image has at most 8192x8192 pixels. For predictions, which need no label, any folder of
    images is accepted. Needs Pillow: `pip install 'paddle-layers[images]'`.
    """

    folder = String("folder with one folder per class, relative to the training file")
    classes = Strings(
        "folders of the classes in the order of their ids; absent: all, in alphabetical order", default=()
    )

    def names(self, base: Path) -> dict[str, tuple[str, ...]]:
        """The names of classes that are listed."""
        return {"label": self.classes} if self.classes else {}

    def open_fields(self, base: Path, wanted: Container[str] | None) -> Dataset:
        """As `open`; without `label` the images of the whole folder."""
        labelled, file = wanted is None or "label" in wanted, base / self.folder
        if not labelled and file.is_file():
            return self._dataset(file.parent, [file.name], {}, {})
        folder = folder_of(base, self.folder)
        if not labelled:
            names = files_in(folder, ENDINGS)
            if not names:
                raise DataError(_empty(folder))
            return self._dataset(folder, names, {}, {})
        classes = self._classes(folder)
        names, labels = [], array("q")
        for label, name in enumerate(classes):
            found = files_in(folder / name, ENDINGS)
            if not found:
                raise DataError(f"{_empty(folder / name)}; add some, or remove the folder")
            names += [f"{name}/{one}" for one in found]
            labels.extend([label] * len(found))
        ids = np.frombuffer(labels, np.int64)
        if self.classes:
            return self._dataset(folder, names, {"label": ids}, {"label": classes})
        return self._dataset(folder, names, {"label": WordColumn([classes[label] for label in labels])}, {})

    def _classes(self, folder: Path) -> Sequence[str]:
        there = sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
        loose = next((path for path in sorted(folder.iterdir()) if path.suffix.lower() in ENDINGS), None)
        if not there:
            raise DataError(f"{folder} has no folders; store the images of each class in a folder of its name")
        if loose is not None and loose.is_file():
            raise DataError(f"{loose} is not in the folder of a class; move it to one of {_listed(there)}")
        for name in self.classes:
            if name not in there:
                raise DataError(f"{folder} has no folder `{name}` of `classes`{suggestion(name, there)}")
        more = [name for name in there if name not in self.classes]
        if self.classes and more:
            raise DataError(f"folder `{more[0]}` of {folder} is not in `classes`: add it, or remove the folder")
        if len(set(self.classes)) < len(self.classes):
            raise DataError(f"{folder}: duplicate name in `classes`")
        return self.classes or there

    def _dataset(
        self, folder: Path, names: Sequence[str], labels: dict[str, Any], words: dict[str, Sequence[str]]
    ) -> Dataset:
        def path(row: int) -> str:
            return f"{folder}/{names[row]}"

        images = image_column("image_folder", self, len(names), path, lambda row: read_image(path(row)))
        dataset = Dataset({"image": images, **labels}, origin=str(folder), place=path, words=words)
        dataset.file_of = path
        return dataset


@source(
    "image_list",
    elsewhere={"Caffe": "ImageData", "MXNet": "ImageIter"},
    terms=("image list", "semantic segmentation", "object detection", "bounding boxes", "label map"),
)
class ImageList(_ImageSource):
    """Image list: a file with the name of an image and its label, label map or bounding boxes on each line.

    The label follows the last space or tab.

    With `labels: "map"` (semantic segmentation) it is the name of a second image of the same size whose pixels are ids:
    palette indices or gray values. It is resized like the image, to the nearest pixel.

    With `labels: "boxes"` (object detection) any number of boxes `x1,y1,x2,y2,class` follows the name: the left, upper,
    right and lower edge in pixels of the image, fractions allowed. The name ends at the first tab, or, in a line
    without tabs, at the first space. Boxes are resized with the images; with `fit: "crop"` those whose center is cut
    off are removed.

    Fields: `image` (channels, height, width; integers from 0 to 255) and `label`, an integer, or, for regression, any
    number, or a word: the ids of words are those of `classes`, else they come from the training data in alphabetical
    order and are stored beside the weights. With boxes these are sequences: `box`, the corners x1, y1, x2, y2 relative
    to the image's width and height, and `label`, the class of each; words need `classes`, whose first one is the
    background for the layers of detection.

    Listed files have to be in the `folder`: an untrusted list cannot select other files. For absolute paths write
    `folder: "/"`. Needs Pillow: `pip install 'paddle-layers[images]'`.
    """

    file = String("path of the list, relative to the training file")
    folder = String(
        "folder that the names are relative to, itself to the training file; absent: the list's", default=""
    )
    labels = Choice(
        "content after the name of an image",
        options={
            "class": "the class of the image",
            "map": "the name of a label map: an image of ids, one per pixel",
            "boxes": "bounding boxes of objects in the image, each with its class",
        },
        default="class",
    )
    label_fill = Int("id of padded pixels in a label map", default=0, min=0, max=255)
    classes = Strings(
        "class names of the labels in the order of their ids; absent: all numbers, or all words", default=()
    )

    def names(self, base: Path) -> dict[str, tuple[str, ...]]:
        """The names of classes that are listed."""
        return {"label": self.classes} if self.classes else {}

    def open_fields(self, base: Path, wanted: Container[str] | None) -> Dataset:
        """As `open`; if no label is requested, lines need none."""
        path = base / self.file
        folder = folder_of(base, self.folder) if self.folder else path.parent
        labelled = wanted is None or "label" in wanted or "box" in wanted
        names: list[str] = []
        texts: list[str] = []
        lines = array("q")
        for line, text in read_lines(path):
            if not text.strip():
                continue
            name, label = _name_first(text) if self.labels == "boxes" else _label_last(text.strip(), labelled=labelled)
            if labelled and not label and self.labels != "boxes":
                raise DataError(f"{path}:{line}: missing label; write it after the name, separated by a space")
            names.append(inside(folder, name, f"{path}:{line}", ANYWHERE))
            texts.append(label)
            lines.append(line)
        if not names:
            raise DataError(f"{path} lists no images")

        def place(row: int) -> str:
            return f"{path}:{lines[row]}"

        images = image_column(
            "image_list",
            self,
            len(names),
            lambda row: f"{place(row)}: {names[row]}",
            lambda row: read_image(names[row]),
        )
        labels = self._labels(texts, names, images, folder, place) if labelled else {}
        known = {"label": self.classes} if self.classes else {}
        dataset = Dataset({"image": images, **labels}, origin=str(path), place=place, words=known)
        dataset.file_of = names.__getitem__
        return dataset

    def _labels(
        self, texts: Sequence[str], names: Sequence[str], images: StoredColumn, folder: Path, place: Place
    ) -> dict[str, Any]:
        """The fields of the labels, maps or boxes after the names."""
        if self.labels == "boxes":
            boxes = ListedBoxes(texts, self.classes, place)
            return dict(box_columns("image_list", self, boxes, names, images, place))
        if self.labels == "map":
            maps = [inside(folder, text, place(row), ANYWHERE) for row, text in enumerate(texts)]
            column = map_column("image_list", self, images, self.label_fill, place, lambda row: (names[row], maps[row]))
            return {"label": column}
        return {"label": self._ids(texts, place)}

    def _ids(self, words: Sequence[str], place: Place) -> Any:
        if self.classes:
            ids = {word: number for number, word in enumerate(self.classes)}
            for row, word in enumerate(words):
                if word not in ids:
                    raise DataError(f"{place(row)}: unknown label {word!r}, not in `classes`: {_listed(self.classes)}")
            return np.array([ids[word] for word in words], np.int64)
        if all(map(is_integer, words)):
            return np.array(list(map(int, words)), np.int64)
        numbers = [number_of(word) for word in words]
        if None not in numbers:
            return np.array(numbers, np.float64)
        odd = next((row for row, number in enumerate(numbers) if number is not None and math.isfinite(number)), None)
        if odd is not None:
            other = numbers.index(None)
            raise DataError(
                f"{place(other)}: the label {words[other]!r} is a word, but others in this list are numbers, "
                f"such as {words[odd]}; use either words or numbers"
            )
        return WordColumn(list(words))


@source("lmdb", elsewhere={"Caffe": "Data"}, terms=("LMDB",))
class Lmdb(ImageSettings):
    """LMDB database of Caffe `Datum` records, in the order of their keys.

    Fields: `image` (channels, height, width) and `label`. Pixels are integers from 0 to 255, or floats if the records
    contain such; all records have the size of the first. `color`, `height`, `width` and `fit` apply to records that
    contain image files (`convert_imageset --encoded`), which need Pillow: `pip install 'paddle-layers[images]'`. The
    others are returned as stored, by Caffe's tools as blue, green, red. The `lmdb` library is not needed, and damaged
    files are rejected, while it would crash the process.
    """

    file = String("path of the database, a folder with `data.mdb` or such a file, relative to the training file")

    def open(self, base: Path) -> Dataset:
        """The records, found by their keys; none of them is read but the first."""
        from ..formats.lmdb import Datums, LmdbFile

        return Datums("lmdb", LmdbFile(base / self.file), self).dataset()


def _label_last(text: str, *, labelled: bool) -> tuple[str, str]:
    """Name and label; a name may contain spaces.

    If no label is requested, a string with an image extension is a name.
    """
    name, _, label = text.rpartition("\t" if "\t" in text else " ")
    if not name or (not labelled and Path(text).suffix.lower() in ENDINGS):
        return text, ""
    return name.strip(), label.strip()


def _name_first(text: str) -> tuple[str, str]:
    """Name, and the boxes after it; in a line with a tab the name may contain spaces."""
    name, _, boxes = text.partition("\t") if "\t" in text else text.strip().partition(" ")
    return name.strip(), boxes.strip()


def _empty(folder: Path) -> str:
    return f"{folder} has no images (jpg, png, bmp, gif, webp, ppm)"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:8]) + (", ..." if len(names) > 8 else "")
