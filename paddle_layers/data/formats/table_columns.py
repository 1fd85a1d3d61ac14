"""Conversion of table columns to fields: assignment of columns, and encoding of cells, for all rows or on demand."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ..columns import GapColumn, WordColumn
from ..dataset import Dataset
from ..problems import DataError, DataErrors
from .dates import date_parts, parse_parts, parsed_date
from .long_format import Series, check_times, group_rows
from .table_cells import BadCell, TableCells, number_ranges
from .table_settings import RequestedFields, TableSettings

METHODS = ("refuse", "mean", "median", "mark")
"""Handling of empty cells."""
SHOWN = 5
"""Most columns that a message names."""


class TableColumns:
    """The requested fields of a table, each with the positions of its columns.

    Raises `DataError` for missing columns and for duplicate fields.
    """

    def __init__(self, table: TableCells, settings: TableSettings, request: RequestedFields) -> None:
        self._table, self._settings, self._request = table, settings, request
        self._targets, self._skip = request.targets, request.skip
        self.series: Series | None = None
        """The series of a table in long format whose fields were read."""
        self._label = table.index(settings.label) if settings.label and "label" in self._request else -1
        self._ids = {name: table.index(column) for name, column in self._named("ids")}
        self._text = {name: table.index(column) for name, column in self._named("text")}
        self._numbers = {name: table.select(columns) for name, columns in self._named("columns")}
        self._dates = self._date_columns()
        self._keys = [table.index(column) for column in (settings.series, settings.time) if column]
        if settings.takes_rest and "features" in request:
            features = self._learned(self._features())
            if features:
                self._check_named(features)
                self._numbers["features"] = features
        self._check_names()
        self._methods = self._impute()

    def read(self) -> None:
        """Read the columns. Raises `DataErrors` with the first cell of each column that is not what it should be."""
        settings, table = self._settings, self._table
        numbers = [*itertools.chain(*self._numbers.values())]
        words = [*self._ids.values(), *self._text.values()]
        if self._label >= 0:
            (words if settings.classes else numbers).append(self._label)
        words += self._keys
        table.dates, table.times = dict.fromkeys(self._dates, settings.date_format), self._keys[1:]
        gaps = {at for at in numbers if self._method(at) != "refuse"} - self._strict
        errors: dict[int, DataError] = {}
        while len(errors) < SHOWN:
            try:
                table.read([at for at in numbers if at not in errors], words, gaps=gaps, skip=self._skip)
                break
            except BadCell as error:
                errors[error.column] = DataError(f"{error}{self._remedy(error)}")
            except DataError as error:  # of the whole table
                raise DataErrors([*errors.values(), error]) from None
        if errors:
            raise DataErrors([*errors.values()])

    def fields(self, series: Series | None = None) -> dict[str, Any]:
        """The columns as fields of a data set, in long format of known `series`. Raises `DataError` for wrong words."""
        table, found = self._table, dict[str, Any]()
        for name, places in self._numbers.items():
            values, methods = self._values(places), [self._method(at) for at in places for _ in self._parts(at)]
            strict = name in self._targets or {*methods} == {"refuse"}
            found[name] = values if strict else GapColumn(values, self._titles(places), methods)
        for name, at in self._ids.items():
            if name in self._targets:
                self._check_words(at, f", {_NO_TARGET}")
            elif self._method(at) != "mark":
                self._check_words(at, self._mark_remedy())
            found[name] = WordColumn(table.words[at])
        for name, at in self._text.items():
            if name in self._targets:
                self._check_words(at, f", {_NO_TARGET}")
            found[name] = WordColumn(table.words[at], text=self._settings.vocabulary)
        if self._label >= 0:
            found["label"] = self._classes() if self._settings.classes else table.whole(self._label, skip=self._skip)
        self._replace_bad(found)
        if not self._keys:
            return found
        names, *times = self._keys
        self.series = series or group_rows(table, names, table.words[names])
        for time in times:
            check_times(self.series, time, self._settings.date_format)
        return {name: self.series.grouped(name, column, self._request.sequences) for name, column in found.items()}

    def _date_columns(self) -> dict[int, list[str]]:
        """The columns of dates with their parts. Raises `DataError`."""
        table, found = self._table, dict[int, list[str]]()
        for entry in self._settings.dates:
            column, parts = parse_parts(entry, table.origin)
            # For predictions, columns of fields that are not read may be missing.
            if column in table or self._request.names is None:
                found[table.index(column)] = parts
        if unread := found.keys() - self._numeric():
            column = table.column_text(min(unread))
            raise DataError(f"{table.origin}: `dates` names {column}, which no numeric field has; add it to `columns`")
        return found

    def _numeric(self) -> set[int]:
        """The columns of all numeric fields, requested or not."""
        found = {*self._features()} if self._settings.takes_rest else set()
        for entry in self._settings.columns:
            with contextlib.suppress(DataError):  # columns of other fields may be missing
                found.update(self._table.select(entry.partition("=")[2].strip() or entry.strip()))
        return found

    def _parts(self, column: int) -> list[str]:
        """The parts of a column of dates; a single one, without a name, of any other column."""
        return self._dates.get(column, [""])

    def _titles(self, places: Iterable[int]) -> list[str]:
        """The names of the numbers of columns, such as `day.month` of a date."""
        names = self._table.names
        return [f"{names[at]}.{part}" if part else names[at] for at in places for part in self._parts(at)]

    def _values(self, places: Sequence[int]) -> Any:
        """The numbers of columns."""
        values = self._table.columns(places)
        if self._dates.keys().isdisjoint(places):
            return values
        parts = zip(values.T, map(self._parts, places), strict=True)
        return np.hstack([date_parts(days, named) if named[0] else days[:, None] for days, named in parts])

    def _mark_remedy(self) -> str:
        """The fix for empty cells of words, for all such columns at once."""
        table, words = self._table, self._table.words
        unmarked = [at for name, at in self._ids.items() if name not in self._targets and self._method(at) != "mark"]
        empty = [table.names[at] if table.names[at] else str(at + 1) for at in sorted({*unmarked}) if "" in words[at]]
        return f'; {self._settings.place}write `impute: "{", ".join(empty)} = mark"` for an additional word'

    @property
    def _strict(self) -> set[int]:
        """The columns of numbers in which no cell may be empty: those of targets."""
        of_targets = (places for name, places in self._numbers.items() if name in self._targets)
        return {self._label, *itertools.chain(*of_targets)}

    def _method(self, column: int) -> str:
        """Handling of empty cells in a column."""
        return self._methods.get(column, self._settings.empty)

    def _impute(self) -> dict[int, str]:
        """The columns of the setting `impute`. Raises `DataError` for invalid ones."""
        table, found = self._table, dict[int, str]()
        for entry in self._settings.impute:
            columns, _, method = (part.strip() for part in entry.rpartition("="))
            if not columns or method not in METHODS:
                methods = ", ".join(METHODS)
                raise DataError(
                    f'{table.origin}: invalid `impute` {entry!r}; write "age, income = median", with one of {methods}'
                )
            # For predictions, columns of fields that are not read may be missing.
            parts = [columns] if columns in table.names else [part.strip() for part in columns.split(",")]
            there = [part for part in parts if part in table or "-" in part or not self._request.columns]
            for at in table.select(", ".join(there)) if there else ():
                if found.setdefault(at, method) != method:
                    raise DataError(f"{table.origin}: `impute` has two methods for {table.column_text(at)}")
                self._check_method(at, method)
        return found

    def _check_method(self, column: int, method: str) -> None:
        """Raises `DataError` where an imputation is impossible."""
        if method != "refuse" and column in self._strict | {at for n, at in self._ids.items() if n in self._targets}:
            raise DataError(f"{self._table.origin}: `impute` names {self._table.column_text(column)}, {_NO_TARGET}")
        if method in ("mean", "median") and column in {*self._ids.values(), *self._text.values()}:
            name = self._table.column_text(column)
            raise DataError(f"{self._table.origin}: {name} has words; `mark` in `impute` adds a word for empty cells")

    def _replace_bad(self, found: Mapping[str, Any]) -> None:
        """Replace words of bad rows, which are never used, to keep them out of the vocabulary."""
        bad = self._table.bad
        if not bad:
            return
        good = next((row for row in range(self._table.count) if row not in bad), None)
        if good is None:
            raise DataError(f"none of the {len(bad)} rows can be read; the first error: {bad[min(bad)]}")
        for column in found.values():
            if isinstance(column, WordColumn) and isinstance(column.cells, list):
                for row in bad:
                    column.cells[row] = column.cells[good]

    def note(self) -> str:
        """Warning about guesses: whether the first line is a header, what words and large numbers are; else empty."""
        return "\n".join(filter(None, (self._header_note(), self._missing_note(), self._merged_note())))

    def _missing_note(self) -> str:
        """Warning about words that usually mark missing values."""
        table = self._table
        for name, at in self._ids.items():
            words = table.words.get(at, ())
            if not table.missing and (found := next((mark for mark in _MARKERS if mark in words), None)):
                return (
                    f"{table.origin}: {table.column_text(at)} has the word {found!r} in {words.count(found)} rows, "
                    f"which becomes a {'class' if name in self._targets else 'category'}; if it marks a missing value, "
                    f'{self._settings.place}write `missing: "{found}"`, else `missing: ""`'
                )
        return ""

    def _merged_note(self) -> str:
        """Warning about numbers that networks cannot tell apart, such as ids and dates in the notation 20260511."""
        table = self._table
        for column, first, second in table.merged_numbers():
            name = table.names[column]
            return (
                f"{table.origin}: {table.column_text(column)} has numbers that are equal in float32, such as "
                f'{first:.0f} and {second:.0f}; {self._settings.place}for categories write `ids: "{name}"`, for dates '
                f'`dates: "{name} = year, month, day"`; subtract a constant otherwise'
            )
        return ""

    def _header_note(self) -> str:
        table, settings = self._table, self._settings
        shown = ", ".join(f"`{name}`" for name in table.names[:4]) + (", ..." if len(table.names) > 4 else "")
        if table.guessed and table.counts_columns:
            return (
                f"{table.origin}:{table.first_line}: the first line is read as data, but counts up, as column "
                "names do; write `header: yes` if these are names, else `header: no`"
            )
        given = [settings.label, settings.leave_out, *settings.columns, *settings.ids, *settings.text]
        parts = {part.strip() for entry in given for part in entry.partition("=")[2 if "=" in entry else 0].split(",")}
        if table.guessed and table.titled and not self._numbers and not self._keys and parts.isdisjoint(table.names):
            return (
                f"{table.origin}:{table.first_line}: the first line is read as the header, {shown}, because it "
                "has no numbers; write `header: no` if it is data, else `header: yes`"
            )
        return ""

    def names(self) -> dict[str, list[str]]:
        """The names of the columns of every field of numbers; none where the table does not name them."""
        table = self._table
        return {name: self._titles(places) for name, places in self._numbers.items() if table.titled}

    def remedies(self) -> dict[str, str]:
        """The fix for each missing field, by its name."""
        found = {} if self._settings.label else {"label": 'set the label column: `csv { label: "..." }`'}
        rest = self._features()
        if self._settings.columns and rest:
            taken = {place for places in self._numbers.values() for place in places}
            listed = number_ranges([place + 1 for place in rest if place not in taken])
            found["features"] = (
                f'with `columns`, those of `features` must be listed too: columns: "features = {listed}"'
            )
        return found

    def _named(self, setting: str) -> Iterator[tuple[str, str]]:
        """Wanted fields of a setting, and what it says of their columns; alone, a column is the name of its field."""
        for entry in getattr(self._settings, setting):
            name, equals, columns = (part.strip() for part in entry.partition("="))
            alone = not equals and (name in self._table.names or not set(name) & set(",-"))
            colon = ":" in name and name not in self._table.names
            several = setting == "columns" and not equals and not alone and name in self._request
            if not name or (equals and not columns) or several or colon:
                example = '"field = first, second" or "field = 2-65"' if setting == "columns" else '"field = column"'
                raise DataError(f"{self._table.origin}: invalid `{setting}` {entry!r}; write {example}")
            if name in self._request:
                yield name, columns or name

    def _features(self) -> list[int]:
        """All columns without another role; those of fields that are not requested may be missing."""
        settings, table = self._settings, self._table
        entries = (*settings.ids, *settings.text, *(settings.columns if settings.takes_rest else ()))
        others = [entry.partition("=")[2].strip() or entry.strip() for entry in entries]
        keys = (settings.label, settings.series, settings.time)
        taken = {table.index(name) for name in (*keys, *others) if name and name in table}
        if settings.leave_out:
            taken.update(table.select(", ".join(self._left_out())) if self._left_out() else ())
        return [at for at in range(len(table.names)) if at not in taken]

    def _learned(self, features: list[int]) -> list[int]:
        """Those of the columns that the network was trained with, if all of them are there; otherwise all."""
        known = self._request.columns.get("features", ())
        learned = [at for at in features if self._table.titled and {*self._titles([at])} <= {*known}]
        return learned if known and len(self._titles(learned)) == len(known) else features

    def _left_out(self) -> list[str]:
        """The columns to be left out; when all fields are wanted, they have to be there."""
        given = [part.strip() for part in self._settings.leave_out.split(",") if part.strip()]
        return [part for part in given if self._request.names is None or part in self._table or "-" in part]

    def _check_named(self, features: Iterable[int]) -> None:
        """Raises `DataError` for a column of no name, such as the numbers of rows that pandas writes."""
        unnamed = next((at for at in features if self._table.titled and not self._table.names[at]), None)
        if unnamed is not None:
            raise DataError(
                f"{self._table.header}: column {unnamed + 1} has no name; if it is the row index, as pandas and R "
                f'write it, {self._settings.place}write `leave_out: "{unnamed + 1}"`; otherwise name it'
            )

    def _check_names(self) -> None:
        labels = ["label"] if self._label >= 0 else []
        names: Iterable[str] = (*labels, *self._ids, *self._text, *self._numbers)
        for name, group in itertools.groupby(sorted(names)):
            if len(list(group)) > 1:
                raise DataError(f"{self._table.origin}: duplicate field `{name}`; use different names")

    def _check_words(self, column: int, problem: str) -> None:
        table, what = self._table, self._table.empty + ("" if self._skip else problem)
        for row, word in enumerate(table.words[column]):
            if not word:
                table.refuse(row, f"{table.cell(row, column)}: {what}", skip=self._skip)

    def _classes(self) -> Any:
        table, classes = self._table, self._settings.classes
        ids = {word: number for number, word in enumerate(classes)}
        words = table.words[self._label]
        for row, word in enumerate(words):
            if word not in ids:
                problem = f"{table.place(row)}: unknown label {word!r}, not in `classes`: {', '.join(ids)}"
                table.refuse(row, problem, skip=self._skip)
        return np.array([ids.get(word, 0) for word in words], np.int64)

    def _remedy(self, error: BadCell) -> str:
        table, settings = self._table, self._settings
        name = table.names[error.column]
        if error.kind in {"empty", "absent"} and error.column in self._strict:
            return f", {_NO_TARGET}"
        if error.column == self._label:
            return f'; list the label words in `classes`, or write `ids: "label = {name}"` instead of `label`'
        if error.kind == "absent":
            impute = " and `empty: mean`" if self._method(error.column) == "refuse" else ""
            return f'; {settings.place}if it marks a missing value, write `missing: "{error.cell}"`{impute}'
        if error.kind == "empty":
            remedy = "`empty: mean` imputes the mean of the column, `empty: mark` also adds an indicator column"
            return f"; {settings.place}{remedy}"
        mark = next((mark for mark in error.cell if not mark.isdigit()), "/")
        notation = f'`date_format: "{mark.join(("%d", "%m", "%Y"))}"`'
        if error.kind == "date":
            other = "" if parsed_date(error.cell) is not None else f" with a format such as {notation}"
            dates = f'`dates: "{name} = year, month"`{other}'
            return f'; {settings.place}for a date write {dates}, or `leave_out: "{name}"`'
        if error.kind == "other date" and not settings.date_format:
            return f"; {settings.place}write its format, such as {notation}"
        if error.kind:
            return ""
        first = settings.header == "auto" and error.line == table.first_line and not table.titled
        names = "; if the first line is a header, write `header: yes`, if it is neither names nor data, "
        names = f"{names}`skip_lines: {error.line}`" if first else ""
        return f'{names}; {settings.place}for a column of words write `ids: "{name}"`, for an unused one `leave_out`'


_NO_TARGET = (
    "but targets and weights are never imputed: fill in the value, remove the row, or write `on_error: "
    '"skip"` in the source'
)
_MARKERS = ("NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "?")
"""Words that are missing values in most files; others, such as `none` and `-`, are often categories."""


def table_dataset(
    table: TableCells,
    settings: TableSettings,
    request: RequestedFields,
    words: Mapping[str, Sequence[str]],
    others: Mapping[str, Any] = MappingProxyType({}),
) -> Dataset:
    """The requested fields of a table that is read as a whole, and `others`.

    `words` are names of ids that the settings list.
    """
    columns = TableColumns(table, settings, request)
    columns.read()
    if not table.count:
        raise DataError(f"{table.origin} has no rows")
    fields = {**columns.fields(), **others}
    if not fields:
        read = [name for name in table.names if name in request]
        remedy = " ".join(f'columns: "{name}"' for name in read[:SHOWN]) or 'columns: "FIELD = COLUMN, COLUMN"'
        raise DataError(
            f"{table.origin} has no field for any of the data layers: write `{settings.place}{remedy}` "
            '(`ids: "COLUMN"` for words), or name a data layer `features`, which reads all remaining columns'
        )
    series = columns.series
    dataset = Dataset(
        fields,
        origin=table.origin,
        place=table.place if series is None else series.place,
        words=words,
        remedies=columns.remedies(),
        columns=columns.names(),
        bad=table.bad,
        note=columns.note(),
    )
    if series is not None:
        dataset.file_of, dataset.file_title = series.names.__getitem__, "series"
    return dataset
