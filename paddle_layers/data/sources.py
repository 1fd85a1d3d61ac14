"""The built-in sources of data. A source's `open(base)` gives a `Dataset`; relative paths start at `base`.

A source may have `open_fields(base, wanted)`, too: the same with only the fields that are named, so that data without
labels can be read for predictions. `wanted` is None for all.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path

import numpy as np

from paddle_layers.define import Choice, String, Strings, source

from .dataset import Dataset
from .files import read_npy, read_npz
from .lines import Lines, read_dictionary
from .problems import DataError
from .tablecolumns import TableColumns
from .tables import Table

_DIGITS = Path(__file__).with_name("digits.npz")


@source("digits")
class Digits:
    """Optical recognition of handwritten digits: 1,797 grey images of 8 by 8 pixels, part of the package.

    Fields: `pixels` (1x8x8, whole numbers from 0 to 16) and `label` (the digit). One fifth, the same share of every
    digit, is held out for ever as the part `test`. UCI Machine Learning Repository, E. Alpaydin and C. Kaynak,
    CC BY 4.0.
    """

    part = Choice(
        "which rows",
        options={
            "train": "1,438 images to learn from",
            "test": "359 images that are held out",
            "all": "every image",
        },
    )

    def open(self, base: Path) -> Dataset:
        """The chosen part."""
        arrays = read_npz(_DIGITS)
        held_out = arrays["held_out"] == 1
        rows = {"train": ~held_out, "test": held_out, "all": np.ones(len(held_out), bool)}[self.part]
        origin = f"the {self.part} part of the digits" if self.part != "all" else "the digits"
        return Dataset({"pixels": arrays["pixels"][rows], "label": arrays["label"][rows]}, origin=origin)


@source("npz")
class Npz:
    """Arrays of an npz file: every array is a field, named as in the file; its first axis counts rows.

    Arrays written by `np.savez` are mapped into memory, so they may be larger than it; those of
    `np.savez_compressed` are read. Sequences are stored end to end: `words` and `words.starts` (nested:
    `words.sub_starts` too); sparse rows as `words.ids` and `words.starts`, with `words.values` unless these are ones.
    Files that need pickle are refused.
    """

    file = String("path of the file, relative to the training file")

    def open(self, base: Path) -> Dataset:
        """The arrays of the file."""
        path = base / self.file
        return Dataset(read_npz(path), origin=str(path))


@source("npy")
class Npy:
    """Arrays of npy files, mapped into memory; each field is named like its file without the ending."""

    file = Strings("paths of the files, relative to the training file", min_items=1)

    def open(self, base: Path) -> Dataset:
        """One field for each file."""
        paths = [base / name for name in self.file]
        arrays = {path.name.removesuffix(".npy"): read_npy(path) for path in paths}
        if len(arrays) < len(paths):
            raise DataError("two files of an `npy` source have the same name, but fields are named like their files")
        return Dataset(arrays, origin=", ".join(map(str, paths)))


@source("text")
class Text:
    """Lines of words: every line is a sequence of ids, by a dictionary, or by how often words are in the training data.

    Fields: `words`, sequences of ids, and with `classes` also `label`, the id of the word in front of the line's first
    tab. Words stand between spaces; empty lines are left out. Without a `dictionary` the words get their ids from the
    training data, the most frequent one the first, and are kept beside the weights; the id behind the last stands for
    all other words, if the `size` of the data layer has room for it.
    """

    file = String("path of the text, relative to the training file")
    dictionary = String("path of the dictionary: one word on each line, whose number, from 0, is the id", default="")
    unknown = String("word of the dictionary that stands for all that it lacks; absent: these are refused", default="")
    classes = Strings("words of the label in the order of their ids; absent: lines have no label", default=())

    def open(self, base: Path) -> Dataset:
        """The lines of the file."""
        return self.open_fields(base, None)

    def open_fields(self, base: Path, wanted: Container[str] | None) -> Dataset:
        """As `open`, but only the fields in `wanted`: where `label` is not, lines may be without."""
        ids = read_dictionary(base / self.dictionary) if self.dictionary else None
        if self.unknown and ids is None:
            raise DataError(f"{base / self.file}: `unknown` is a word of the dictionary, but there is no `dictionary`")
        if self.unknown and ids is not None and self.unknown not in ids:
            raise DataError(f"{base / self.dictionary}: there is no word `{self.unknown}`, which `unknown` names")
        labelled = bool(self.classes) and (wanted is None or "label" in wanted)
        unknown = (ids or {}).get(self.unknown)
        lines = Lines(base / self.file, ids, unknown, self.classes, labelled=labelled)
        if not len(lines.lines):
            raise DataError(f"{base / self.file} has no words; there is nothing to train on")
        labels = {"label": np.frombuffer(lines.labels, np.int64)} if labelled else {}
        words: dict[str, Sequence[str]] = {"label": self.classes}
        if ids is not None:
            words["words"] = list(ids)
        return Dataset({"words": lines.words, **labels}, origin=str(lines.path), place=lines.place, words=words)


@source("csv")
class Csv:
    """A text table: one row a line, numbers in every column but those that are said to hold words.

    Without `columns`, everything but the label, the columns of words and those that are left out becomes the field
    `features`. Words get their ids from the training data: the words of single cells in the order of the alphabet,
    those of text by how often they are there. The id behind the last stands for all other words, if the `size` of the
    data layer has room for it. The words, and the means that stand for empty cells, are kept beside the weights.
    """

    file = String("path of the file, relative to the training file")
    label = String("column of the label, by name or by number from 1; becomes the field `label`", default="")
    classes = Strings("words of the label column in the order of their ids; absent: labels are numbers", default=())
    columns = Strings(
        'fields and their columns, such as "size = width, height" or "pixels = 2-65"; "price" alone is both', default=()
    )
    ids = Strings(
        'columns of words, each a field of ids: "district", or "label = kind" for a field of that name', default=()
    )
    text = Strings("columns of text, each a field of sequences of ids; words stand between spaces", default=())
    leave_out = String('columns that are not read, such as "date, name"', default="")
    empty = Choice(
        "what becomes of empty cells",
        options={
            "refuse": "they are an error",
            "mean": "the mean that the column has in the training data; empty words are an error",
            "mark": "the mean, and behind the columns of a field come as many that are 1 where a cell was empty; "
            "of words, one more word",
        },
        default="refuse",
    )
    header = Choice(
        "whether the first line names the columns",
        options={"auto": "it does when none of its cells is a number", "yes": "it does", "no": "it is data"},
        default="auto",
    )
    delimiter = String("character between cells", default=",")

    def open(self, base: Path) -> Dataset:
        """The rows of the file."""
        return self.open_fields(base, None)

    def open_fields(self, base: Path, wanted: Container[str] | None) -> Dataset:
        """As `open`, but only the fields in `wanted`: the columns of the others may be missing."""
        path = base / self.file
        if len(self.delimiter) != 1:
            raise DataError(f"{path}: `delimiter` is {self.delimiter!r}, it has to be one character")
        if self.classes and not self.label:
            raise DataError(f"{path}: `classes` are the words of the label, so `label` has to name its column")
        table = Table(path, delimiter=self.delimiter, header=self.header)
        if not table.names:
            raise DataError(f"{path} has no rows; there is nothing to train on")
        columns = TableColumns(table, self, wanted)
        columns.read()
        if not len(table.lines):
            raise DataError(f"{path} has no rows; there is nothing to train on")
        words = {"label": self.classes} if self.classes else {}
        return Dataset(
            columns.fields(),
            origin=str(path),
            place=table.place,
            words=words,
            remedies=columns.remedies(),
            columns=columns.names(),
        )
