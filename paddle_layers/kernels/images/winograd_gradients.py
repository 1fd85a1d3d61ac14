"""Filter gradients of 3x3 convolutions by Winograd's F(4x4, 3x3): 36 products per tile instead of 144.

The pixels and the output gradients of a block of tiles are transformed, and the pixels transposed, so that channels are
contiguous. At each of the 36 points, the sums for all filters and channels of an item are a matrix product over all
tiles of the batch. They are transformed back at the end. An item has a run of the filters and one of the channels, and
transforms both itself. Rounding is as in `winograd`: measured 1e-6 of the largest value, 64 channels.
"""

from __future__ import annotations

from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled, copied
from paddle_layers.kernels.primitives.memory_ops import scatter_run, set_entry, transpose, zeros
from paddle_layers.kernels.primitives.microkernels import ENTRY, LANES, VECTOR, gemm_microkernel, vectors_of
from paddle_layers.kernels.primitives.scratch import scratch_of_chunk
from paddle_layers.kernels.primitives.winograd_transforms import (
    EDGE,
    POINTS,
    SIDE,
    transform_deltas,
    transform_gradients,
    transform_pixels,
)

from .conv_tiling import ConvProblem
from .winograd import gather
from .winograd_tiling import SKEW, line_numbers

# More tiles per block would amortize the loop over 36 points better, but pixels and gradients of all channels and
# filters of an item times 36 points have to stay in a cache.
TILES = 4 * LANES
"""Tiles of a block."""
# Each item transforms its filters and channels itself: more items mean more transforms for the same products.
ITEMS = 4
"""Number of items, if each has `LEAST` filters times channels; with more than `MOST` their sums would not stay in a
cache.
"""
# 36 sums of 2^14 float32 are 2.25 MiB.
LEAST, MOST = 1 << 11, 1 << 14
ELEMENTS = 9
# The model declines images of 7x7 and 13x13, where the transforms outweigh the saved products.
TRANSFORM, RUN = 600, 6500
"""Cost, in products, of transforming a tile of a channel, and of packing a run of them into a row."""


@also_in_python
def gradient_parts(filters, channels):
    """Runs of the filters and of the channels; depends on shapes only."""
    runs, parts, cuts = 1, 1, True
    while cuts:
        k, c = filters // runs, channels // parts
        cuts = k * c > MOST or (runs * parts < ITEMS and k * c >= 2 * LEAST)
        if cuts and k >= c and filters % (2 * runs) == 0:
            runs *= 2
        elif cuts and channels % (2 * parts * LANES) == 0:
            parts *= 2
        else:
            cuts = False
    return runs, parts


@also_in_python
def all_tiles(N, P, Q):
    """Number of tiles of all images."""
    return N * ((P + SIDE - 1) // SIDE) * ((Q + SIDE - 1) // SIDE)


def gradients_pay(problem: ConvProblem) -> bool:
    """Whether `multiply_tiles` is faster than the direct sums over windows."""
    N, K, _, D, _, _, _, _, A, B, _, P, Q, groups, step, _, gap, _ = problem
    if not A == B == 3 or groups > 1 or {*step, *gap} != {1} or D % LANES > 0:
        return False
    runs, parts = gradient_parts(K, D)
    k, c = K // runs, D // parts
    transform = TRANSFORM + RUN // -(-Q // SIDE)
    work = all_tiles(N, P, Q) * (POINTS * k * c + transform * (k + c))
    # The factor 6/5 asks for a predicted gain of a fifth: the direct sums need less memory.
    return runs * parts > 1 and 6 * work < 5 * ELEMENTS * N * P * Q * k * c


def tile_gradient_items(problem: ConvProblem) -> int:
    """Work items of `multiply_tiles`."""
    runs, parts = gradient_parts(problem.K, problem.D)
    return int(runs * parts)


def tile_gradient_scratch(problem: ConvProblem) -> int:
    """Scratch elements of a chunk of `multiply_tiles`."""
    runs, parts = gradient_parts(problem.K, problem.D)
    k, c = problem.K // runs, problem.D // parts
    spare = POINTS * SKEW
    blocks = POINTS * (TILES * (1 + LANES + k + c) + k * c) + 4 * spare
    return ENTRY + EDGE * int(line_numbers(problem.Q)) + blocks + ELEMENTS * LANES


@compiled
def multiply_tiles(first, last, dweight, dy, x, accumulate, scratch, padding, padding_y):
    """Filter gradient `dweight` (K, C, 3, 3) from `x` (N, C, H, W) and `dy` (N, K, P, Q); `accumulate` adds to it."""
    N, K, P, Q = dy.shape
    _, C, H, W = x.shape
    size, one = dy.itemsize, dy.dtype.type(1)
    runs, parts = gradient_parts(K, C)
    for item in range(first, last):
        k, c = item // parts * (K // runs), item % parts * (C // parts)
        sum_tiles(
            all_tiles(N, P, Q), K // runs, C // parts, x.ctypes.data + c * H * W * size, C * H * W * size, (1, H, W),
            (0, padding_y, padding), dy.ctypes.data + k * P * Q * size, K * P * Q * size, (1, P, Q),
            dweight.ctypes.data + (k * C + c) * ELEMENTS * size, C * ELEMENTS,
            scratch_of_chunk(scratch, item, runs * parts), accumulate, size, one,
        )  # fmt: skip


@copied
def sum_tiles(
    tiles, filters, channels, x, x_image, extents, ahead, dy, dy_image, shape, dweight, filter_step, place, adding,
    size, one,
):  # fmt: skip
    """Gradient of some filters' elements for some channels, or its addition where `adding`.

    `x` and `dy` are the addresses of the first image's channels and gradients, `x_image` and `dy_image` the byte
    strides of images, `filter_step` the filter stride in elements; `channels` are whole vectors.
    """
    lines = place + ENTRY * size
    gathered = lines + EDGE * line_numbers(shape[2]) * size
    row, wide = TILES * size, channels * size
    pixels = gathered + POINTS * (TILES + SKEW) * size
    transposed = pixels + POINTS * (TILES * LANES + SKEW) * size
    deltas = transposed + POINTS * (TILES * channels + SKEW) * size
    sums = deltas + POINTS * (TILES * filters + SKEW) * size
    results = sums + POINTS * filters * wide
    set_entry(place, 0, 0, 0)
    if tiles == 0:
        zeros(sums, POINTS * filters * channels, size, one)
    for start in range(0, tiles, TILES):
        count = min(TILES, tiles - start)
        vectors = vectors_of(count, size)
        for channel in range(channels):
            gather(
                gathered, row + SKEW * size, lines, start, count, x + channel * extents[1] * extents[2] * size,
                x_image, extents, ahead, shape, size, one,
            )  # fmt: skip
            for vector in range(vectors):
                transform_pixels(
                    gathered + vector * VECTOR, row + SKEW * size,
                    pixels + channel % LANES * row + vector * VECTOR, LANES * row + SKEW * size, one,
                )  # fmt: skip
            # Blocks of whole vectors are transposed at once; channels are contiguous for the product.
            if channel % LANES == LANES - 1:
                for point in range(POINTS):
                    transpose(
                        transposed + point * (TILES * wide + SKEW * size) + (channel - LANES + 1) * size,
                        pixels + point * (LANES * row + SKEW * size), LANES, vectors * VECTOR // size,
                        TILES, channels, 1, size, one,
                    )  # fmt: skip
        for k in range(filters):
            gather(
                gathered, row + SKEW * size, lines, start, count, dy + k * shape[1] * shape[2] * size, dy_image,
                shape, (0, 0, 0), shape, size, one,
            )  # fmt: skip
            for vector in range(vectors):
                transform_deltas(
                    gathered + vector * VECTOR, row + SKEW * size, deltas + k * row + vector * VECTOR,
                    filters * row + SKEW * size, one,
                )  # fmt: skip
        for point in range(POINTS):
            gemm_microkernel(
                filters, wide // VECTOR, 0, count, wide, size, 1, place,
                deltas + point * (filters * row + SKEW * size), row, transposed + point * (TILES * wide + SKEW * size),
                sums + point * filters * wide, wide, start > 0, one,
            )  # fmt: skip
    lanes = VECTOR // size
    for k in range(filters):
        for channel in range(0, channels, lanes):
            transform_gradients(sums + k * wide + channel * size, filters * wide, results, VECTOR, one)
            for element in range(ELEMENTS):
                scatter_run(
                    dweight + (k * filter_step + channel * ELEMENTS + element) * size, results + element * VECTOR,
                    lanes, ELEMENTS, adding, size, one,
                )  # fmt: skip
