"""CSV sources."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from pathlib import Path

from paddle_layers.define import Bool, Choice, Int, String, Strings, source

from ..columns import PUNCTUATION, Vocabulary
from ..dataset import Dataset
from ..formats.converted_files import ENCODINGS, Utf8File
from ..formats.csv_records import Dialect
from ..formats.dates import PARTS
from ..formats.table_cells import TableCells
from ..formats.table_columns import TableColumns, table_dataset
from ..formats.table_settings import RequestedFields
from ..formats.tables import CsvTable, LargeTable
from ..formats.text_lines import is_large
from ..problems import DataError

QUOTES = {"double": '"', "single": "'", "none": ""}


@source("csv", terms=("CSV", "TSV", "tabular data", "spreadsheet"))
class Csv:
    """CSV file: one sample per row, numbers in every column except those declared as words.

    Without `columns`, all columns except the label, the columns of words and those that are left out become the field
    `features`. Words get their ids from the training data: words of single cells in alphabetical order, words of text
    by frequency. The id after the last is for out-of-vocabulary words, if the `size` of the data layer includes it. The
    vocabulary, and the means and medians that replace empty cells, are stored beside the weights. Rows of files over
    256 MiB are read lazily, and their errors are reported then.
    """

    file = String(
        "path of the file, relative to the training file; it may be compressed by gzip; absent: a DataFrame from "
        "Python takes its place",
        default="",
    )
    label = String("label column, by name or by number from 1; the field `label`", default="")
    classes = Strings(
        "class names of the label column in the order of their ids; absent: labels are numbers", default=()
    )
    columns = Strings(
        'fields and their columns, such as "size = width, height" or "pixels = 2-65"; "price" alone is both', default=()
    )
    ids = Strings(
        'categorical columns, each a field of ids: "district", or "label = kind" for a field of that name', default=()
    )
    text = Strings("text columns, each a field of sequences of ids; words are separated by spaces", default=())
    lowercase = Bool("convert text to lower case", default=False)
    punctuation = Choice("punctuation marks and symbols in text", options=PUNCTUATION, default="keep")
    min_count = Int("minimum frequency of words of text in the training data; others are unknown", default=1, min=1)
    max_words = Int("maximum size of the vocabulary of text: its most frequent words; 0: unlimited", default=0, min=0)
    leave_out = String('columns to ignore, such as "date, name"', default="")
    empty = Choice(
        "handling of empty cells (missing values)",
        options={
            "refuse": "an error",
            "mean": "imputed with the mean of the column in the training data; empty words are an error",
            "median": "imputed with the median of the column in the training data; empty words are an error",
            "mark": "imputed with the mean, plus one indicator column per column, 1 where a cell was empty; "
            "an additional word for empty words",
        },
        default="refuse",
    )
    impute = Strings('`empty` of single columns: "age, income = median"', default=())
    dates = Strings(
        'columns of dates and the parts that they are read as: "sold on = year, month, weekday"; the parts are '
        f"{', '.join(PARTS)}",
        default=(),
    )
    date_format = String(
        'format of dates in the directives of `strptime`, such as "%d/%m/%Y"; absent: ISO 8601, and others with the '
        "year first or the name of the month",
        default="",
    )
    series = String(
        "column that names the series of a row, for tables in long format: the rows of a series are the steps of one "
        "sample; fields of data layers without sequences have one value per series",
        default="",
    )
    time = String("column of times, numbers or dates, which must rise within each series", default="")
    missing = Strings('cells that count as empty, such as "NA"', default=())
    header = Choice(
        "whether the first line names the columns",
        options={"auto": "yes if no cell is a number", "yes": "it names the columns", "no": "it is data"},
        default="auto",
    )
    delimiter = String("separator of cells", default=",")
    quote = Choice(
        "quote character of cells that contain delimiters or line breaks",
        options={
            "double": '`"` around a cell; within it, `""` is one quote',
            "single": "`'` around a cell",
            "none": "no quoting: every delimiter and line break counts",
        },
        default="double",
    )

    spaces = Choice(
        "spaces around delimiters",
        options={
            "keep": "part of the cells; ignored around numbers and words",
            "ignore": "ignored, also before a quote; if the delimiter is a space, several are one delimiter",
        },
        default="keep",
    )
    comment = String('start of lines to ignore, such as "#"', default="")
    skip_lines = Int("number of lines before the header or the first row", default=0, min=0)
    encoding = Choice("encoding of the file", options=ENCODINGS, default="utf_8")

    @property
    def vocabulary(self) -> Vocabulary:
        """The settings of text columns."""
        return Vocabulary(self.lowercase, self.punctuation, self.min_count, self.max_words)

    def names(self, base: Path) -> dict[str, tuple[str, ...]]:
        """The names of classes that are listed."""
        return {"label": self.classes} if self.label else {}

    def open(self, base: Path) -> Dataset:
        """The rows of the file."""
        return self.open_fields(base, None)

    def open_fields(self, base: Path, wanted: Container[str] | None) -> Dataset:
        """As `open`, but only the fields in `wanted`: the columns of the others may be missing."""
        return self.open_rows(base, RequestedFields(wanted))

    def open_rows(self, base: Path, request: RequestedFields) -> Dataset:
        """As `open_fields`; bad rows may be noted as such."""
        if not self.file:
            message = 'no `file`: name one, or pass a DataFrame in Python, as in `datasets={"train": frame}`'
            raise DataError(f"source `csv` has {message}")
        path = base / self.file
        self.check(str(path))
        file = Utf8File(path, "paths are relative to the training file", self.encoding)
        table = CsvTable(file, self._dialect(path), header=self.header, missing=self.missing)
        if not table.names:
            raise DataError(f"{path} has no rows")
        self._check_skip(table.origin, request)
        if is_large(file):
            request = replace(request, skip=False)
            return LargeTable(table, self, request).dataset(TableColumns(table, self, request), self._words())
        return self.dataset_of(table, request)

    def check(self, origin: str) -> None:
        """Raises `DataError` for settings that contradict each other."""
        if self.classes and not self.label:
            raise DataError(f"{origin}: `classes` requires `label`, the label column")
        if self.time and not self.series:
            raise DataError(f"{origin}: `time` requires `series`, the column that names the series of a row")

    def dataset_of(self, table: TableCells, request: RequestedFields) -> Dataset:
        """The fields of a table that is in memory."""
        self._check_skip(table.origin, request)
        return table_dataset(table, self, request, self._words())

    def _check_skip(self, origin: str, request: RequestedFields) -> None:
        if self.series and request.skip:
            message = 'with `series`, `on_error: "skip"` would remove steps of a series; write `on_error: "stop"`'
            raise DataError(f"{origin}: {message}")

    def _words(self) -> dict[str, tuple[str, ...]]:
        return {"label": self.classes} if self.classes else {}

    @property
    def takes_rest(self) -> bool:
        """Whether all columns without another role are the field `features`."""
        return not self.columns

    @property
    def place(self) -> str:
        """Where the settings can be written, at the start of a remedy: in the source itself."""
        return ""

    def _dialect(self, path: Path) -> Dialect:
        quote = QUOTES[self.quote]
        if len(self.delimiter) != 1 or self.delimiter in "\r\n":
            raise DataError(f"{path}: `delimiter` is {self.delimiter!r}, expected a single character")
        if self.delimiter == quote:
            raise DataError(f"{path}: `delimiter` is {self.delimiter!r}, the quote character; also write `quote: none`")
        return Dialect(self.delimiter, quote, self.comment, self.skip_lines, self.spaces == "ignore")

    def word_fields(self) -> set[str]:
        """The fields whose values are ids of words."""
        named = {entry.partition("=")[0].strip() for entry in (*self.ids, *self.text)}
        return named | ({"label"} if self.classes else set())
