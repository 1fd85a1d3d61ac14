"""Values of a batch, as the sinks accept them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.data.problems import DataError

Array = NDArray[Any]


@dataclass(frozen=True)
class Values:
    """Values by name, each with a row for each row of the batch.

    `classes` has the numbers of those of which a class is meant, with axes where each pixel has one, `texts` the words
    of these and of ids: of ids in sequences a line for each sequence, of those with axes one for each row; `names` has
    what each column of a value with classes is called: its word, or its number. `starts` has, for values in sequences,
    where each sequence begins, and for nested ones where each sub-sequence does, with the number of rows at the end.
    `records` has the number of the record that each sample is of, where some may have been left out; without it they
    are counted.
    """

    values: dict[str, Array]
    classes: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    starts: dict[str, tuple[Array, ...]] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    records: NDArray[np.int64] | None = None

    def samples(self, name: str) -> int:
        """The number of samples of a value: sequences, if it has these."""
        return len(self.starts[name][0]) - 1 if name in self.starts else len(self.values[name])

    def count_samples(self) -> int:
        """The common number of samples of all values. Raises `DataError` if they differ."""
        counts = {name: self.samples(name) for name in self.values}
        check_equal(counts, "samples per batch, which one line cannot represent", ".npz, which stores them separately")
        return next(iter(counts.values()))

    def numbers(self, first: int, count: int) -> NDArray[np.int64]:
        """The records that so many samples, or lines, are of; counted from `first` where none is left out.

        Raises `DataError` where there are others than for the records.
        """
        if self.records is None:
            return np.arange(first, first + count)
        if len(self.records) == count:
            return self.records
        for starts in self.starts.values():
            ends = starts[0]
            for inner in starts[1:]:
                ends = inner[ends]
            if len(ends) == len(self.records) + 1 and ends[-1] == count:
                return np.repeat(self.records, np.diff(ends))
        raise DataError(
            f'cannot match {count} rows of values to {len(self.records)} records: remove `on_error: "skip"` '
            "of the source"
        )


def grouped(items: Sequence[Any], starts: Sequence[Array]) -> list[Any]:
    """Rows in sequences, and in sub-sequences, as lists of lists."""
    found = list(items)
    for ends in reversed(starts):
        found = [found[first:last] for first, last in pairwise(ends.tolist())]
    return found


def check_equal(counts: Mapping[str, int], problem: str, remedy: str) -> None:
    """A line is for a row of every value; values in sequences have other rows than those of samples."""
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"`{name}` {count}" for name, count in counts.items())
        raise DataError(
            f"the values have different numbers of {problem}: {listed}. Select some with --value, or write to {remedy}"
        )
