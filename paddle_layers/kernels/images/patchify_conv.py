"""Convolution with non-overlapping windows (stride = kernel size): matrix products and a permutation of elements.

Examples are patch embeddings and transposed convolutions that upsample without overlap. Below, `small` (N, K, R, P, Q)
is the side with one value per window and `large` (N, D, R E, P A, Q B) the side with the window elements; images are
volumes with one plane. With the elements of a window as a matrix column, `small` is the filters times it, and it is the
transposed filters times `small`: these products run at the peak of a core, so that moving data dominates the rest. So
data are prefetched early. The register tiles reach 111 to 116 GFLOP/s; BLAS, which packs again what has just been
packed, reached 83 to 100.
"""

from __future__ import annotations

from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled, copied
from paddle_layers.kernels.primitives.interleaving import deinterleave_run, interleave_runs
from paddle_layers.kernels.primitives.memory_ops import (
    copy_run,
    fetch_run,
    gather_run,
    scatter_run,
    set_entry,
    transpose,
    zeros,
)
from paddle_layers.kernels.primitives.microkernels import ENTRY, LANES, VECTORS, gemm_microkernel, rounded, vectors_of
from paddle_layers.kernels.primitives.scratch import scratch_of_chunk

from .conv_tiling import FEW, ConvProblem, per_chunk, volume_shape
from .direct_conv import divisor

BLOCK = VECTORS * LANES
"""Windows of a tile of the widest vectors, and filters whose gradients are computed together."""
# 256 KiB of float32.
BAND = 1 << 16
"""Elements of the windows that are packed at once; they fit into the L2 cache of a core."""
# 528 windows of float32 with AVX-512: the sums of ROWS filters are 33 KiB, about an L1 cache.
PIXELS = 11 * BLOCK
"""Maximum number of windows that are packed at once."""
# Sums are scattered to the image before the next rows are computed.
ROWS = 16
"""Rows of a product that are permuted at once."""
# `memory_ops` moves eight elements at once; shorter rows take several moves each.
COLUMNS = 8
"""Minimum number of windows per row for packing."""
# Every item packs the windows again, as in `conv_tiling`.
SHORTEST = 32
"""Minimum number of rows of an item's product."""


@also_in_python
def fills_vectors(count):
    """Whether few vector lanes are left empty."""
    return 4 * rounded(count) <= 5 * count


def separate(problem: ConvProblem) -> bool:
    """Whether windows of several elements cover everything, each element once."""
    _, _, _, _, Z, H, W, E, A, B, R, P, Q, _, step, ahead, *_ = problem
    axes = ((Z, E, R, step[0]), (H, A, P, step[1]), (W, B, Q, step[2]))
    covers = all(extent == size * count and (count == 1 or size == by) for extent, size, count, by in axes)
    return E * A * B > 1 and covers and not any(ahead)


def windows_suit(problem: ConvProblem) -> bool:
    """Whether `im2col_gemm` and `col2im_gemm` accept a convolution."""
    fills = problem.Q >= COLUMNS and bool(fills_vectors(problem.R * problem.P * problem.Q))
    return problem.groups == 1 and fills and separate(problem)


def filters_suit(problem: ConvProblem) -> bool:
    """Whether `im2col_weight_gradient` accepts a convolution."""
    fills = problem.K > LANES and bool(fills_vectors(problem.K))
    return problem.groups == 1 and fills and separate(problem)


@also_in_python
def channel_runs(N, channels, rows):
    """Runs of the channels of an image, each with `rows` rows of the product; depends on shapes only."""
    return divisor(channels, max(1, min(FEW // max(N, 1), channels * rows // SHORTEST)))


@also_in_python
def band_windows(rows):
    """Windows that are packed at once in so many rows: an odd number of blocks, so that rows share no cache sets."""
    blocks = max(1, min(PIXELS, BAND // rows) // BLOCK)
    return (blocks - 1 | 1) * BLOCK


def im2col_items(problem: ConvProblem) -> int:
    """Work items of `im2col_gemm`."""
    return problem.N * int(channel_runs(problem.N, problem.K, 1))


def col2im_items(problem: ConvProblem) -> int:
    """Work items of `col2im_gemm`."""
    return problem.N * int(channel_runs(problem.N, problem.D, problem.filter_elements))


def im2col_scratch(problem: ConvProblem) -> int:
    """Scratch elements of a chunk of `im2col_gemm`: a table entry, windows, sums of some rows."""
    elements = problem.D * problem.filter_elements
    numbers = ENTRY + elements * int(band_windows(elements)) + ROWS * PIXELS
    return per_chunk(numbers, problem.N, im2col_items(problem))


def col2im_scratch(problem: ConvProblem) -> int:
    """Scratch elements of a chunk of `col2im_gemm`: a table entry, values of windows, sums of some rows."""
    numbers = ENTRY + problem.K * int(band_windows(problem.K)) + max(ROWS, problem.B) * PIXELS
    return per_chunk(numbers, problem.N, col2im_items(problem))


@also_in_python
def gradient_runs(K, D, elements):
    """Runs of filters, filters of a run, and runs of channels that are work items of `im2col_weight_gradient`."""
    runs = (K + BLOCK - 1) // BLOCK
    wide = rounded((K + runs - 1) // runs)
    runs = (K + wide - 1) // wide
    return runs, wide, divisor(D, max(1, min(MAX_CHUNKS // runs, D * elements // (4 * SHORTEST))))


def gradient_items(problem: ConvProblem) -> int:
    """Work items of `im2col_weight_gradient`."""
    runs, _, parts = gradient_runs(problem.K, problem.D, problem.filter_elements)
    return int(runs * parts)


def gradient_scratch(problem: ConvProblem) -> int:
    """Scratch elements of a chunk of `im2col_weight_gradient`: a table, transposed values, sums."""
    _, wide, parts = gradient_runs(problem.K, problem.D, problem.filter_elements)
    return int(PIXELS * (ENTRY + wide) + problem.D // parts * problem.filter_elements * wide)


@copied
def im2col(to, of, start, count, pitch, shape, sizes, size, one):
    """im2col: packs `count` windows from `start` on, one row per element of the channels, `pitch` bytes apart."""
    (D, R, P, Q), (E, A, B) = shape, sizes
    for channel in range(D):
        row, q, done = start // Q, start % Q, 0
        while done < count:
            run, place = min(Q - q, count - done), to + channel * E * A * B * pitch + done * size
            plane = (channel * R + row // P) * E
            for e in range(E):
                source = of + (((plane + e) * P + row % P) * A * Q + q) * B * size
                for _ in range(A):
                    # Two columns are separated by one shuffle of two vectors.
                    if B == 2:
                        deinterleave_run(place, place + pitch, source, run, size, one)
                    else:
                        for b in range(B):
                            gather_run(place + b * pitch, source + b * size, run, B, size, one)
                    place += B * pitch
                    source += Q * B * size
            row, q, done = row + 1, 0, done + run


@copied
def col2im(to, of, lines, start, count, pitch, shape, sizes, adding, size, one):
    """col2im: scatters `lines` (first row of elements and their number) of the windows from `start` on."""
    (R, P, Q), (E, A, B) = shape, sizes
    for line in range(lines[0], lines[0] + lines[1]):
        plane, a = line // (E * A) * R * E + line // A % E, line % A
        row, q, done = start // Q, start % Q, 0
        while done < count:
            run, source = min(Q - q, count - done), of + done * size
            r = row // P
            target = to + ((((plane + r * E) * P + row - r * P) * A + a) * Q + q) * B * size
            if B == 2:
                interleave_runs(target, source, source + pitch, run, adding, size, one)
            else:
                for b in range(B):
                    scatter_run(target + b * size, source + b * pitch, run, B, adding, size, one)
            row, q, done = row + 1, 0, done + run
        of += B * pitch


@copied
def fetch_windows(of, first, last, start, count, shape, sizes, size):
    """Prefetches `count` windows from `start` on of planes `first` to `last`, those of an element for all channels."""
    (R, P, Q), (E, A, B) = shape, sizes
    r, place = start // (P * Q), start % (P * Q)
    for plane in range(first, last):
        at = ((plane // E * R + r) * E + plane % E) * P * Q + place
        fetch_run(of + at * A * B * size, count * A * B, size)


@compiled
def im2col_gemm(first, last, small, large, weight, accumulate, scratch):
    """Sets `small` (N, K, R, P, Q) to the filters times the windows of `large`, or adds these where `accumulate`.

    A work item is a run of filters of an image. The output, and the windows that are packed next, are prefetched
    meanwhile.
    """
    N, K, R, P, Q = volume_shape(small)
    _, D, E, A, B = volume_shape(weight)
    size, one, pixels, elements = small.itemsize, small.dtype.type(1), R * P * Q, D * E * A * B
    runs, band = channel_runs(N, K, 1), band_windows(elements)
    filters, pitch = K // runs, band * size
    for item in range(first, last):
        table = scratch_of_chunk(scratch, item, N * runs)
        columns = table + ENTRY * size
        sums = columns + elements * pitch
        set_entry(table, 0, 0, 0)
        n, begin = item // runs, item % runs * filters
        of = large.ctypes.data + n * elements * pixels * size
        for start in range(0, pixels, band):
            count, left = min(band, pixels - start), min(band, pixels - start - band)
            blocks = (count + BLOCK - 1) // BLOCK
            tiles = (filters + ROWS - 1) // ROWS * blocks
            im2col(columns, of, start, count, pitch, (D, R, P, Q), (E, A, B), size, one)
            for tile in range(tiles):
                k, at = begin + tile // blocks * ROWS, tile % blocks * BLOCK
                rows, many = min(ROWS, begin + filters - k), min(BLOCK, count - at)
                to = small.ctypes.data + ((n * K + k) * pixels + start) * size
                # Prefetched during the product: 80 to 86 and 63 to 67 GFLOP/s for 2x2 windows, 128 and 64 channels,
                # images of 28x28 and 56x56 (one core of an AMD EPYC with AVX-512).
                for row in range(rows):
                    fetch_run(to + (row * pixels + at) * size, many, size)
                planes = (D * E * tile // tiles, D * E * (tile + 1) // tiles)
                fetch_windows(of, planes[0], planes[1], start + band, left, (R, P, Q), (E, A, B), size)
                gemm_microkernel(
                    rows, vectors_of(many, size), 0, elements, pitch, size, 1, table,
                    weight.ctypes.data + k * elements * size, elements * size, columns + at * size, sums + at * size,
                    pitch, False, one,
                )  # fmt: skip
                # One long run per row when its last block is complete: short runs of memory are slow.
                for row in range(rows if at + many == count else 0):
                    scatter_run(to + row * pixels * size, sums + row * pitch, count, 1, accumulate, size, one)


@compiled
def col2im_gemm(first, last, large, small, weight, accumulate, scratch):
    """Sets `large` (N, D, ...) to the filters times the values of `small`, or adds these where `accumulate`.

    A work item is a run of channels of an image.
    """
    N, K, R, P, Q = volume_shape(small)
    _, D, E, A, B = volume_shape(weight)
    size, one, pixels, elements = small.itemsize, small.dtype.type(1), R * P * Q, D * E * A * B
    runs, band, step = channel_runs(N, D, E * A * B), band_windows(K), max(1, ROWS // B)
    lines, pitch = D // runs * E * A, band * size
    for item in range(first, last):
        table = scratch_of_chunk(scratch, item, N * runs)
        columns = table + ENTRY * size
        sums = columns + K * pitch
        set_entry(table, 0, 0, 0)
        n, begin = item // runs, item % runs * lines
        of, to = small.ctypes.data + n * K * pixels * size, large.ctypes.data + n * elements * pixels * size
        for start in range(0, pixels, band):
            count = min(band, pixels - start)
            for k in range(K):
                copy_run(columns + k * pitch, of + (k * pixels + start) * size, count, size, one)
            for line in range(begin, begin + lines, step):
                high = min(step, begin + lines - line)
                planes = (line // A, (line + high + A - 1) // A)
                for at in range(0, count, BLOCK):
                    many = min(BLOCK, count - at)
                    # The target is prefetched too: 82 to 89 and 64 to 73 GFLOP/s, measured as in `im2col_gemm`.
                    fetch_windows(to, planes[0], planes[1], start + at, many, (R, P, Q), (E, A, B), size)
                    gemm_microkernel(
                        high * B, vectors_of(many, size), 0, K, pitch, elements * size, 1, table,
                        weight.ctypes.data + line * B * size, size, columns + at * size, sums + at * size, pitch, False,
                        one,
                    )  # fmt: skip
                col2im(to, sums, (line, high), start, count, pitch, (R, P, Q), (E, A, B), accumulate, size, one)


@compiled
def im2col_weight_gradient(first, last, dweight, small, large, accumulate, scratch):
    """Sets `dweight` (K, D, E, A, B) to the values of `small` times the windows of `large`, or adds where `accumulate`.

    A work item is some filters, contiguous in vectors, for some channels, over all images in order.
    """
    N, K, R, P, Q = volume_shape(small)
    _, D, E, A, B = volume_shape(dweight)
    size, one, pixels = small.itemsize, small.dtype.type(1), R * P * Q
    runs, wide, parts = gradient_runs(K, D, E * A * B)
    channels, volume = D // parts, E * A * B * pixels * size
    for item in range(first, last):
        k, channel = item // parts * wide, item % parts * channels
        filters, table = min(wide, K - k), scratch_of_chunk(scratch, item, runs * parts)
        transposed = table + PIXELS * ENTRY * size
        sums = transposed + PIXELS * wide * size
        if N == 0:
            zeros(sums, channels * E * A * B * wide, size, one)
        for n in range(N):
            for start in range(0, pixels, PIXELS):
                count = min(PIXELS, pixels - start)
                for at in range(count):
                    row, q = (start + at) // Q, (start + at) % Q
                    place = ((row // P * E * P + row % P) * A * Q + q) * B
                    set_entry(table, at, at * wide * size, place * size)
                source = small.ctypes.data + ((n * K + k) * pixels + start) * size
                # Only the smaller side is transposed; the windows are read in place.
                transpose(transposed, source, filters, count, pixels, wide, 1, size, one)
                of = large.ctypes.data + (n * D + channel) * volume
                multiply_rows(
                    channels, vectors_of(filters, size), volume, count, table, of, transposed, (P, Q), (E, A, B), sums,
                    wide * size, n + start > 0, size, one,
                )  # fmt: skip
        elements = E * A * B
        for row in range(channels * elements):
            target = dweight.ctypes.data + (k * D * elements + channel * elements + row) * size
            scatter_run(target, sums + row * wide * size, filters, D * elements, accumulate, size, one)


@copied
def multiply_rows(channels, vectors, volume, count, table, of, transposed, plane, sizes, sums, wide, adding, size, one):
    """Sums of some windows for all elements of some channels; the rows of a tile are channels, if these are more.

    The sums of an element take `wide` bytes.
    """
    (P, Q), (E, A, B) = plane, sizes
    by_channels = channels >= B
    rows, others, inner = (channels, 1, B) if by_channels else (B, channels, 1)
    step, sums_step = (volume, E * A * B * wide) if by_channels else (size, wide)
    for channel in range(others):
        for line in range(E * A):
            source = of + channel * volume + (line // A * P * A + line % A) * Q * B * size
            for b in range(inner):
                at = (channel * E * A + line) * B + b
                gemm_microkernel(
                    rows, vectors, 0, 1, 0, 0, count, table, source + b * size, step, transposed, sums + at * wide,
                    sums_step, adding, one,
                )  # fmt: skip
