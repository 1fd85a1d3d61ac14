"""Convolutions with 3x3 filters by Winograd's F(4x4, 3x3): 36 products of matrices with a quarter of the operations.

Filters are transformed first, all of them. An item takes some images: for a block of tiles, all channels are
transformed, 36 products over the channels follow, and the outputs are transformed back. Tiles run on over the images.

Rounding: with normal inputs and weights the largest error is below 5e-6 of the largest output, as it is for the sum
itself (measured for 64 channels: 1.6e-6 and 1.1e-6); tests keep it there. It is relative to the largest number that
a tile sees: beside a number that is 1e6 times as large, small ones are lost. An infinite number or NaN makes all
outputs of the tiles NaN that see it.
"""

from __future__ import annotations

from paddle_layers.kernels.primitives.compiling import also_in_python, copied
from paddle_layers.kernels.primitives.epilogues import end_run
from paddle_layers.kernels.primitives.interleaving import deal
from paddle_layers.kernels.primitives.moves import copy_run, set_entry, spread_run, turn, zeros
from paddle_layers.kernels.primitives.tiles import VECTOR, products, vectors_of
from paddle_layers.kernels.primitives.transforms import (
    EDGE,
    POINTS,
    SIDE,
    transform_elements,
    transform_outputs,
    transform_pixels,
)  # fmt: skip

LANES = 16
"""Numbers of the widest vectors: blocks of transformed filters have so many, blocks of tiles multiples."""
SHORTEST = 32
"""Filters of an item at least."""
ITEMS = 4
"""Items of a batch, if its images have that many filters."""
OVERHEAD = 1.5
"""What transforms add to the products, and what is left out for a gain that is too small."""
BLOCK = 1 << 19
"""Numbers of transformed pixels and of products of a block at most, if it has more than two vectors of tiles."""
FILTERS = 4000
"""What transforming the filters takes, in products of one filter and channel: more than small images are worth."""
SKEW = 16
"""Numbers behind the tiles of a place, for vectors that reach over."""
ENTRY = 4
"""Numbers that an entry of a table takes."""


@also_in_python
def rounded(count):
    """The next multiple of the widest vectors."""
    return (count + LANES - 1) // LANES * LANES


@also_in_python
def block_tiles(channels, filters):
    """Tiles of a block, by shape only."""
    return 3 * LANES if POINTS * (channels + filters) * 3 * LANES <= BLOCK else 2 * LANES


@also_in_python
def tile_parts(N, filters, P, Q):
    """Images of an item, runs that the tiles of one are cut into, and runs of its filters; by shape only.

    An item needs a vector of tiles, and a run of them two. Each run of the filters transforms the image again, so that
    tiles are cut first.
    """
    tiles = ((P + SIDE - 1) // SIDE) * ((Q + SIDE - 1) // SIDE)
    images, runs, parts = 1, 1, max(1, min((ITEMS + N - 1) // max(N, 1), rounded(tiles) // LANES // 2))
    for count in range(2, min(N, LANES // tiles) + 1):
        if N % count == 0:
            images = count
    for count in range(2, filters // SHORTEST + 1):
        if images == 1 and N * parts * runs < ITEMS and filters % count == 0:
            runs = count
    return images, parts, runs


@also_in_python
def tile_items(N, filters, P, Q):
    """Work items of a batch."""
    images, parts, runs = tile_parts(N, filters, P, Q)
    return N // images * parts * runs


@also_in_python
def tiles_of(images, part, parts, P, Q):
    """First tile of a run of those of some images, and the one behind its last; runs are cut between vectors."""
    tiles = images * ((P + SIDE - 1) // SIDE) * ((Q + SIDE - 1) // SIDE)
    vectors = rounded(tiles) // LANES
    return vectors * part // parts * LANES, min(tiles, vectors * (part + 1) // parts * LANES)


def pays(N: int, filters: int, channels: int, P: int, Q: int, training: bool) -> bool:
    """Whether 36 products of whole vectors of tiles, with their transforms, take less time than the sums themselves.

    In the phase test filters are transformed once for all passes.
    """
    images = tile_parts(N, filters, P, Q)[0]
    tiles = images * -(-P // SIDE) * -(-Q // SIDE)
    products = N // images * rounded(tiles) * POINTS
    wide_enough = min(filters, channels) >= LANES and tile_items(N, filters, P, Q) > 1
    return wide_enough and products * OVERHEAD + FILTERS * training < N * P * (Q + 1) * 9


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
def tile_numbers(channels, filters, Q):
    """Numbers of scratch memory for a piece of `convolve_tiles`, whatever run of the filters it has."""
    tiles = block_tiles(channels, filters)
    block = POINTS * tiles * (channels + filters) + (POINTS + SIDE * SIDE) * tiles + 6 * SKEW * POINTS
    return ENTRY + EDGE * line_numbers(Q) + block


@copied
def transform_filters(first, last, weight, filters, channels, to, line, size, one):
    """Transform blocks `first` to `last` of the filters (filters, channels, 3, 3).

    `weight`, `to` and `line`, of 144 numbers for a channel, are addresses. Transformed, a point of all filters lies
    together, and there, in the order in which products need them, the numbers of a block: (36, blocks, channels, 16).
    """
    lanes, block = VECTOR // size, LANES * size
    point = rounded(filters) * channels * size
    for k in range(first, last):
        rows = min(LANES, filters - k * LANES)
        turn(line, weight + k * LANES * channels * 9 * size, rows, channels * 9, channels * 9, LANES, 1, size, one)
        for channel in range(channels):
            for lane in range(0, rows, lanes):
                transform_elements(
                    line + channel * 9 * block + lane * size, block,
                    to + (k * channels + channel) * block + lane * size, point, one,
                )  # fmt: skip


@copied
def transform_filters_back(first, last, weight, filters, channels, to, line, size, one):
    """As `transform_filters`, of filters `first` to `last` that go back: (36, blocks, filters, 16), of channels.

    They are turned by half, and `line` has 16 rows of `channels` numbers and some more.
    """
    wide, lanes, block = rounded(channels), VECTOR // size, LANES * size
    for k in range(first, last):
        of = weight + k * channels * 9 * size
        safe = max(channels - 2, 0)  # rows of 16 numbers are read, and 9 are wanted
        turn(line, of, safe, LANES, 9, wide, 1, size, one)
        turn(line + safe * size, of + safe * 9 * size, channels - safe, 9, 9, wide, 1, size, one)
        for channel in range(0, channels, lanes):
            transform_elements(
                line + (8 * wide + channel) * size, -wide * size,
                to + (channel // LANES * filters + k) * block + channel % LANES * size, filters * wide * size, one,
            )  # fmt: skip


@copied
def convolve_tiles(
    tiles, channels, begin, end, most, x, x_image, extents, padding, prepared, point_step, y, y_image, P, Q, place,
    adding, epilogue, size, one,
):  # fmt: skip
    """Tiles and filters `begin` to `end` of y (images, filters, P, Q) = x (images, channels, H, W) with them, or y +=.

    `x`, `prepared`, `y` and `place`, of the scratch memory, are addresses; `x_image` and `y_image` the bytes from one
    image to the next, `point_step` those from one point of all filters to the next. `tiles` are the first, and the one
    behind the last; a block has `most` of them. `epilogue` is that of `primitives.epilogues`.
    """
    filters, block = end - begin, LANES * size
    lines = place + ENTRY * size
    gathered = lines + EDGE * line_numbers(Q) * size
    transformed = gathered + POINTS * (most + SKEW) * size
    multiplied = transformed + POINTS * skewed(channels * most * size)
    spread = multiplied + POINTS * skewed(filters * most * size)
    set_entry(place, 0, 0, 0)
    for first in range(tiles[0], tiles[1], most):
        count = min(most, tiles[1] - first)
        vectors = vectors_of(count, size)
        row = vectors * VECTOR
        x_point, y_point = skewed(channels * row), skewed(filters * row)
        for channel in range(channels):
            gather(
                gathered, row + SKEW * size, lines, first, count, x + channel * extents[0] * extents[1] * size, x_image,
                extents, padding, P, Q, size, one,
            )  # fmt: skip
            for vector in range(vectors):
                transform_pixels(
                    gathered + vector * VECTOR, row + SKEW * size,
                    transformed + channel * row + vector * VECTOR, x_point, one,
                )  # fmt: skip
        for point in range(POINTS):
            k = begin
            while k < end:
                rows = min(LANES - k % LANES, end - k)
                products(
                    rows, vectors, 0, channels, row, block, 1, place,
                    prepared + point * point_step + k // LANES * channels * block + k % LANES * size, size,
                    transformed + point * x_point, multiplied + point * y_point + (k - begin) * row, row, False, one,
                )  # fmt: skip
                k += rows
        for k in range(filters):
            for vector in range(vectors):
                transform_outputs(
                    multiplied + k * row + vector * VECTOR, y_point, spread + vector * SIDE * VECTOR,
                    SIDE * row, one,
                )  # fmt: skip
            if epilogue[0] != 0:
                end_run(spread, SIDE * SIDE * row // size, epilogue[0] + (begin + k) * size, epilogue[1], one)
            scatter(
                y + (begin + k) * P * Q * size, y_image, spread, SIDE * row, first, count, P, Q, adding, size, one
            )  # fmt: skip


@copied
def gather(to, to_step, lines, first, count, x, x_image, extents, padding, P, Q, size, one):
    """The pixels of tiles of a channel: 36 rows of them, `to_step` bytes apart, one for each place in a tile.

    Behind each row a vector may be written to.
    """
    H, W = extents
    across, down = (Q + SIDE - 1) // SIDE, (P + SIDE - 1) // SIDE
    line, lanes = line_numbers(Q) * size, VECTOR // size
    tile, end = first, first + count
    while tile < end:
        image, top, left = tile // across // down, tile // across % down, tile % across
        run = min(across - left, end - tile)
        begin, wide = left * SIDE - padding[1], run * SIDE + EDGE - SIDE
        low = min(wide, max(0, -begin))
        high = max(low, min(wide, W - begin))
        for a in range(EDGE):
            h, at = top * SIDE - padding[0] + a, lines + a * line
            if 0 <= h < H and high > low:
                zeros(at, low, size, one)
                copy_run(at + low * size, x + image * x_image + (h * W + begin + low) * size, high - low, size, one)
                zeros(at + high * size, wide - high, size, one)
            else:
                zeros(at, wide, size, one)
        target = to + (tile - first) * size
        for a in range(EDGE):  # lines that were just written are read slowly
            for part in range(0, run, lanes):
                at = lines + a * line + part * SIDE * size
                deal(target + a * EDGE * to_step + part * size, to_step, at, one)
        tile += run


@copied
def scatter(y, y_image, of, of_step, first, count, P, Q, adding, size, one):
    """Take the outputs of tiles of a filter, in four rows `of_step` bytes apart, to their places in the image."""
    across, down = (Q + SIDE - 1) // SIDE, (P + SIDE - 1) // SIDE
    tile, end = first, first + count
    while tile < end:
        image, top, left = tile // across // down, tile // across % down, tile % across
        run = min(across - left, end - tile)
        for i in range(min(SIDE, P - top * SIDE)):
            to = y + image * y_image + ((top * SIDE + i) * Q + left * SIDE) * size
            spread_run(
                to, of + i * of_step + (tile - first) * SIDE * size, min(run * SIDE, Q - left * SIDE), 1, adding,
                size, one,
            )  # fmt: skip
        tile += run


def tiles_pay(
    N: int, K: int, D: int, P: int, Q: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, dilation: int, dilation_y: int, training: bool,
) -> bool:  # fmt: skip
    """Whether Winograd's kernel takes a convolution."""
    plain = groups * stride * stride_y * dilation * dilation_y == 1
    return plain and A == B == 3 and pays(N, K, D, P, Q, training)


def tiles_pay_back(
    N: int, K: int, D: int, H: int, W: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, dilation: int, dilation_y: int, training: bool,
) -> bool:  # fmt: skip
    """Whether Winograd's kernel takes the gradient of the input."""
    return tiles_pay(N, D, K, H, W, A, B, groups, stride, stride_y, dilation, dilation_y, training)


def winograd_items(N: int, K: int, P: int, Q: int) -> int:
    """Work items of `winograd_y`."""
    return int(tile_items(N, K, P, Q))


def winograd_items_back(N: int, D: int, H: int, W: int) -> int:
    """Work items of `winograd_dx`."""
    return int(tile_items(N, D, H, W))


def filters_prepared(K: int, D: int) -> int:
    """Numbers of the transformed filters."""
    return int(filter_numbers(K, D))


def filters_prepared_back(K: int, D: int) -> int:
    """The same for the gradient of the input."""
    return int(filter_numbers(D, K))


def winograd_scratch(K: int, D: int, Q: int) -> int:
    """Numbers of a piece's memory."""
    return int(tile_numbers(D, K, Q))


def winograd_scratch_back(K: int, D: int, W: int) -> int:
    """The same for the gradient of the input."""
    return winograd_scratch(K, D, W)
