"""Test batches: row counts and sequence groupings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BatchLayout:
    """Rows of the deepest level, and the starts of the sequences that group them, outermost first.

    A sample is a row, or the outermost sequence where there are sequences.
    """

    rows: int
    starts: tuple[tuple[int, ...], ...] = ()

    def __str__(self) -> str:
        kinds = ("sequence starts", "sub-sequence starts")
        starts = [f", {kind} {list(part)}" for kind, part in zip(kinds, self.starts, strict=False)]
        return f"{self.rows} row{'s' * (self.rows != 1)}" + "".join(starts)

    @property
    def samples(self) -> int:
        """The number of samples."""
        return self.rows_at(0)

    def rows_at(self, level: int) -> int:
        """Rows of a value of a sequence level; a value above the deepest level has a row for each sequence."""
        return self.rows if level == len(self.starts) else len(self.starts[level]) - 1

    def rows_of(self, first: int, last: int, level: int) -> slice:
        """The rows of the samples from `first` to before `last` in a value of a sequence level."""
        for starts in self.starts[:level]:
            first, last = starts[first], starts[last]
        return slice(first, last)

    def times(self, count: int) -> BatchLayout:
        """A batch with each row repeated, in as many sequences."""
        inner = [tuple(start * count for start in starts) for starts in self.starts[-1:]]
        return BatchLayout(self.rows * count, (*self.starts[:-1], *inner))

    def cut(self, first: int, last: int) -> BatchLayout:
        """A batch of the samples from `first` to before `last`."""
        kept = []
        for starts in self.starts:
            kept.append(tuple(start - starts[first] for start in starts[first : last + 1]))
            first, last = starts[first], starts[last]
        return BatchLayout(last - first, tuple(kept))


def with_samples(samples: int, level: int) -> BatchLayout:
    """A batch of so many samples, whose sequences have several lengths; empty ones are among them."""
    starts, rows = [], samples
    for lengths in SEQUENCE_LENGTHS[:level]:
        begin = [0]
        for at in range(rows):
            begin.append(begin[-1] + lengths[at % len(lengths)])
        starts.append(tuple(begin))
        rows = begin[-1]
    return BatchLayout(rows, tuple(starts))


# 5 and 4 lengths, so that the two levels do not repeat together; both contain an empty one.
SEQUENCE_LENGTHS = ((2, 1, 3, 0, 1), (1, 2, 0, 3))
"""Lengths of the sequences of a batch, again and again; by level, outermost first."""

EMPTY: dict[int, tuple[BatchLayout, ...]] = {
    0: (BatchLayout(0),),
    1: (BatchLayout(0, ((0,),)), BatchLayout(0, ((0, 0),))),
    2: (BatchLayout(0, ((0,), (0,))), BatchLayout(0, ((0, 1), (0, 0)))),
}
"""Batches without rows by sequence level: without samples, and of one sample that is an empty sequence."""

# The empty sequence is neither first nor last: at the ends, an index error might not reach a neighbor.
# The first sequence and sub-sequence have two rows, so that a backward loop that stops before row 0 has an effect.
STARTS: dict[int, tuple[tuple[int, ...], ...]] = {0: (), 1: ((0, 2, 2, 6, 7),), 2: ((0, 2, 3, 5), (0, 2, 2, 3, 6, 7))}
"""Starts by sequence level, outermost first: one empty sequence, one empty sub-sequence."""

USUAL = {level: BatchLayout(7, starts) for level, starts in STARTS.items()}
"""The batch of the examples, by sequence level."""

BATCHES: dict[int, tuple[BatchLayout, ...]] = {
    0: (BatchLayout(1), BatchLayout(2), USUAL[0]),
    1: (
        BatchLayout(1, ((0, 1),)),
        BatchLayout(3, ((0, 3),)),
        BatchLayout(2, ((0, 0, 2),)),
        USUAL[1],
        BatchLayout(7, ((0, 1, 1, 4, 4, 5, 7, 7),)),
    ),
    2: (
        BatchLayout(1, ((0, 1), (0, 1))),
        BatchLayout(3, ((0, 2), (0, 0, 3))),
        BatchLayout(2, ((0, 0, 1), (0, 2))),
        USUAL[2],
        BatchLayout(7, ((0, 1, 1, 2, 4, 4, 6, 7), (0, 1, 1, 2, 4, 4, 5, 7))),
    ),
}
"""Batches of generated configs by sequence level: 1, 2 and 7 samples, empty ones among them; the smallest first."""
