"""Winograd convolution F(4x4, 3x3) for 3x3 filters: 36 matrix products with a quarter of the operations.

All filters are transformed first. An item takes some planes: for a block of tiles, all channels are transformed, 36
products over the channels follow, and the outputs are transformed back. Tiles continue across planes. Images are
volumes with one plane. A filter of a volume has one tap per plane that it covers, like additional channels.

Rounding: with normal inputs and weights the largest error is below 5e-6 of the largest output (measured, 64 channels:
1.6e-6, where the sum itself has 1.1e-6, and for volumes 2.6e-6 and 3.7e-7); tests keep it there. It is relative to the
largest value of a tile: next to a value that is 1e6 times as large, small ones are lost. An infinite value or NaN makes
all outputs of the tiles that contain it NaN.
"""

from __future__ import annotations

from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.kernels.primitives.compile_options import compiled, copied
from paddle_layers.kernels.primitives.epilogues import apply_epilogue
from paddle_layers.kernels.primitives.interleaving import deal
from paddle_layers.kernels.primitives.memory_ops import copy_run, scatter_run, set_entry, transpose, zeros
from paddle_layers.kernels.primitives.microkernels import ENTRY, LANES, VECTOR, gemm_microkernel, rounded, vectors_of
from paddle_layers.kernels.primitives.scratch import scratch_of_chunk
from paddle_layers.kernels.primitives.winograd_transforms import (
    EDGE,
    POINTS,
    SIDE,
    transform_elements,
    transform_outputs,
    transform_pixels,
)  # fmt: skip

from .conv_tiling import volume_shape
from .winograd_tiling import SKEW, block_tiles, line_numbers, skewed, tile_parts, tiles_of

WITHOUT_END = 1 << 40
"""Planes of a volume whose last one is prefetched by another item."""


@copied
def transform_filters(first, last, weight, filters, channels, to, line, size, one):
    """Transforms the blocks `first` to `last` of the filters (filters, channels, 3, 3).

    `weight`, `to` and `line`, of 144 elements per channel, are addresses. In the result, all filters of a transform
    point are contiguous, and within these, in the order of the products, the elements of a block: (36, blocks,
    channels, 16).
    """
    lanes, block = VECTOR // size, LANES * size
    point = rounded(filters) * channels * size
    for k in range(first, last):
        rows = min(LANES, filters - k * LANES)
        transpose(line, weight + k * LANES * channels * 9 * size, rows, channels * 9, channels * 9, LANES, 1, size, one)
        for channel in range(channels):
            for lane in range(0, rows, lanes):
                transform_elements(
                    line + channel * 9 * block + lane * size, block,
                    to + (k * channels + channel) * block + lane * size, point, one,
                )  # fmt: skip


@copied
def transform_filters_back(first, last, weight, filters, channels, taps, to, line, size, one):
    """As `transform_filters`, for the filters `first` to `last` of the input gradient.

    The result is (36, blocks, filters, taps, 16), of channels. The filters are rotated by 180 degrees, including their
    taps, and `line` has 16 rows of `channels` elements plus padding.
    """
    wide, lanes, block, of_row = rounded(channels), VECTOR // size, LANES * size, taps * 9
    for at in range(first * taps, last * taps):
        # Read from the last tap, and below from the last element backwards: the rotation by 180 degrees costs nothing.
        k, tap = at // taps, taps - 1 - at % taps
        of = weight + (k * channels * of_row + tap * 9) * size
        safe = max(channels - 2, 0)  # rows of 16 elements are read, of which 9 are used
        transpose(line, of, safe, LANES, of_row, wide, 1, size, one)
        transpose(line + safe * size, of + safe * of_row * size, channels - safe, 9, of_row, wide, 1, size, one)
        for channel in range(0, channels, lanes):
            transform_elements(
                line + (8 * wide + channel) * size, -wide * size,
                to + (channel // LANES * filters * taps + at) * block + channel % LANES * size,
                filters * taps * wide * size, one,
            )  # fmt: skip


@compiled
def transform_weight(first, last, prepared, weight, scratch):
    """Transforms the filters of `weight` (K, D, E, 3, 3) for `winograd_conv`; an item is a run of blocks."""
    K, D, E, _, _ = volume_shape(weight)
    size, one, blocks = weight.itemsize, weight.dtype.type(1), rounded(K) // LANES
    for item in range(first, last):
        transform_filters(
            blocks * item // MAX_CHUNKS, blocks * (item + 1) // MAX_CHUNKS, weight.ctypes.data, K, D * E,
            prepared.ctypes.data, scratch_of_chunk(scratch, item, MAX_CHUNKS), size, one,
        )  # fmt: skip


@compiled
def transform_weight_back(first, last, prepared, weight, scratch):
    """The same for the gradient of the input; an item is a run of filters."""
    K, D, E, _, _ = volume_shape(weight)
    size, one = weight.itemsize, weight.dtype.type(1)
    for item in range(first, last):
        transform_filters_back(
            K * item // MAX_CHUNKS, K * (item + 1) // MAX_CHUNKS, weight.ctypes.data, K, D, E,
            prepared.ctypes.data, scratch_of_chunk(scratch, item, MAX_CHUNKS), size, one,
        )  # fmt: skip


@compiled
def winograd_conv(first, last, y, x, prepared, accumulate, epilogue, scratch, E, ahead):
    """Convolution `y` (N, K, R, P, Q) of `x` (N, C, Z, H, W) with `E` planes, or `y +=` where `accumulate`.

    `epilogue` is defined in `primitives.epilogues`; `ahead` is the padding before the first plane, row and column. An
    item is some planes of the output, or a run of tiles and filters of one.
    """
    N, K, R, P, Q = volume_shape(y)
    _, C, Z, H, W = volume_shape(x)
    size, one = y.itemsize, y.dtype.type(1)
    planes, parts, runs = tile_parts(N * R, K, P, Q)
    filters, items = K // runs, N * R // planes * parts * runs
    for item in range(first, last):
        plane, part, k = item // runs // parts * planes, item // runs % parts, item % runs * filters
        convolve_tiles(
            tiles_of(plane, planes, part, parts, P, Q), C, E, k, k + filters, block_tiles(C * E, K),
            x.ctypes.data, (Z, H, W), ahead, prepared.ctypes.data, rounded(K) * C * E * size,
            y.ctypes.data, K, (R, P, Q), scratch_of_chunk(scratch, item, items), accumulate, epilogue, size, one,
        )  # fmt: skip


@copied
def convolve_tiles(
    tiles, channels, taps, begin, end, most, x, extents, ahead, prepared, point_step, y, all_filters, shape, place,
    adding, epilogue, size, one,
):  # fmt: skip
    """Convolution y (N, all_filters, R, P, Q) of x (N, channels, Z, H, W), or y +=, for filters `begin` to `end`.

    `x`, `prepared`, `y` and `place`, of the scratch buffer, are addresses; `point_step` is the byte stride of transform
    points of all filters. `tiles` are the first and one past the last; a block has `most` of them. `epilogue` is
    defined in `primitives.epilogues`.
    """
    filters, block = end - begin, LANES * size
    (Z, H, W), (R, P, Q) = extents, shape
    of_plane = ((P + SIDE - 1) // SIDE) * ((Q + SIDE - 1) // SIDE)
    # Taps read the transformed planes of their neighbors: 195 to 229 GFLOP/s for 3x3x3 filters, 32 to 64 channels,
    # compared to one transform per tap.
    shares, volume = taps > 1 and 2 * of_plane <= most, Z * H * W * size
    lines = place + taps * ENTRY * size
    gathered = lines + EDGE * line_numbers(Q) * size
    transformed = gathered + POINTS * (taps * most + SKEW) * size
    multiplied = transformed + POINTS * skewed(channels * taps * most * size)
    spread = multiplied + POINTS * skewed(filters * most * size)
    first = tiles[0]
    while first < tiles[1]:
        plane = first // of_plane
        if shares:
            count = min(min(most // of_plane, R - plane % R) * of_plane, tiles[1] - first)
            once, seen, rows, start = 1, count + (taps - 1) * of_plane, WITHOUT_END, plane % R * of_plane
            of = x + plane // R * channels * volume
        else:
            count = min(most, tiles[1] - first)
            once, seen, rows, start, of = taps, count, R, first, x
        vectors, all_vectors = vectors_of(count, size), vectors_of(seen, size)
        row, all_row = vectors * VECTOR, all_vectors * VECTOR
        x_point, y_point = skewed(channels * once * all_row), skewed(filters * row)
        for tap in range(taps):
            set_entry(place, tap, tap * (of_plane * size if shares else all_row), tap * block)
        for term in range(channels * once):
            gather(
                gathered, all_row + SKEW * size, lines, start, seen, of + term // once * volume, channels * volume,
                extents, (ahead[0] - term % once, ahead[1], ahead[2]), (rows, P, Q), size, one,
            )  # fmt: skip
            for vector in range(all_vectors):
                transform_pixels(
                    gathered + vector * VECTOR, all_row + SKEW * size,
                    transformed + term * all_row + vector * VECTOR, x_point, one,
                )  # fmt: skip
        # Point by point, so that one of 36 matrices of transformed filters is in the cache at a time.
        for point in range(POINTS):
            k = begin
            while k < end:
                high = min(LANES - k % LANES, end - k)
                gemm_microkernel(
                    high, vectors, 0, channels, once * all_row, taps * block, taps, place,
                    prepared + point * point_step + k // LANES * channels * taps * block + k % LANES * size, size,
                    transformed + point * x_point, multiplied + point * y_point + (k - begin) * row, row, False, one,
                )  # fmt: skip
                k += high
        for k in range(filters):
            for vector in range(vectors):
                transform_outputs(
                    multiplied + k * row + vector * VECTOR, y_point, spread + vector * SIDE * VECTOR,
                    SIDE * row, one,
                )  # fmt: skip
            if epilogue[0] != 0:
                apply_epilogue(spread, SIDE * SIDE * row // size, epilogue[0] + (begin + k) * size, epilogue[1], one)
            scatter(
                y + (begin + k) * R * P * Q * size, all_filters * R * P * Q * size, spread, SIDE * row, first, count,
                shape, adding, size, one,
            )  # fmt: skip
        first += count


@copied
def gather(to, to_step, lines, first, count, x, x_volume, extents, ahead, shape, size, one):
    """Gathers the pixels of tiles of a channel: 36 rows, `to_step` bytes apart, one per position in a tile.

    A vector may be written past the end of each row.
    """
    (Z, H, W), (R, P, Q) = extents, shape
    across, down = (Q + SIDE - 1) // SIDE, (P + SIDE - 1) // SIDE
    line, lanes = line_numbers(Q) * size, VECTOR // size
    tile, end = first, first + count
    while tile < end:
        plane, top, left = tile // across // down, tile // across % down, tile % across
        z, of = plane % R - ahead[0], x + plane // R * x_volume
        run = min(across - left, end - tile)
        begin, wide = left * SIDE - ahead[2], run * SIDE + EDGE - SIDE
        low = min(wide, max(0, -begin))
        high = max(low, min(wide, W - begin))
        for a in range(EDGE):
            h, at = top * SIDE - ahead[1] + a, lines + a * line
            if 0 <= z < Z and 0 <= h < H and high > low:
                zeros(at, low, size, one)
                copy_run(at + low * size, of + ((z * H + h) * W + begin + low) * size, high - low, size, one)
                zeros(at + high * size, wide - high, size, one)
            else:
                zeros(at, wide, size, one)
        target = to + (tile - first) * size
        for a in range(EDGE):  # loads from cache lines that were just written are slow
            for part in range(0, run, lanes):
                at = lines + a * line + part * SIDE * size
                deal(target + a * EDGE * to_step + part * size, to_step, at, one)
        tile += run


@copied
def scatter(y, y_volume, of, of_step, first, count, shape, adding, size, one):
    """Scatters the outputs of a filter's tiles, in four rows `of_step` bytes apart, to the planes."""
    R, P, Q = shape
    across, down = (Q + SIDE - 1) // SIDE, (P + SIDE - 1) // SIDE
    tile, end = first, first + count
    while tile < end:
        plane, top, left = tile // across // down, tile // across % down, tile % across
        run = min(across - left, end - tile)
        for i in range(min(SIDE, P - top * SIDE)):
            to = y + plane // R * y_volume + ((plane % R * P + top * SIDE + i) * Q + left * SIDE) * size
            scatter_run(
                to, of + i * of_step + (tile - first) * SIDE * size, min(run * SIDE, Q - left * SIDE), 1, adding,
                size, one,
            )  # fmt: skip
        tile += run
