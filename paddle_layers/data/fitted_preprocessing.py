"""Preprocessing fitted to the training data: names of ids (classes, vocabularies), names and means of columns.

A source returns columns of words, and of numbers with missing values, unencoded. `learn` fits the preprocessing to the
training rows; `encoded` encodes all rows as numbers. The fitted values are stored in the weights and beside them, since
the weights are meaningless without them: they determine the meaning of an id, whatever later sources contain.
"""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .columns import GapColumn, Rows, SequenceColumn, Vocabulary, WordColumn, gather
from .dataset import Dataset
from .lazy_columns import StoredColumn
from .names import aligned, check_same_names, listed_names
from .problems import DataError

FILE = "data.json"
"""Its name, in the folder of the weights."""

LARGEST = float(np.finfo(np.float32).max)
"""Of a mean: those of numbers that networks can be fed."""
MOST_BYTES = 1 << 25
"""Of its JSON. safetensors reads headers of 100 MB, and quotes in them take up to twice the space."""
MOST_NAMES = 1 << 21
"""Names of ids and columns in all."""


@dataclass(frozen=True)
class FittedPreprocessing:
    """The words of fields in the order of their ids; the means of the columns of fields, and the columns' names.

    `firm`: a training goes on with them, so that no source may list other words.
    """

    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    means: Mapping[str, Sequence[float]] = field(default_factory=dict)
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    firm: bool = field(default=False, compare=False)

    def __bool__(self) -> bool:
        return bool(self.words or self.means or self.columns)

    def without(self, fields: Container[str]) -> FittedPreprocessing:
        """The fitted preprocessing of the other fields."""
        return FittedPreprocessing(
            {name: words for name, words in self.words.items() if name not in fields},
            {name: means for name, means in self.means.items() if name not in fields},
            {name: columns for name, columns in self.columns.items() if name not in fields},
        )

    def as_firm(self) -> FittedPreprocessing:
        """The same for a training that goes on with them."""
        return replace(self, firm=True)

    def text(self) -> str:
        """As JSON for the file."""
        return json.dumps(self._facts(), ensure_ascii=False, indent=1) + "\n"

    def line(self) -> str:
        """As JSON for the header of the weights."""
        return json.dumps(self._facts(), ensure_ascii=False, separators=(",", ":"))

    def _facts(self) -> dict[str, Any]:
        return {"words": self.words, "means": self.means, "columns": self.columns}


NOTHING = FittedPreprocessing()


def read_fitted(path: Path) -> FittedPreprocessing:
    """The fitted preprocessing of an earlier training; empty without a file. `DataError` for a damaged one."""
    try:
        if path.exists() and not path.is_file():
            raise DataError(f"cannot read {path}: not a regular file")
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return NOTHING
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"cannot read {path}: {error}") from None
    if len(content) > MOST_BYTES:
        raise _too_long(str(path))
    try:
        return parse_fitted(content.decode(), str(path))
    except UnicodeDecodeError as error:
        raise DataError(f"cannot read {path}: {error}") from None


def _too_long(origin: str) -> DataError:
    return DataError(f"cannot read {origin}: the names exceed {MOST_BYTES} bytes")


def parse_fitted(text: str, origin: str) -> FittedPreprocessing:
    """Parse the output of `text` and `line`. Raises `DataError`, which begins with the `origin`, for anything else."""
    if len(text) > MOST_BYTES:
        raise _too_long(origin)
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise DataError(f"cannot read {origin}: {error}") from None
    facts = found if isinstance(found, dict) else {}
    if facts and not facts.keys() & {"words", "means", "columns"}:  # somebody else's file of this name
        return NOTHING
    words, means, columns = (facts.get(name) for name in ("words", "means", "columns"))
    if not _lists(words, _are_words) or not _lists(means, _are_numbers) or not _lists(columns, _are_texts):
        raise DataError(
            f"{origin} is not fitted preprocessing of a training: expected `words`, `means` and `columns` by field"
        )
    learned = FittedPreprocessing(facts["words"], facts["means"], facts["columns"])
    if _count(learned) > MOST_NAMES:
        raise DataError(f"cannot read {origin}: more than {MOST_NAMES} names")
    return learned


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def _count(learned: FittedPreprocessing) -> int:
    return sum(map(len, (*learned.words.values(), *learned.columns.values(), *learned.means.values())))


def _lists(found: Any, fine: Callable[[list[Any]], bool]) -> bool:
    return isinstance(found, dict) and all(
        _are_texts([name]) and isinstance(one, list) and fine(one) for name, one in found.items()
    )


def _are_texts(items: list[Any]) -> bool:
    """Whether they are strings that can be written: JSON spells halves of characters, too."""
    try:
        return all(isinstance(item, str) and item.encode() is not None for item in items)
    except UnicodeEncodeError:
        return False


def _are_words(items: list[Any]) -> bool:
    """Whether they are names of ids; more than one id without a piece is called "" by a tokenizer."""
    if not _are_texts(items):
        return False
    named = [item for item in items if item]
    return len(set(named)) == len(named)


def _are_numbers(items: list[Any]) -> bool:
    return all(type(item) in (int, float) and -LARGEST <= item <= LARGEST for item in items)


def learn(
    dataset: Dataset, rows: Rows, known: FittedPreprocessing = NOTHING, labels: Container[str] = ()
) -> FittedPreprocessing:
    """As `learn_together`, of one data set."""
    return learn_together([(dataset, rows)], known, labels)


def learn_together(
    parts: Sequence[tuple[Dataset, Rows]], known: FittedPreprocessing = NOTHING, labels: Container[str] = ()
) -> FittedPreprocessing:
    """Words and means of rows of data sets, each row counted once; the columns of a field are those of the first.

    Fields that are `known` already, from the weights to start from, stay as they are; only `labels` whose source lists
    other classes have these.

    Words that a source lists are in its order, those of single cells in the order of the alphabet, those of text in
    that of how often they are there. Raises `DataError` for a column without any number, for a field none of whose
    words is known, for a word in one of the `labels` that is not: all new classes would be one, and for too many words.
    """
    words, means, columns = dict(known.words), dict(known.means), dict(known.columns)
    for dataset, _ in parts:
        columns = {**dataset.columns, **columns}
        for name, listed in listed_names(dataset):
            if name in known.words and (known.firm or name not in labels):
                check_same_names(listed, known.words[name], name, dataset.origin, "the training of the weights")
            elif name not in words or not {*listed} <= {*words[name]}:
                words[name] = list(listed)
    for name in dict.fromkeys(name for dataset, _ in parts for name in dataset.raw):
        raw = [(dataset, dataset.raw[name], rows) for dataset, rows in parts if name in dataset.raw]
        texts = [(column, rows) for _, column, rows in raw if isinstance(column, WordColumn)]
        if texts:
            found = _sorted(texts)
            _check_known(raw[0][0], name, found, words.setdefault(name, found), label=name in labels)
        elif name not in means:
            order = FittedPreprocessing(columns=columns)
            gaps = [(_in_order(one, name, c, order), rows) for one, c, rows in raw if isinstance(c, GapColumn)]
            means[name] = _means(raw[0][0], gaps)
    learned = FittedPreprocessing(words, means, columns)
    if _count(learned) > MOST_NAMES or len(learned.text().encode()) > MOST_BYTES:
        most = max(words, key=lambda name: len(words[name]), default="")
        raise DataError(f"{parts[0][0].origin}: too many names to store with the weights; `{most}` has the most")
    return learned


def _check_known(dataset: Dataset, name: str, found: Sequence[str], known: Sequence[str], *, label: bool) -> None:
    old = set(known)
    new = [word for word in found if word not in old]
    if not new or (len(new) < len(found) and not label):
        return
    listed = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
    remedy = "; for other classes, write `label` and `classes` in the source" if label else ""
    raise DataError(
        f"{dataset.origin}: unknown {new[0]!r} in field `{name}`: the initial weights were trained with "
        f"{listed}{remedy}"
    )


def _sorted(parts: Sequence[tuple[WordColumn, Rows]]) -> list[str]:
    counts = Counter[str]()
    for column, rows in parts:
        counts.update(column.counts(rows))
    text = parts[0][0].text
    return sorted(counts) if text is None else text.select(counts)


def _means(dataset: Dataset, parts: Sequence[tuple[GapColumn, Rows]]) -> list[float]:
    """The mean or the median of each column, whichever is imputed."""
    names, methods = parts[0][0].names, parts[0][0].methods
    if any(column.methods != methods for column, _ in parts):
        raise DataError(f"{dataset.origin}: `empty` or `impute` differs between the training sources")
    medians = [at for at, method in enumerate(methods) if method == "median"]
    counts, totals = np.zeros(len(names), np.int64), np.zeros(len(names))
    collected = [np.empty((0, len(medians)))]
    for column, rows in parts:
        values = column.values
        items = rows if column.starts is None else gather(column.starts, rows)[0]
        for part in values.parts(items) if isinstance(values, StoredColumn) else [values[items]]:
            chosen: Any = part.data if isinstance(part, SequenceColumn) else part
            there = ~np.isnan(chosen)
            counts += there.sum(axis=0)
            totals += np.where(there, chosen, 0).sum(axis=0, dtype=np.float64)
            collected.append(chosen[:, medians])
    if len(empty := np.flatnonzero(counts == 0)):
        what = "median" if empty[0] in medians else "mean"
        raise DataError(
            f"{dataset.origin}: column `{names[empty[0]]}` has no values in the training data, so its {what} cannot be "
            "computed; leave it out"
        )
    imputed = totals / counts
    if medians:
        imputed[medians] = np.nanmedian(np.concatenate(collected), axis=0)
    return list(map(float, imputed))


def encoded(dataset: Dataset, learned: FittedPreprocessing, origin: str) -> Dataset:
    """The encoded data set: ids instead of words, means for missing values; an unknown word gets the id after the last.

    Ids get those that their names have in the training data; a name that a source lists must be among them. Columns
    that have names are put in the order that they had, and others are dropped.

    Raises `DataError` with `origin`, the file of the fitted values, if a field is unknown.
    """
    if not dataset.raw and not learned:
        return dataset
    fields: dict[str, Any] = dict(dataset.fields)
    words = dict(dataset.words)
    for name, known in learned.words.items():
        if name in dataset.words and name in fields:
            fields[name] = aligned(dataset, name, known, origin)
        if words.get(name) != tuple(known):  # else it may be that of a tokenizer, which joins pieces
            words[name] = tuple(known)
    unknown: dict[str, tuple[int, str]] = {}
    for name, wanted in learned.columns.items():
        if name in dataset.columns and name in fields and tuple(wanted) != dataset.columns[name]:
            fields[name] = _chosen(fields[name], _places(dataset, name, wanted))
    for name, column in dataset.raw.items():
        if isinstance(column, GapColumn):
            ordered = _in_order(dataset, name, column, learned)
            fields[name] = _filled(ordered, _known(learned.means, name, dataset, origin, "means"), dataset, name)
            continue
        ids = {word: number for number, word in enumerate(_known(learned.words, name, dataset, origin, "ids"))}
        fields[name], strange = _numbered(column, ids)
        if strange is not None:
            unknown[name] = strange
    numbers = Dataset(
        fields,
        origin=dataset.origin,
        place=dataset.place,
        words=words,
        unknown=unknown,
        remedies=dataset.remedies,
        blocks=dataset.blocks,
        bad=dataset.bad,
        note=dataset.note,
        word_fields=dataset.word_fields,
        targets=dataset.targets,
    )
    numbers.unread, numbers.file_of, numbers.file_title = dataset.unread, dataset.file_of, dataset.file_title
    return numbers


def _in_order(dataset: Dataset, name: str, column: GapColumn, learned: FittedPreprocessing) -> GapColumn:
    wanted = learned.columns.get(name, column.names)
    if name not in dataset.columns or tuple(wanted) == dataset.columns[name]:
        return column
    places = _places(dataset, name, wanted)
    return GapColumn(_chosen(column.values, places), wanted, [column.methods[at] for at in places], column.starts)


def _chosen(values: Any, places: list[int]) -> Any:
    if isinstance(values, StoredColumn):
        return values.then(partial(_chosen, places=places), (len(places),), values.dtype, values.level)
    if isinstance(values, SequenceColumn):
        return SequenceColumn(_chosen(values.data, places), values.starts)
    return values[:, places]


def _places(dataset: Dataset, name: str, wanted: Sequence[str]) -> list[int]:
    """The positions of the columns that the field had in the training data."""
    places = {column: place for place, column in enumerate(dataset.columns[name])}
    for column in wanted:
        if column not in places:
            raise DataError(
                f"{dataset.origin}: missing column `{column}` of field `{name}` of the training "
                f"data{_renamed(column, [one for one in places if one not in wanted])}"
            )
    return [places[column] for column in wanted]


def _renamed(column: str, new: Sequence[str]) -> str:
    """The fix for a missing column, where others are `new`."""
    near = difflib.get_close_matches(column, new, 1) or new[:1]
    if not near:
        return "; the weights require the columns of the training"
    listed = ", ".join(f"`{one}`" for one in new[:8]) + (", ..." if len(new) > 8 else "")
    return f"; new columns: {listed}; if `{near[0]}` is the same, rename it to `{column}` in the header"


def _known(learned: Mapping[str, Sequence[Any]], name: str, dataset: Dataset, origin: str, kind: str) -> Sequence[Any]:
    if name not in learned:
        remedy = "read the field as in the training" + (", or train with words" if kind == "ids" else "")
        raise DataError(
            f"{dataset.origin}: the {kind} of field `{name}` are those of the training data, but {origin} has none; "
            f"{remedy}"
        )
    return learned[name]


def _numbered(column: WordColumn, ids: Mapping[str, int]) -> tuple[Any, tuple[int, str] | None]:
    """The ids, and the first unknown word with its row, unless the text is read lazily."""
    if isinstance(column.cells, StoredColumn):
        number = partial(_numbers_of, text=column.text, ids=ids)
        return column.cells.then(number, (), np.int64, level=int(column.text is not None)), None
    parts = [[cell] if column.text is None else column.text.split(cell) for cell in column.cells]
    numbers = np.array([ids.get(word, len(ids)) for part in parts for word in part], np.int64)
    starts = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=starts[1:])
    strange = np.flatnonzero(numbers == len(ids))
    first = None
    if len(strange):
        row = int(np.searchsorted(starts, strange[0], "right")) - 1
        first = row, parts[row][int(strange[0] - starts[row])]
    return (SequenceColumn(numbers, starts) if column.text else numbers), first


def _numbers_of(cells: Sequence[str], text: Vocabulary | None, ids: Mapping[str, int]) -> Any:
    return _numbered(WordColumn(cells, text=text), ids)[0]


def _filled(column: GapColumn, means: Sequence[float], dataset: Dataset, name: str) -> Any:
    values = column.values
    width = len(column.names)
    if len(means) != width:
        raise DataError(f"{dataset.origin}: field `{name}` has {width} columns, but {len(means)} in the training data")
    if isinstance(values, StoredColumn):
        fill = partial(_without_gaps, means=means, marked=column.marked)
        return values.then(fill, (width + len(column.marked),), float, values.level)
    filled = _without_gaps(values, means, column.marked)
    return filled if column.starts is None else SequenceColumn(filled, column.starts)


def _without_gaps(values: Any, means: Sequence[float], marked: Sequence[int]) -> Any:
    if isinstance(values, SequenceColumn):
        return SequenceColumn(_without_gaps(values.data, means, marked), values.starts)
    missing = np.isnan(values)
    filled = np.where(missing, np.asarray(means, np.float64), values)
    return np.hstack([filled, missing[:, marked].astype(filled.dtype)]) if marked else filled
