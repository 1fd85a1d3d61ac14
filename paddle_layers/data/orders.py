"""The order of the rows in an epoch."""

from __future__ import annotations

import numpy as np

from .columns import Rows
from .random import generator

TOGETHER = 8
"""Blocks whose rows are mixed with one another."""


def shuffled(part: Rows, blocks: Rows | None, seed: int, epoch: int) -> Rows:
    """The rows of `part`, which rise, in an order that seed and epoch alone choose.

    Where rows lie in `blocks` that are read as a whole (their starts, and the end), blocks come in random order, and
    rows in random order among those of a few blocks: so that a block is read once in an epoch, not once for each row.
    """
    random = generator(seed, epoch, 0)
    if blocks is None:
        return np.asarray(random.permutation(part))
    starts = np.searchsorted(part, blocks)
    order = random.permutation(len(blocks) - 1)
    parts = [
        random.permutation(np.concatenate([part[starts[one] : starts[one + 1]] for one in order[first:][:TOGETHER]]))
        for first in range(0, len(order), TOGETHER)
    ]
    return np.concatenate(parts)
