"""Cache blocking of fused launches: the columns of a launch table with the block sizes for the rows of a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.generate.drivers import TunedCall
from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.launches.accesses import elements
from paddle_layers.runtime.launches.launch import Launch

from .native import LENGTH, PARTS, TOTAL

BLOCK_BYTES = 1 << 16
"""Bytes of a target per block: together with what is read, a block stays in the L2 cache of a core."""


class CacheBlocks:
    """The fused groups of a table: launches of which all but the first join the previous one."""

    def __init__(self, launches: Sequence[Launch], itemsize: int) -> None:
        self._most = BLOCK_BYTES // itemsize
        heads = [at for at, launch in enumerate(launches) if not launch.joins]
        ends = [*heads, len(launches)][1:]
        self._groups = [(at, end, launches[at]) for at, end in zip(heads, ends, strict=True) if end > at + 1]

    def write(self, table: NDArray[np.int64], work: NDArray[np.int64], rows: Rows, *, smallest: bool = False) -> None:
        """Computes the blocks of the groups for the rows of a batch; `work` of a first launch becomes that of all.

        `smallest` selects the smallest possible blocks: for checks.
        """
        # First all launches as groups of one: a group that was fused for other rows may not be divisible now.
        table[:, LENGTH], table[:, PARTS] = 1, table[:, TOTAL]
        for first, end, head in self._groups:
            cut = _cut(head, table[first:end, TOTAL].tolist(), rows)
            if cut is None:
                continue
            parts, runs, cells = cut
            size = rows.size(elements(head))
            most = 1 if smallest else self._most
            # From sizes only, never from the number of threads: block boundaries are the same on every machine.
            step, width = max(1, most * parts // size), max(1, most * cells // size)
            table[first, LENGTH:] = end - first, parts, runs, cells, step, width
            # A group is split into pieces as one launch, so it is worth splitting if all of it is.
            work[first] = work[first:end].sum()


def _cut(head: Launch, totals: Sequence[int], rows: Rows) -> tuple[int, int, int] | None:
    """Parts of the first launch, runs that they consist of, and cells of the others; `None`: not fused.

    Every work item of a launch after the first is one of equal runs of its target, and so are cells.
    """
    first, cells = totals[0], min(totals[1:])
    # Otherwise a block would end within a work item, whose other part the next launch would read too early.
    if min(totals) <= 0 or any(total % cells for total in totals[1:]):
        return None
    runs = first if head.runs is None else head.runs(rows.of)
    if runs == first and first % cells == 0 and (first == cells or not _has_scratch_per_chunk(head)):
        return cells, cells, cells  # as fine as the others, or finer: they determine the blocks
    # Boundaries of blocks must be boundaries of both: of the runs that the first launch writes and of the cells that
    # the others read.
    return (first, runs, cells) if runs and cells % runs == 0 else None


def _has_scratch_per_chunk(head: Launch) -> bool:
    """Whether its items must be chunked as in a separate launch, because its scratch buffers are per chunk."""
    return isinstance(head.code, TunedCall) and head.code.tuned.scratch_per_chunk
