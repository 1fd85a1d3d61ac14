"""CSV files: named columns, read as numbers or words."""

from __future__ import annotations

import contextlib
import copy
import itertools
from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from paddle_layers.define.decimals import is_integer, is_plain, number_of

from ..columns import GapColumn, Rows, SequenceColumn, WordColumn, gather
from ..dataset import Dataset
from ..lazy_columns import AT_ONCE, RecordReader, read_together
from ..problems import DataError
from .csv_records import Dialect
from .files import PositionedFile
from .long_format import Series, group_rows
from .table_cells import TableCells
from .table_columns import TableColumns
from .table_settings import RequestedFields, TableSettings
from .text_lines import IndexedLines, Row, check_text, decoded


class CsvTable(TableCells):
    """The columns of a CSV file, known from its first line; `read` reads those that are wanted.

    Raises `DataError` for a file that cannot be read, and for two columns of one name.
    """

    def __init__(
        self, file: PositionedFile, dialect: Dialect, *, header: str = "auto", missing: Iterable[str] = ()
    ) -> None:
        self.file, self.path, self.dialect = file, file.path, dialect
        self.missing = frozenset(missing)
        check_text(file)
        first, second = [*itertools.islice(self._records(), 2), _NO_ROW, _NO_ROW][:2]
        cells = self._cells(first) if first[2] else []
        self._first, self._second = cells, self._cells(second) if second[2] else []
        self.titled = header == "yes" or (header == "auto" and all(number_of(cell) is None for cell in cells))
        self.guessed = header == "auto" and bool(cells)
        self.first_line = first[0]
        self._check_delimiter(cells)
        names = [c.strip() for c in cells] if self.titled else [str(n) for n in range(1, len(cells) + 1)]
        super().__init__(str(file.path), names)
        # Such as the names that pandas gives to columns, which are no header for a program.
        self.counts_columns = not self.titled and bool(cells) and _are_column_numbers(cells, self._second)
        self.lines = array("q")
        """The line in the file of every row."""
        self._rows: Callable[[], Iterator[tuple[int, str]]] = self._all_rows

    @property
    def count(self) -> int:
        """Number of rows that were read."""
        return len(self.lines)

    @property
    def header(self) -> str:
        """The first line."""
        return f"{self.path}:1"

    def place(self, row: int) -> str:
        """File and line of a row."""
        return f"{self.path}:{self.lines[row]}"

    def _records(self) -> Iterator[Row]:
        return self.dialect.records(self.file)

    def data_records(self) -> Iterator[Row]:
        """The records that are rows of data."""
        return itertools.islice(self._records(), int(self.titled), None)

    def _all_rows(self) -> Iterator[tuple[int, str]]:
        return ((row[0], decoded(self.file, row)) for row in self.data_records())

    def _cells(self, row: Row) -> list[str]:
        return self.dialect.cells(decoded(self.file, row))

    def _check_delimiter(self, first: Sequence[str]) -> None:
        """Raises `DataError` where the first line is a single cell that another delimiter would part."""
        cell = first[0] if len(first) == 1 else ""
        other = next((mark for mark in ";\t|" if mark in cell), None)
        numbers = self._second or first
        if " " in cell.strip() and all(number_of(part) is not None for part in numbers[0].split()):
            other = " "
        if other is not None:
            shown = "\\t" if other == "\t" else other
            spaces = " and `spaces: ignore`" if other == " " and "  " in cell.strip() + numbers[0].strip() else ""
            quote = " and `quote: single`" if cell.startswith("'") else ""
            raise DataError(
                f'{self.path}:{self.first_line}: only one column; try `delimiter: "{shown}"`{spaces}{quote}'
            )

    @property
    def _skips(self) -> str:
        """The fix for a first line that is neither names nor data."""
        return f"; if the first line is neither a header nor data, write `skip_lines: {self.first_line}`"

    def _lengths(self, cells: Sequence[str]) -> str:
        """The fix where the first row of data is longer or shorter than the first line."""
        if not self.titled:
            return self._skips
        if abs(len(cells) - len(self.names)) > 1 or self._lists_words:
            return f"; if the first line is not the header, write `skip_lines: {self.first_line}`"
        return (
            "; if the header lacks a name, as where R writes row names, or if only some lines end with a delimiter, "
            f"write `skip_lines: {self.first_line}` and `header: no`, and select the columns by number"
        )

    @property
    def _lists_words(self) -> bool:
        """Whether the second line has no number, so that it may be the header."""
        return all(number_of(cell) is None for cell in self._second)

    def _explained(self, column: str) -> str:
        if self.titled:
            quoted = self.dialect.quote != "'" and any(name[:1] == name[-1:] == "'" for name in self.names)
            if quoted:
                return super()._explained(column) + "; for names in single quotes write `quote: single`"
            if self.names[0].startswith("#"):
                return super()._explained(column) + '; if lines that begin with # are comments, write `comment: "#"`'
            no_header = bool(self._second) and len(self._first) != len(self._second)
            return super()._explained(column) + (self._lengths(self._second) if no_header else "")
        if column in (cell.strip() for cell in self._first):
            return ": the first line is read as data, because it has numbers; if it is a header, write `header: yes`"
        skips = self._skips if len(self._first) != len(self._second) else ""
        return f": the first line has numbers, not names; use column numbers, 1 to {len(self.names)}{skips}"

    def part(self, texts: Iterable[tuple[int, str]]) -> CsvTable:
        """A table of the same columns with other rows, given by line number and text."""
        part = copy.copy(self)
        part.lines, part.words, part.bad = array("q"), {}, {}
        part._rows = lambda: iter(texts)
        return part

    def cells_of(self, column: int) -> Iterator[str]:
        """The cells of a column of words, of which a part is in memory."""
        rows = self._rows()
        while texts := [*itertools.islice(rows, AT_ONCE)]:
            part = self.part(texts)
            part.read([], [column])
            yield from part.words[column]

    def read(
        self, numbers: Sequence[int], words: Sequence[int] = (), *, gaps: Container[int] = (), skip: bool = False
    ) -> None:
        """Read the rows. Cells of numbers in the columns `gaps` may be empty.

        Raises `DataError` with file, line and column for a cell that is no number and for a row of another length; with
        `skip` these rows become `bad`.
        """
        self._numbers = list(dict.fromkeys(numbers))
        values, self.lines = array("d"), array("q")
        self.words = {column: [] for column in words}
        for line, text in self._rows():
            cells = self.dialect.cells(text)
            if self.missing:
                cells = ["" if cell.strip() in self.missing else cell for cell in cells]
            try:
                row = self._row(line, text, cells, gaps)
            except DataError as error:
                if not skip:
                    raise
                self.bad[len(self.lines)] = str(error)
                row, cells = [0.0] * len(self._numbers), [""] * len(self.names)
            values.extend(row)
            for column, texts in self.words.items():
                texts.append(cells[column].strip())
            self.lines.append(line)
        self.values = np.frombuffer(values, np.float64).reshape(len(self.lines), len(self._numbers))
        self._check_finite(gaps, skip=skip)

    def _row(self, line: int, text: str, cells: Sequence[str], gaps: Container[int]) -> list[float]:
        """The numbers of a row."""
        if len(cells) != len(self.names):
            remedy = self._lengths(cells) if len(self.lines) + self.titled == 1 else ""
            raise DataError(
                f"{self.path}:{line}: got {len(cells)} cells, expected {len(self.names)} as in the rows above{remedy}"
            )
        if is_plain(text) and not self.dates:
            with contextlib.suppress(ValueError):
                return [float(cells[at]) for at in self._numbers]
        return [
            self.number(cells[at], at, line, f"{self.path}:{line}: {self.column_text(at)}", gaps)
            for at in self._numbers
        ]


class LargeTable:
    """The samples of a table, found by where their lines begin: its rows or, in long format, its series.

    Of a table in long format, the index has 40 bytes per row, and the names of the series.
    """

    def __init__(self, table: CsvTable, settings: TableSettings, request: RequestedFields) -> None:
        self._table, self._settings, self._request = table, settings, request
        self._lines = IndexedLines(table.file, table.data_records())
        self._series = self._grouped() if settings.series and len(self._lines) else None

    def _grouped(self) -> Series:
        names = self._table.index(self._settings.series)
        indexed = self._table.part(())
        indexed.lines = array("q", self._lines.numbers.tobytes())
        return group_rows(indexed, names, self._table.cells_of(names))

    def dataset(self, columns: TableColumns, words: Mapping[str, Sequence[str]]) -> Dataset:
        """The fields as those of a small table, but read when they are wanted."""
        rows, series = len(self._lines), self._series
        if not rows:
            raise DataError(f"{self._table.path} has no rows")
        count = rows if series is None else len(series.names)
        together = max(1, AT_ONCE * count // rows)
        records = RecordReader(self._read)
        fields: dict[str, Any] = {}
        for name, field in self._fields([]).items():
            plain = _plain(field)
            options = {"level": int(isinstance(plain, SequenceColumn)), "together": together}
            if isinstance(field, WordColumn):
                fields[name] = WordColumn(records.column(name, count, (), object, **options), text=field.text)
                continue
            stored = fields[name] = records.column(name, count, plain.shape[1:], plain.dtype, **options)
            if isinstance(field, GapColumn):
                fields[name] = GapColumn(stored, field.names, field.methods)
        dataset = Dataset(
            fields,
            origin=str(self._table.path),
            place=self._lines.place if series is None else series.place,
            words=words,
            remedies=columns.remedies(),
            columns=columns.names(),
            note=columns.note(),
        )
        if series is not None:
            dataset.file_of, dataset.file_title = series.names.__getitem__, "series"
        return dataset

    def _fields(self, samples: Sequence[int]) -> dict[str, Any]:
        rows, whole = np.asarray(samples, np.int64), self._series
        if whole is not None:
            items, starts = gather(whole.starts, rows)
            rows = whole.rows[items]
        part = self._table.part([(int(self._lines.numbers[row]), self._lines.text(row)) for row in rows])
        columns = TableColumns(part, self._settings, self._request)
        columns.read()
        if whole is None:
            return columns.fields()
        return columns.fields(Series(part, [whole.names[one] for one in samples], np.arange(len(rows)), starts))

    def _read(self, rows: Rows) -> Mapping[str, Any]:
        return {name: _plain(field) for name, field in read_together(rows, self._fields).items()}


def _plain(field: Any) -> Any:
    if isinstance(field, WordColumn):
        return field.cells
    if isinstance(field, GapColumn):
        values: Any = field.values
        return values if field.starts is None else SequenceColumn(values, field.starts)
    return field


_NO_ROW: Row = (1, 0, b"")


def _are_column_numbers(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether a first line counts from 0, or years, over rows with other numbers.

    Two columns from 0 are no evidence without a fraction.
    """
    cells = [cell.strip() for cell in first]
    start = int(cells[0]) if is_integer(cells[0]) else -1
    fractions = any("." in cell for cell in second)
    counts = cells == [str(start + place) for place in range(len(cells))]
    return counts and len(cells) > 1 and (1900 <= start <= 2100 or (start == 0 and (len(cells) > 2 or fractions)))
