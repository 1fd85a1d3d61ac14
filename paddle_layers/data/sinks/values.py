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
    """Values by name, each with one row per row of the batch."""

    values: dict[str, Array]
    """Arrays (rows, ...) by name."""
    classes: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    """Predicted classes by name, (rows,) or (rows, ...) with one per pixel."""
    texts: dict[str, list[str]] = field(default_factory=dict)
    """Words of classes and ids by name, one line per row, or per sequence for ids of sequences."""
    starts: dict[str, tuple[Array, ...]] = field(default_factory=dict)
    """By name, for sequences, the offsets of the sequences and of nested sub-sequences, each with the total."""
    names: dict[str, list[str]] = field(default_factory=dict)
    """By name, the word or index of each column of class scores."""
    records: NDArray[np.int64] | None = None
    """Record of each sample if records were skipped; otherwise they are consecutive."""
    files: list[str] = field(default_factory=list)
    """File of each sample if every sample is a file, such as an image; its series, if it is one; otherwise empty."""
    title: str = "file"
    """Name of the column of `files`."""

    def samples(self, name: str) -> int:
        """Number of samples of a value.

        Args:
            name: Name of the value.

        Returns:
            Number of sequences, or of rows without sequences.
        """
        return len(self.starts[name][0]) - 1 if name in self.starts else len(self.values[name])

    def count_samples(self) -> int:
        """The common number of samples of all values.

        Returns:
            Number of samples.

        Raises:
            DataError: The values have different numbers of samples.
        """
        counts = {name: self.samples(name) for name in self.values}
        check_equal(counts, "samples per batch, which one line cannot represent", ".npz, which stores them separately")
        return next(iter(counts.values()))

    def numbers(self, first: int, count: int) -> NDArray[np.int64]:
        """Records of samples or lines.

        Args:
            first: Record of the first sample, if none was skipped.
            count: Number of samples, or of lines of sequences.

        Returns:
            Index of the record of each sample or line, (count,).

        Raises:
            DataError: The number of samples does not match the records.
        """
        samples = min(map(self.samples, self.values))
        records = np.arange(first, first + samples) if self.records is None else self.records
        return records[self._samples_of(count, len(records))]

    def files_of(self, count: int) -> list[str]:
        """Files or series of samples or lines.

        Args:
            count: Number of samples, or of lines of sequences.

        Returns:
            The file of each sample or line.

        Raises:
            DataError: The number of samples does not match the files, or a value has the name of their column.
        """
        if self.title in self.values:
            raise DataError(f"a value is named `{self.title}`, the name of the column of the samples: rename it")
        return [self.files[sample] for sample in self._samples_of(count, len(self.files)).tolist()]

    def _samples_of(self, count: int, samples: int) -> NDArray[np.int64]:
        """The sample of each line, where a sequence has several lines."""
        if samples == count:
            return np.arange(count)
        for starts in self.starts.values():
            ends = np.arange(len(starts[0]))
            for inner in starts:
                ends = inner[ends]
                if len(ends) == samples + 1 and ends[-1] == count:
                    return np.repeat(np.arange(samples), np.diff(ends))
        raise DataError(
            f'cannot match {count} rows of values to {samples} records: remove `on_error: "skip"` of the source'
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
