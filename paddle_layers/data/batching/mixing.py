"""Mixing of several sources by ratio, in an order determined by seed and epoch alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..columns import GapColumn, Rows, WordColumn, joined_starts
from ..dataset import Dataset
from ..lazy_columns import BadRecords
from ..problems import DataError
from ..sampling import RowRandom, shuffled
from .batches import Batches
from .feeds import DataFeed

MOST_ROWS = 2**31
"""In an epoch; a ratio may ask for any number."""


class MixedSource(NamedTuple):
    """One of the sources: rows of a data set, their feeds, and how many of them come for those of the others."""

    dataset: Dataset
    part: Rows
    feeds: Sequence[DataFeed]
    ratio: float


class _Numbered(NamedTuple):
    """A source with so many `rows` in an epoch, in which each of its passes has other numbers for them."""

    source: MixedSource
    rows: int
    first: int
    passes: int

    @property
    def end(self) -> int:
        """The number after its last one."""
        return self.first + self.passes * len(self.source.dataset)


class MixedBatches(Batches):
    """Batches of several sources, concatenated.

    An epoch has every row of the first source once, and rows of the others in proportion to their ratios. These
    continue in the next epoch where they stopped, and restart, in another order, at their end. A batch has the ratios,
    up to one row. The options are those of `Batches`. Raises `DataError` if a source would contribute no rows.
    """

    def __init__(self, sources: Sequence[MixedSource], batch_size: int, **options: Any) -> None:
        self._sources, first = _numbered(sources), sources[0]
        part = self._mixed(0, in_order=True)
        super().__init__(first.dataset, batch_size, feeds=first.feeds, part=part, **options)
        self.origin = ", ".join(dict.fromkeys(source.dataset.origin for source in sources))
        self._numbers = self._sources[-1].end
        self.unreadable = {
            one.first + number * len(one.source.dataset) + row: problem
            for one in self._sources
            for number in range(one.passes)
            for row, problem in one.source.dataset.bad.items()
        }
        self._streams = {stream for source in sources for feed in source.feeds for stream in feed.streams}

    def fed(self, layer: str, rows: Rows) -> Any:
        """The values of a data layer, without what changes them by chance."""
        return self._taken(rows, None)[layer]

    def left_out(self) -> dict[tuple[str, int], str]:
        """The records that were left out, each once however often its source was passed through."""
        found = {}
        for number, problem in self.bad.items():
            one = next(one for one in self._sources if number < one.end)
            found[one.source.dataset.origin, (number - one.first) % len(one.source.dataset)] = problem
        return found

    def _values(self, epoch: int, rows: Rows) -> dict[str, Any]:
        for one in self._sources:
            one.source.dataset.check_unchanged()
        return self._taken(rows, self._epoch(epoch).random if self.training else None)

    def _taken(self, rows: Rows, random: Mapping[int, RowRandom] | None) -> dict[str, Any]:
        """The feeds of the sources for row numbers. Raises `BadRecords` with those of all sources."""
        parts: list[dict[str, Any]] = []
        problems: dict[int, str] = {}
        for feeds, offset, own in self._groups(rows):
            draws = random and {stream: one.behind(offset) for stream, one in random.items()}
            try:
                parts.append({feed.layer: feed.take(own, draws) for feed in feeds})
            except BadRecords as error:
                problems |= {offset + row: problem for row, problem in error.problems.items()}
        if problems:
            raise BadRecords(problems)
        return {layer: _joined([part[layer] for part in parts]) for layer in parts[0]}

    def _groups(self, rows: Rows) -> Iterator[tuple[Sequence[DataFeed], int, Rows]]:
        """Numbers by source and pass: its feeds, its first number, and the rows in the data set."""
        if not len(rows):  # the part of another process
            yield self._sources[0].source.feeds, 0, rows
        for one in self._sources:
            count = len(one.source.dataset)
            own = rows[(rows >= one.first) & (rows < one.end)] - one.first
            for number in np.unique(own // count).tolist():
                yield one.source.feeds, one.first + number * count, own[own // count == number] % count

    def _order(self, epoch: int) -> Rows:
        return self._mixed(epoch, in_order=not self.shuffle)

    def _mixed(self, epoch: int, *, in_order: bool) -> Rows:
        """The rows of an epoch, as if those of each source came at equal distances of time."""
        ids, times = [], []
        for stream, one in enumerate(self._sources):
            source, begin = one.source, epoch * one.rows
            length, count = len(source.part), len(source.dataset)
            passes = range(begin // length, (begin + one.rows - 1) // length + 1)
            orders = [
                (number - passes[0]) * count + (source.part if in_order else self._shuffled(source, stream, number))
                for number in passes
            ]
            at = begin - passes[0] * length
            ids.append(one.first + np.concatenate(orders)[at : at + one.rows])
            times.append((np.arange(one.rows) + 0.5) / source.ratio)
        return np.asarray(np.concatenate(ids)[np.argsort(np.concatenate(times), kind="stable")])

    def _shuffled(self, source: MixedSource, number: int, epoch: int) -> Rows:
        return shuffled(source.part, source.dataset.blocks, self.seed, epoch, -number % 2**16)


def _numbered(sources: Sequence[MixedSource]) -> list[_Numbered]:
    """Rows of each source in an epoch, and numbers for them. Raises `DataError` for too few, and too many."""
    found: list[_Numbered] = []
    whole, first = len(sources[0].part), 0
    for source in sources:
        share = whole * (source.ratio / sources[0].ratio)
        if not 0.5 < share < MOST_ROWS:
            raise DataError(
                f"{source.dataset.origin}: with the ratios {sources[0].ratio:g} and {source.ratio:g}, an "
                f"epoch of {whole:,} rows of {sources[0].dataset.origin} would need {share:.3g} rows of this source; "
                "change the ratios, or list another source first"
            )
        rows, length = round(share), len(source.part)
        passes = rows // length + (2 if rows % length else 0)
        found.append(_Numbered(source, rows, first, passes))
        first = found[-1].end
    return found


def check_alike(first: Dataset, other: Dataset) -> None:
    """`DataError` unless fields of both have the same ids for words, and the same columns; feeds check the rest."""
    for name in (*first.raw, *first.fields):
        if name not in other.raw and name not in other.fields:
            continue
        meant, found = _ids(first, name), _ids(other, name)
        if meant != found:
            raise DataError(
                f"{other.origin}: field `{name}` contains {_said(found)}, but {_said(meant)} in "
                f"{first.origin}; mixed sources need the same ids: use the same `classes` or dictionary, or "
                "words in both"
            )
        own, wanted = _columns(other, name), _columns(first, name)
        if own is not None and wanted is not None and {*own} != {*wanted}:
            odd = min({*own} ^ {*wanted})
            raise DataError(
                f"{other.origin}: the columns of field `{name}` differ from {first.origin}, such as `{odd}`; "
                f'select the same with `columns: "{name} = first, second"`, or remove columns'
            )


def _ids(dataset: Dataset, name: str) -> tuple[str, ...] | None:
    """The vocabulary of an id field: known words, a vocabulary that is still to be fitted (None), or none."""
    return None if isinstance(dataset.raw.get(name), WordColumn) else dataset.words.get(name, ())


def _columns(dataset: Dataset, name: str) -> Sequence[str] | None:
    column = dataset.raw.get(name)
    return column.names if isinstance(column, GapColumn) else dataset.columns.get(name)


def _said(words: tuple[str, ...] | None) -> str:
    if words is None:
        return "words"
    return f"ids of {', '.join(words[:4])}{', ...' if len(words) > 4 else ''}" if words else "numbers"


def _joined(parts: Sequence[Any]) -> Any:
    """Concatenated arrays, sparse rows or sequences."""
    from paddle_layers.runtime.batch.values import Csr, Sequences, join_csr

    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], Csr):
        return join_csr(parts)
    if not isinstance(parts[0], Sequences):
        return np.concatenate(parts)
    nested = parts[0].sub_starts is not None
    return Sequences(
        _joined([part.data for part in parts]),
        joined_starts([part.starts for part in parts]),
        joined_starts([part.sub_starts for part in parts]) if nested else None,
    )
