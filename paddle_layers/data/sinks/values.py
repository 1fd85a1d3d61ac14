"""Values of a batch, as sinks take them."""

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

    `classes` has the numbers of those of which a class is meant, `texts` the words of these and of ids: of ids in
    sequences a line for each sequence; `names` has what each column of a value with classes is called: its word, or its
    number. `starts` has, for values in sequences, where each sequence begins, and for
    nested ones where each sub-sequence does, with the number of rows at the end.
    """

    values: dict[str, Array]
    classes: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    starts: dict[str, tuple[Array, ...]] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)

    def samples(self, name: str) -> int:
        """How many samples a value has: sequences, where it is in these."""
        return len(self.starts[name][0]) - 1 if name in self.starts else len(self.values[name])

    def count_samples(self) -> int:
        """How many samples all values have. Raises `DataError` where they have different numbers of them."""
        counts = {name: self.samples(name) for name in self.values}
        check_equal(counts, "samples in a batch, which no line can hold", ".npz, which holds them all")
        return next(iter(counts.values()))


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
            f"the values have different numbers of {problem}: {listed}. Choose some with --value, or write a file "
            f"that ends in {remedy}"
        )
