"""Tables of text."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from paddle_layers.define import Choice, String, Strings, source

from ..dataset import Dataset
from ..formats.csv_records import Dialect
from ..formats.indexed_lines import is_large
from ..formats.large_tables import LargeTable
from ..formats.positioned_files import PositionedFile
from ..formats.table_columns import TableColumns
from ..formats.tables import Table
from ..problems import DataError

QUOTES = {"double": '"', "single": "'", "none": ""}


@source("csv")
class Csv:
    """A text table: one row a line, numbers in every column but those that are said to hold words.

    Without `columns`, everything but the label, the columns of words and those that are left out becomes the field
    `features`. Words get their ids from the training data: the words of single cells in the order of the alphabet,
    those of text by how often they are there. The id behind the last stands for all other words, if the `size` of the
    data layer has room for it. The words, and the means that stand for empty cells, are kept beside the weights. Of a
    file of more than 256 MiB, rows are read when they are wanted, and what is wrong with one is found then.
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
    quote = Choice(
        "character around cells that have delimiters or line ends in them",
        options={
            "double": 'a cell that begins with `"` ends with the next one; within it, `""` is one quote',
            "single": "the same with `'`",
            "none": "quotes are characters like others: every delimiter and line end counts",
        },
        default="double",
    )

    def names(self, base: Path) -> dict[str, tuple[str, ...]]:
        """The names of classes that are listed."""
        return {"label": self.classes} if self.label else {}

    def open(self, base: Path) -> Dataset:
        """The rows of the file."""
        return self.open_fields(base, None)

    def open_fields(self, base: Path, wanted: Container[str] | None) -> Dataset:
        """As `open`, but only the fields in `wanted`: the columns of the others may be missing."""
        return self.open_rows(base, wanted, ())

    def open_rows(
        self, base: Path, wanted: Container[str] | None, targets: Container[str], *, skip: bool = False
    ) -> Dataset:
        """As `open_fields`; of the fields in `targets` no cell may be empty. With `skip` bad rows are noted as such."""
        path = base / self.file
        if len(self.delimiter) != 1 or self.delimiter in "\r\n":
            raise DataError(f"{path}: `delimiter` is {self.delimiter!r}, it has to be one character")
        quote = QUOTES[self.quote]
        if self.delimiter == quote:
            raise DataError(f"{path}: `delimiter` is {self.delimiter!r}, the quote character; write `quote: none`, too")
        if self.classes and not self.label:
            raise DataError(f"{path}: `classes` are the words of the label, so `label` has to name its column")
        file = PositionedFile(path)
        table = Table(file, Dialect(self.delimiter, quote), header=self.header)
        if not table.names:
            raise DataError(f"{path} has no rows")
        large = is_large(file)
        columns = TableColumns(table, self, wanted, targets, skip=skip and not large)
        words = {"label": self.classes} if self.classes else {}
        if large:
            return LargeTable(table, self, wanted, targets).dataset(columns, words)
        columns.read()
        if not len(table.lines):
            raise DataError(f"{path} has no rows")
        return Dataset(
            columns.fields(),
            origin=str(path),
            place=table.place,
            words=words,
            remedies=columns.remedies(),
            columns=columns.names(),
            bad=table.bad,
            note=columns.note(),
        )

    def word_fields(self) -> set[str]:
        """The fields whose values are ids of words."""
        named = {entry.partition("=")[0].strip() for entry in (*self.ids, *self.text)}
        return named | ({"label"} if self.classes else set())
