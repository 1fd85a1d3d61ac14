"""Direct convolution vectorized over filters: for small planes and for strides, where pixels would not fill vectors.

The factors of a tile are the other operand: adjacent pixels of a row, `stride` apart. So no padding is needed above,
below or between rows. All filters are transposed first, so that the filters of an element are contiguous; the sums of a
band of rows are transposed back afterwards.
"""

from __future__ import annotations

from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled, copied
from paddle_layers.kernels.primitives.memory_ops import get_entry, scatter_sums, set_entry, transpose, zeros
from paddle_layers.kernels.primitives.microkernels import ENTRY, LANES, VECTOR, VECTORS, gemm_microkernel, rounded

from .direct_conv import BAND, MOST_RUNS, divisor
from .padded_planes import pack_plane, take_pairs, take_rows

# 32 KiB of float32.
FACTORS = 1 << 13
"""Elements of transposed filters that are read for all rows of a band before the next ones, from the L1 cache."""
# Sums of a pixel are a row of filters, transposed when a band is complete; 512 rows of two or three vectors stay in the
# L2 cache.
PIXELS = 1 << 9
"""Pixels of a band."""
BYTES = 16
"""Bytes of a table entry."""


@also_in_python
def packed_size(count, others, elements):
    """Elements of the transposed filters: `count` contiguous ones."""
    return rounded(count) * others * elements


@also_in_python
def band_rows(rows, columns):
    """Rows of a band; the bands of a plane are equally high."""
    most = max(1, min(rows, PIXELS // max(columns, 1)))
    bands = (rows + most - 1) // most
    return (rows + bands - 1) // bands


@also_in_python
def most_vector_images(N, factors, padded, pixels):
    """Maximum number of images per item.

    There are several only if they are small and the transposed filters do not stay in the cache.
    """
    return max(1, min(N, PIXELS // max(pixels, 1), BAND // max(padded, 1))) if factors > BAND else 1


@also_in_python
def vector_parts(N, count, factors, padded, pixels):
    """Images per item, and runs of their filters; depends on shapes only."""
    images, parts = divisor(N, most_vector_images(N, factors, padded, pixels)), 1
    for runs in range(2, min(MOST_RUNS, count // LANES) + 1):
        if N // images * parts >= MAX_CHUNKS:
            break
        if count % (runs * LANES) == 0:
            parts = runs
    return images, parts


@also_in_python
def scratch_numbers(images, entries, rows, columns, padded):
    """Scratch elements: tables, packed inputs, the sums of a band, two planes of these transposed back."""
    block = max(band_rows(rows, columns), images * rows if images > 1 else 0) * columns * VECTORS * LANES
    return (entries + 2 * images * rows) * ENTRY + images * padded + 3 * block + 2 * LANES


@compiled
def transpose_matrices(first, last, packed, weight, count, elements, size, one):
    """Rows `first` to `last` of the transposed matrix of `count` filters of `elements` elements."""
    wide = rounded(count)
    transpose(packed + first * wide * size, weight + first * size, count, last - first, elements, wide, 1, size, one)
    for row in range(first, last):
        zeros(packed + (row * wide + count) * size, wide - count, size, one)


@copied
def sum_rows(rows, columns, row_table, table, entries, scalars, steps, factors, vectors, sums, one):
    """Sums of products for rows of pixels and some vectors of filters; the sums of a pixel are contiguous.

    `row_table` has, for each row, the begin and number of its entries in `table`, and the position of its scalars.
    `steps` are the number of channels, their byte strides in the factors and in the scalars, and the byte strides of
    pixels.
    """
    channels, factors_step, scalars_step, pixel_step = steps
    # As many channels as have their factors in the L1 cache are summed for all rows before the next ones.
    chunk, bytes_ = max(1, FACTORS // max(1, entries * vectors * LANES)), vectors * VECTOR
    for channel in range(0, channels, chunk):
        for row in range(rows):
            begin, count = get_entry(row_table, 2 * row)
            place, _ = get_entry(row_table, 2 * row + 1)
            gemm_microkernel(
                columns, vectors, 0, min(chunk, channels - channel), factors_step, scalars_step, count, table + begin,
                scalars + place + channel * scalars_step, pixel_step, factors + channel * factors_step,
                sums + row * columns * bytes_, bytes_, channel > 0, one,
            )  # fmt: skip


@also_in_python
def forward_pitch(W, Q, B, stride, padding, dilation):
    """Elements of a row that windows cover, and whether it is a row of the image without padding."""
    reach = (Q - 1) * stride + (B - 1) * dilation + 1
    return (W, True) if padding == 0 and reach <= W else (reach, False)


@copied
def correlate_vectors(
    images, channels, taps, x, x_steps, packed, packed_steps, begin, end, y, y_steps, P, Q, geometry, place, adding,
    size, one,
):  # fmt: skip
    """Convolution `y` (images, filters `begin` to `end`, P, Q) of `x` (images, channels, taps, H, W), or `y +=`.

    `x_steps` are the byte strides of images, channels and taps, `y_steps` those of images and filters; `packed` is the
    address of the transposed filters of the first tap, `packed_steps` the byte strides of channels and taps. Several
    images are processed together if their pixels are one band.
    """
    H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y = geometry
    pitch, direct = forward_pitch(W, Q, B, stride, padding, dilation)
    lanes, depth, wide = VECTOR // size, images * P if images > 1 else band_rows(P, Q), packed_steps[1] // (A * B)
    row_table = place + A * taps * B * ENTRY * size
    padded = row_table + 2 * images * P * ENTRY * size
    sums = padded + (0 if direct else images * channels * taps * H * pitch) * size
    if not direct:
        to = padded
        for image in range(images):
            for c in range(channels):
                for tap in range(taps):
                    of = x + image * x_steps[0] + c * x_steps[1] + tap * x_steps[2]
                    pack_plane(to, of, (H, W), 0, -padding, H, pitch, 0, (1, 1), size, one)
                    to += H * pitch * size
        plane = H * pitch * size
        x, x_steps = padded, (channels * taps * plane, taps * plane, plane)
    for a in range(A):
        for tap in range(taps):
            for b in range(B):
                seen = tap * x_steps[2] + (a * dilation_y * pitch + b * dilation) * size
                set_entry(place, (a * taps + tap) * B + b, tap * packed_steps[1] + (a * B + b) * wide, seen)
    # Filter rows above and below the image are left out of the table, which needs no rows of zeros.
    for row in range(images * P):
        top = row % P * stride_y - padding_y
        low = min(A, max(0, -(top // dilation_y)))
        high = max(low, min(A, (H - top + dilation_y - 1) // dilation_y))
        set_entry(row_table, 2 * row, low * taps * B * BYTES, (high - low) * taps * B)
        set_entry(row_table, 2 * row + 1, row // P * x_steps[0] + top * pitch * size, 0)
    steps = (channels, packed_steps[0], x_steps[1], stride * size)
    k = begin
    while k < end:
        vectors = vectors_of_block((end - k + lanes - 1) // lanes)
        count = min(end - k, vectors * lanes)
        for top in range(0, images * P, depth):
            rows = min(depth, images * P - top)
            sum_rows(
                rows, Q, row_table + 2 * top * BYTES, place, A * taps * B, x, steps, packed + k * size, vectors, sums,
                one,
            )  # fmt: skip
            for image in range(images):
                to, pixels = y + image * y_steps[0] + k * y_steps[1] + top * Q * size, rows * Q // images
                of = sums + image * pixels * vectors * VECTOR
                scatter_sums(
                    to, y_steps[1], of, sums + rows * Q * vectors * VECTOR, pixels, count, vectors * lanes, adding,
                    size, one,
                )  # fmt: skip
        k += count


@also_in_python
def vectors_of_block(vectors):
    """Vectors of the next block of those that are left."""
    # Blocks of nearly equal width: of four vectors, three and one would leave multipliers idle in the second tile.
    blocks = (vectors + VECTORS - 1) // VECTORS
    return (vectors + blocks - 1) // max(blocks, 1)


@also_in_python
def backward_pitch(W, Q, B, stride, padding, dilation):
    """First column of the gradients that is read, elements of a row of these, and whether it needs no padding."""
    low, high = -(((B - 1) * dilation - padding) // stride), (stride - 1 + padding) // stride
    wide = (W + stride - 1) // stride
    return (0, Q, True) if low >= 0 and wide + high <= Q else (low, wide + high - low, False)


@copied
def correlate_vectors_back(
    images, filters, taps, dy, dy_steps, packed, packed_steps, begin, end, dx, dx_steps, P, Q, geometry, place, adding,
    size, one,
):  # fmt: skip
    """Gradient `dx` (images, channels `begin` to `end`, H, W) of `correlate_vectors` for dy, or `dx +=`.

    `dy_steps` are the byte strides of images, filters and taps, `dx_steps` those of images and channels, `packed_steps`
    those of filters, taps and elements. Where rows have two remainders of equal length, their pixels are written
    interleaved.
    """
    H, W, A, B, stride, stride_y, padding, _, dilation, _ = geometry
    low, pitch, direct = backward_pitch(W, Q, B, stride, padding, dilation)
    high, columns = (H + stride_y - 1) // stride_y, (W + stride - 1) // stride
    lanes, depth = VECTOR // size, high if images > 1 else band_rows(high, columns)
    row_table = place + A * taps * B * ENTRY * size
    padded = row_table + 2 * images * high * ENTRY * size
    sums = padded + (0 if direct else images * filters * taps * P * pitch) * size
    block = images * depth * columns * VECTORS * lanes * size
    if not direct:
        to = padded
        for image in range(images):
            for k in range(filters):
                for tap in range(taps):
                    of = dy + image * dy_steps[0] + k * dy_steps[1] + tap * dy_steps[2]
                    pack_plane(to, of, (P, Q), 0, low, P, pitch, 0, (1, 1), size, one)
                    to += P * pitch * size
        plane = P * pitch * size
        dy, dy_steps = padded, (filters * taps * plane, taps * plane, plane)
    steps, pairs = (filters, packed_steps[0], dy_steps[1], size), stride == 2 and W % 2 == 0
    c = begin
    while c < end:
        vectors = vectors_of_block((end - c + lanes - 1) // lanes)
        count = min(end - c, vectors * lanes)
        for h in range(min(stride_y, H)):
            below = (H - h + stride_y - 1) // stride_y
            for top in range(0, below, depth):
                rows = min(depth, below - top)
                for w in range(min(stride, W)):
                    across = (W - w + stride - 1) // stride
                    entries = meeting_rows(
                        place, row_table, (h, w, top, rows), images, taps, dy_steps, packed_steps, low, pitch, P,
                        geometry, size,
                    )  # fmt: skip
                    sum_rows(
                        images * rows, across, row_table, place, entries, dy, steps, packed + c * size, vectors, sums,
                        one,
                    )  # fmt: skip
                    pixels, planes = rows * across, sums + (2 if pairs and w == 1 else 1) * block
                    for image in range(images):
                        to = dx + image * dx_steps[0] + c * dx_steps[1] + ((top * stride_y + h) * W + w) * size
                        of = sums + image * pixels * vectors * VECTOR
                        if stride * stride_y == 1:
                            scatter_sums(to, dx_steps[1], of, planes, pixels, count, vectors * lanes, adding, size, one)
                            continue
                        at = image * count * pixels * size
                        transpose(planes + at, of, pixels, count, vectors * lanes, pixels, 1, size, one)
                        for channel in range(0 if pairs and w == 0 else count):
                            target, run = to + channel * dx_steps[1], at + channel * pixels * size
                            if pairs:
                                take_pairs(
                                    target - size, sums + block + run, planes + run, rows, across, stride_y * W,
                                    across, adding, size, one,
                                )  # fmt: skip
                            else:
                                take_rows(
                                    target, planes + run, rows, across, stride_y * W, across, stride, adding, size, one
                                )  # fmt: skip
        c += count


@compiled
def meeting_rows(
    table, row_table, where, images, taps, dy_steps, packed_steps, low, pitch, P, geometry, size
):  # fmt: skip
    """Filter elements that contribute to the pixels of one remainder of the strides; returns their number.

    `where` are the remainders, the first row of pixels and the number of rows: for each, `row_table` has the elements
    that use a row of gradients.
    """
    _, _, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y = geometry
    h, w, top, rows = where
    entries, of_row = 0, 0
    for a in range(A):
        up, before = h + padding_y - a * dilation_y, entries
        for tap in range(taps if up % stride_y == 0 else 0):
            for b in range(B):
                left = w + padding - b * dilation
                if left % stride == 0:
                    seen = tap * dy_steps[2] + (up // stride_y * pitch + left // stride - low) * size
                    set_entry(table, entries, tap * packed_steps[1] + (a * B + b) * packed_steps[2], seen)
                    entries += 1
        of_row = max(of_row, entries - before)
    for row in range(rows):
        first, count, met = 0, 0, 0
        for a in range(A):
            up = h + padding_y - a * dilation_y
            if up % stride_y == 0:
                if 0 <= top + row + up // stride_y < P:
                    first = met if count == 0 else first
                    count += 1
                met += 1
        for image in range(images):
            at = 2 * (image * rows + row)
            set_entry(row_table, at, first * of_row * BYTES, count * of_row)
            set_entry(row_table, at + 1, image * dy_steps[0] + (top + row) * pitch * size, 0)
    return entries
