"""Sequence batching: the rows of a block of sequences at a time step are one matrix.

Sequences are sorted by length and divided into blocks. A work item takes one block through all of its steps, so threads
never wait for each other; the sequences that are still active come first, so nothing is padded.
"""

from __future__ import annotations

import numpy as np

from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled
from paddle_layers.kernels.primitives.vector_functions import copy

# As many as `MAX_CHUNKS`: more blocks would not run concurrently, and each copies the weight (4 MiB for an LSTM of 512
# units).
BLOCKS = 8
"""Number of blocks of a large batch: each has a separate packed weight."""
# Two register tiles of 8 rows with AVX-512: fewer rows per product reload the packed weight for less work.
USUAL = 16
"""Sequences per block, as long as there are fewer than `BLOCKS` blocks; blocks of a small batch have four."""


@also_in_python
def blocks_of(sequences):
    """Number of blocks of a batch; depends on the shape only and does not decrease with more sequences."""
    # Never decreasing: the scratch buffer is sized for the largest batch of a plan and must suffice for smaller ones.
    return min((sequences + 3) // 4, max(4, min(BLOCKS, (sequences + USUAL - 1) // USUAL)))


@also_in_python
def most_of(sequences):
    """Maximum number of sequences per block of a batch of at most this size."""
    return max(USUAL, (sequences + BLOCKS - 1) // BLOCKS)


def blocks(S: int) -> int:
    """Number of blocks of a batch."""
    return int(blocks_of(S))


@compiled
def block(item, starts, reverse):
    """The sequences of a block, the longest first: indices, first rows, lengths, and the stride to their next rows.

    The first item takes the longest sequences, the second the shortest and so on: adjacent items run on one thread.
    """
    sequences = starts.size - 1
    count = blocks_of(sequences)
    number = count - 1 - item // 2 if item % 2 else item // 2
    low, high = sequences * number // count, sequences * (number + 1) // count
    # A stable sort, so that the assignment of equally long sequences, and with it every rounding, is reproducible.
    chosen = np.argsort(starts[:-1] - starts[1:], kind="mergesort")[low:high]
    begin, end = starts[:-1][chosen], starts[1:][chosen]
    return (chosen, end - 1, end - begin, -1) if reverse else (chosen, begin, end - begin, 1)


@compiled
def set_initial(into, initial, chosen):
    """The initial states of these sequences, if there are any; else `into` stays zero."""
    if initial is not None:
        for r in range(chosen.size):
            copy(into[r], initial[chosen[r]])


@compiled
def active_sequences(lengths, step):
    """Number of active sequences at this step; `lengths` are decreasing."""
    count = lengths.size
    while count > 0 and lengths[count - 1] <= step:
        count -= 1
    return count
