"""Winograd convolution: work items, scratch sizes and the cost model, which depend on shapes only."""

from __future__ import annotations

from paddle_layers.kernels.primitives.compile_options import also_in_python
from paddle_layers.kernels.primitives.microkernels import ENTRY, LANES, rounded
from paddle_layers.kernels.primitives.winograd_transforms import EDGE, POINTS, SIDE

from .conv_tiling import ConvProblem
from .direct_conv import MOST_RUNS

# Each run of filters transforms the image again; this bounds the share of the transforms.
SHORTEST = 32
"""Minimum number of filters of an item."""
# Fewer than `MAX_CHUNKS`: runs of filters transform the pixels again, so that more items mean more transforms for the
# same products.
ITEMS = 4
"""Number of items of a batch, if its planes have that many filters."""
# A direct sum has 144 products for the 36 of a tile. The factor compensates for the transforms of pixels and sums and
# for the loads of 36 matrices, and keeps the direct sums, which need no transformed filters, where the gain is small.
OVERHEAD = 1.5
"""Relative cost of the transforms, including a minimum gain."""
# 2 MiB of float32: the pixels of a block are read for every filter and its products once more by the inverse transform.
BLOCK = 1 << 19
"""Maximum number of transformed pixels and products of a block, if it has more than two vectors of tiles."""
# In training the filters change in every step and are transformed each time; in the test phase once (`prepared`).
FILTERS = 4000
"""Cost of transforming the filters, in products of one filter and channel: more than small images repay."""
# Measured for batches of one: two layers of SqueezeNet from 48 channels to 192 filters (9,216 pairs) take 149 us
# directly and 180 us by tiles; five small ones of GoogLeNet 0.72 to 0.80 of the direct time by tiles.
FEW_PAIRS = 1 << 14
"""Minimum number of pairs of a filter and a channel for a single vector of tiles: transformed filters have four times
as many elements, which come from main memory for few products each.
"""
SKEW = 16
"""Padding elements after the tiles of a position, for vectors that extend past the end."""


@also_in_python
def block_tiles(channels, filters):
    """Tiles of a block; depends on shapes only."""
    # Three vectors fill the register tile of 8 x 3; two are taken if three would not leave the block in the cache.
    return 3 * LANES if POINTS * (channels + filters) * 3 * LANES <= BLOCK else 2 * LANES


@also_in_python
def tile_parts(N, filters, P, Q):
    """Planes of an item, runs of the tiles of one plane, and runs of its filters; depends on shapes only.

    An item needs a vector of tiles, and a run of them two; a block of them is better, where that leaves enough items.
    Each run of the filters transforms the plane again, so that tiles are split first.
    """
    tiles = ((P + SIDE - 1) // SIDE) * ((Q + SIDE - 1) // SIDE)
    planes, runs, parts = 1, 1, max(1, min((ITEMS + N - 1) // max(N, 1), rounded(tiles) // LANES // 2))
    for count in range(2, min(N, 3 * LANES // tiles) + 1):
        if N % count == 0 and (count * tiles <= LANES or N // count >= ITEMS):
            planes = count
    for count in range(2, min(MOST_RUNS, filters // SHORTEST) + 1):
        if planes > 1 or N * parts * runs >= ITEMS:
            break
        if filters % count == 0:
            runs = count
    return planes, parts, runs


@also_in_python
def tile_items(N, filters, P, Q):
    """Work items of `N` planes."""
    planes, parts, runs = tile_parts(N, filters, P, Q)
    return N // planes * parts * runs


@also_in_python
def tiles_of(first, planes, part, parts, P, Q):
    """First tile of a run of those of some planes, and one past its last; runs are split between vectors."""
    of_plane = ((P + SIDE - 1) // SIDE) * ((Q + SIDE - 1) // SIDE)
    begin, tiles = first * of_plane, planes * of_plane
    vectors = rounded(tiles) // LANES
    return begin + vectors * part // parts * LANES, begin + min(tiles, vectors * (part + 1) // parts * LANES)


def pays(N: int, filters: int, channels: int, P: int, Q: int, training: bool) -> bool:
    """Whether 36 products of whole vectors of tiles, with their transforms, are faster than the direct sums.

    In the test phase filters are transformed once for all passes.
    """
    planes = tile_parts(N, filters, P, Q)[0]
    tiles = planes * -(-P // SIDE) * -(-Q // SIDE)
    places = N // planes * rounded(tiles)
    wide_enough = min(filters, channels) >= LANES and tile_items(N, filters, P, Q) > 1
    enough = places > LANES or filters * channels >= FEW_PAIRS
    return wide_enough and enough and places * POINTS * OVERHEAD + FILTERS * training < N * P * (Q + 1) * 9


@also_in_python
def skewed(step):
    """A byte stride padded to an odd number of cache lines: addresses pages apart share a few cache sets."""
    # The 36 matrices of a block are read at the same index in turn. With a stride of a power of two they would all map
    # to the same sets of the L1 cache and evict each other.
    return (step + 63) // 64 * 64 | 64


@also_in_python
def line_numbers(Q):
    """Elements of a row of pixels with its padding, and of what vectors read after it."""
    return (Q + SIDE - 1) // SIDE * SIDE + EDGE + 5 * LANES


@also_in_python
def filter_numbers(filters, channels):
    """Elements of the transformed filters: in blocks of as many filters as the widest vectors have lanes."""
    return POINTS * rounded(filters) * channels


@also_in_python
def tile_numbers(channels, taps, filters, Q):
    """Scratch elements of a chunk of `convolve_tiles`, for any run of the filters."""
    tiles = block_tiles(channels * taps, filters)
    block = POINTS * tiles * (channels * taps + filters) + (POINTS * taps + SIDE * SIDE) * tiles + 6 * SKEW * POINTS
    return taps * ENTRY + EDGE * line_numbers(Q) + block


def tiles_pay(problem: ConvProblem) -> bool:
    """Whether the Winograd kernel accepts a convolution."""
    N, K, _, D, _, _, _, E, A, B, R, P, Q, groups, step, _, gap, training = problem
    plain = groups == 1 and {*step, *gap} == {1}
    return plain and A == B == 3 and pays(N * R, K, D * E, P, Q, training)


def winograd_items(problem: ConvProblem) -> int:
    """Work items of `winograd_conv`."""
    return int(tile_items(problem.N * problem.R, problem.K, problem.P, problem.Q))


def filters_prepared(problem: ConvProblem) -> int:
    """Elements of the transformed filters."""
    return int(filter_numbers(problem.K, problem.D * problem.E))


def winograd_scratch(problem: ConvProblem) -> int:
    """Scratch elements of a chunk."""
    return int(tile_numbers(problem.D, problem.E, problem.K, problem.Q))
