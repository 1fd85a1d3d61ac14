"""What Winograd's kernels compute side by side, the memory that they need, and where they pay: by shapes only."""

from __future__ import annotations

from paddle_layers.kernels.primitives.compiling import also_in_python
from paddle_layers.kernels.primitives.tiles import ENTRY, LANES, rounded
from paddle_layers.kernels.primitives.transforms import EDGE, POINTS, SIDE

from .correlations import MOST_RUNS
from .work_items import Steps

SHORTEST = 32
"""Filters of an item at least."""
ITEMS = 4
"""Items of a batch, if its planes have that many filters."""
OVERHEAD = 1.5
"""What transforms add to the products, and what is left out for a gain that is too small."""
BLOCK = 1 << 19
"""Numbers of transformed pixels and of products of a block at most, if it has more than two vectors of tiles."""
FILTERS = 4000
"""What transforming the filters takes, in products of one filter and channel: more than small images are worth."""
FEW_PAIRS = 1 << 14
"""Pairs of a filter and a channel below which one vector of tiles does not pay: transformed filters are four times as
many numbers, which come from memory far away for so few products each."""
SKEW = 16
"""Numbers behind the tiles of a place, for vectors that reach over."""


@also_in_python
def block_tiles(channels, filters):
    """Tiles of a block, by shape only."""
    return 3 * LANES if POINTS * (channels + filters) * 3 * LANES <= BLOCK else 2 * LANES


@also_in_python
def tile_parts(N, filters, P, Q):
    """Planes of an item, runs that the tiles of one are cut into, and runs of its filters; by shape only.

    An item needs a vector of tiles, and a run of them two; a block of them is better, where that leaves enough items.
    Each run of the filters transforms the plane again, so that tiles are cut first.
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
    """First tile of a run of those of some planes, and the one behind its last; runs are cut between vectors."""
    of_plane = ((P + SIDE - 1) // SIDE) * ((Q + SIDE - 1) // SIDE)
    begin, tiles = first * of_plane, planes * of_plane
    vectors = rounded(tiles) // LANES
    return begin + vectors * part // parts * LANES, begin + min(tiles, vectors * (part + 1) // parts * LANES)


def pays(N: int, filters: int, channels: int, P: int, Q: int, training: bool) -> bool:
    """Whether 36 products of whole vectors of tiles, with their transforms, take less time than the sums themselves.

    In the phase test filters are transformed once for all passes.
    """
    planes = tile_parts(N, filters, P, Q)[0]
    tiles = planes * -(-P // SIDE) * -(-Q // SIDE)
    places = N // planes * rounded(tiles)
    wide_enough = min(filters, channels) >= LANES and tile_items(N, filters, P, Q) > 1
    enough = places > LANES or filters * channels >= FEW_PAIRS
    return wide_enough and enough and places * POINTS * OVERHEAD + FILTERS * training < N * P * (Q + 1) * 9


@also_in_python
def skewed(step):
    """A step in bytes, enlarged to an odd number of lines: what lies pages apart shares a few lines of a cache."""
    return (step + 63) // 64 * 64 | 64


@also_in_python
def line_numbers(Q):
    """Numbers of a row of pixels with its borders, and what vectors read behind it."""
    return (Q + SIDE - 1) // SIDE * SIDE + EDGE + 5 * LANES


@also_in_python
def filter_numbers(filters, channels):
    """Numbers of the transformed filters: in blocks of as many filters as the widest vectors have numbers."""
    return POINTS * rounded(filters) * channels


@also_in_python
def tile_numbers(channels, taps, filters, Q):
    """Numbers of scratch memory for a piece of `convolve_tiles`, whatever run of the filters it has."""
    tiles = block_tiles(channels * taps, filters)
    block = POINTS * tiles * (channels * taps + filters) + (POINTS * taps + SIDE * SIDE) * tiles + 6 * SKEW * POINTS
    return taps * ENTRY + EDGE * line_numbers(Q) + block


def tiles_pay(
    N: int, K: int, D: int, E: int, A: int, B: int, R: int, P: int, Q: int, groups: int, step: Steps, gap: Steps,
    training: bool,
) -> bool:  # fmt: skip
    """Whether Winograd's kernel takes a convolution."""
    plain = groups == 1 and {*step, *gap} == {1}
    return plain and A == B == 3 and pays(N * R, K, D * E, P, Q, training)


def tiles_pay_back(
    N: int, K: int, D: int, Z: int, H: int, W: int, E: int, A: int, B: int, groups: int, step: Steps, gap: Steps,
    training: bool,
) -> bool:  # fmt: skip
    """Whether Winograd's kernel takes the gradient of the input."""
    return tiles_pay(N, D, K, E, A, B, Z, H, W, groups, step, gap, training)


def winograd_items(N: int, K: int, R: int, P: int, Q: int) -> int:
    """Work items of `convolve_volumes`."""
    return int(tile_items(N * R, K, P, Q))


def winograd_items_back(N: int, D: int, Z: int, H: int, W: int) -> int:
    """The same for the gradient of the input."""
    return winograd_items(N, D, Z, H, W)


def filters_prepared(K: int, D: int, E: int) -> int:
    """Numbers of the transformed filters."""
    return int(filter_numbers(K, D * E))


def filters_prepared_back(K: int, D: int, E: int) -> int:
    """The same for the gradient of the input."""
    return filters_prepared(D, K, E)


def winograd_scratch(K: int, D: int, E: int, Q: int) -> int:
    """Numbers of a piece's memory."""
    return int(tile_numbers(D, E, K, Q))


def winograd_scratch_back(K: int, D: int, E: int, W: int) -> int:
    """The same for the gradient of the input."""
    return winograd_scratch(D, K, E, W)
