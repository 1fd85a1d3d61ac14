"""Names of ids: classes and vocabularies of a data set, aligned with those of the training data."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .columns import Array, Column, GapColumn, SequenceColumn, SparseColumn, WordColumn
from .lazy_columns import StoredColumn
from .problems import DataError

if TYPE_CHECKING:
    from .dataset import Dataset

Names = Mapping[str, Sequence[str]]
"""Names of ids by field, in the order of the ids."""
_SHOWN = 4


def shown(names: Sequence[str]) -> str:
    """The first names in a message."""
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def check_same_names(listed: Sequence[str], known: Sequence[str], field: str, place: str, origin: str) -> None:
    """`DataError`, which begins with `place`, unless all names that are `listed` are `known` to the training.

    Nothing listed means that the field holds numbers.
    """
    if listed and not known:
        raise DataError(
            f"{place}: field `{field}` has names ({shown(listed)}), but contains numbers in {origin}; use "
            "the same names or numbers in both"
        )
    if known and not listed:
        raise DataError(
            f"{place}: field `{field}` contains numbers, but its ids have names in {origin} "
            f"({shown(known)}); list the names in `classes`, or read the field as words"
        )
    own = set(known)
    new = [name for name in listed if name not in own]
    if new:
        raise DataError(
            f"{place}: unknown name {new[0]!r} of field `{field}`, expected {shown(known)} as in {origin}, in any order"
        )


def aligned(dataset: Dataset, field: str, known: Sequence[str], origin: str) -> Column:
    """A field with the ids that its names have in `known`, whatever the order in which the data set lists them.

    Ids without a name, such as those that losses ignore, stay as they are. Raises `DataError` for other names.
    """
    listed, column = dataset.words[field], dataset.fields[field]
    if listed == tuple(known):
        return column
    check_same_names(listed, known, field, dataset.origin, origin)
    ids = {name: number for number, name in enumerate(known)}
    if len(ids) < len(known):
        raise DataError(
            f"{dataset.origin}: the vocabulary of field `{field}` differs from {origin}; use the same tokenizer file"
        )
    table = np.array([ids[name] for name in listed], np.int64)
    what = f"{dataset.origin}: field `{field}`"
    return _renumbered(column, partial(_looked_up, table=table, end=len(known), what=what))


def _renumbered(column: Column, change: Any) -> Column:
    if isinstance(column, StoredColumn):
        own = column.shape[1:], column.dtype, column.level
        return column.then(lambda read: _renumbered(read, change), *own)
    if isinstance(column, SparseColumn):
        return SparseColumn(change(column.ids), column.starts, column.values)
    if isinstance(column, SequenceColumn):
        data = column.data
        items = _renumbered(data, change) if isinstance(data, SparseColumn) else change(data)
        assert isinstance(items, (np.ndarray, SparseColumn)), "sequences contain arrays or sparse rows"
        return SequenceColumn(items, column.starts, column.sub_starts)
    return np.asarray(change(column))


def _looked_up(ids: Array, table: Array, end: int, what: str) -> Array:
    ids = np.asarray(ids)
    named = (ids >= 0) & (ids < len(table))
    if ((ids >= len(table)) & (ids < end)).any():
        raise DataError(f"{what} contains the id {int(ids[(ids >= len(table)) & (ids < end)][0])}, which has no name")
    return np.where(named, table[np.where(named, ids, 0)] if len(table) else ids, ids)


class Unnamed(NamedTuple):
    """Fields of which the training data and other data do not both have names."""

    names: list[str]
    """Only the other data have names of ids."""
    columns: list[str]
    """Only the other data have names of columns."""
    ids: list[str]
    """Only the training data have names of ids."""

    def warning(self, dataset: Dataset, words: Names, holder: str) -> str:
        """The warning that unnamed ids are matched by position; empty if all have names.

        `holder` has the names of the training.
        """
        lacking = [f"`{name}`" for name in self.names] + [f"the columns of `{name}`" for name in self.columns]
        texts = []
        if lacking:
            texts.append(
                f"{holder} has no names for {', '.join(lacking)}: the values of {dataset.origin} are matched "
                "by position"
            )
        for name in self.ids:
            pairs = [f"{number} is {one}" for number, one in enumerate(words[name][:_SHOWN])]
            more = ", ..." if len(words[name]) > _SHOWN else ""
            texts.append(
                f"{dataset.origin} has no names for the ids of `{name}`, which are matched by position: "
                f"{', '.join(pairs)}{more}; strings are matched by name"
            )
        return "; ".join(texts)


def unnamed_fields(dataset: Dataset, words: Names, columns: Names, fields: Container[str]) -> Unnamed:
    """Fields whose ids or columns cannot be matched by name with `words` and `columns` of the training data.

    Ids and columns of the data count among the `fields` that are fed.
    """
    numbers = (name for name in dataset.fields if name not in dataset.words and name in fields)
    return Unnamed(
        [name for name in dataset.words if name not in words],
        [name for name in dataset.columns if name not in columns and name in fields],
        [name for name in numbers if name in words and _holds_ids(dataset.fields[name])],
    )


def _holds_ids(column: Column) -> bool:
    kind = column.dtype.kind if not isinstance(column, SparseColumn) else column.ids.dtype.kind
    return kind in "iub"


def listed_names(dataset: Dataset) -> Iterator[tuple[str, Sequence[str]]]:
    """The names of the ids of fields that the source lists, where these fields were read."""
    for name, names in dataset.words.items():
        if name in dataset.fields and not isinstance(dataset.raw.get(name), (WordColumn, GapColumn)):
            yield name, names
