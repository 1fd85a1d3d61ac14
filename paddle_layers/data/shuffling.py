"""Shuffling: the order of the rows in an epoch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .columns import Rows
from .random import generator

TOGETHER = 8
"""Maximum number of blocks that are shuffled together, if memory allows."""


class Blocks(NamedTuple):
    """Rows that are read as a whole: where they start, and the end; and how many of them memory holds."""

    starts: Rows
    together: int = TOGETHER


def shuffled(part: Rows, blocks: Blocks | None, seed: int, epoch: int, stream: int = 0) -> Rows:
    """Random order of the rows of `part`, which are ascending; it depends on seed, epoch and random stream alone.

    If rows are stored in `blocks`, these are shuffled, and rows are shuffled within groups of a few blocks: each block
    is then read once per epoch, not once for each row.
    """
    random = generator(seed, epoch, stream)
    if blocks is None:
        return np.asarray(random.permutation(part))
    starts, together = np.searchsorted(part, blocks.starts), blocks.together
    order = random.permutation(len(starts) - 1)
    parts = [
        random.permutation(np.concatenate([part[starts[one] : starts[one + 1]] for one in order[first:][:together]]))
        for first in range(0, len(order), together)
    ]
    return np.concatenate(parts)
