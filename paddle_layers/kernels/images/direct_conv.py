"""Direct convolution with register tiles: vectorized over pixels, reduced over channels and filter elements.

A band of rows of all channels is packed with zero padding, small enough for the cache of a core. With a stride, pixels
are packed into `stride` planes per axis, so that adjacent windows read adjacent pixels. A filter of a volume has one
tap per plane that it covers; these are packed like additional channels. Padding is multiplied like any value, so an
infinite weight gives NaN at the border, where the point function skips the product.
"""

from __future__ import annotations

import math

from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled, copied
from paddle_layers.kernels.primitives.epilogues import apply_epilogue
from paddle_layers.kernels.primitives.memory_ops import add_run, fetch_run, get_entry, pack_factors, set_entry
from paddle_layers.kernels.primitives.microkernels import ENTRY, ROWS, VECTOR, VECTORS, gemm_microkernel, vectors_of

from .padded_planes import SLACK, pack_plane, pitch_of, plane_size, shared, take_pairs, take_rows

# 512 KiB of float32: half of an L2 cache of 1 MiB, whose other half holds the sums and the filters that pass through.
BAND = 1 << 17
"""Elements of a band, which should fit into the L2 cache of a core."""
MOST_RUNS = 1 << 14
"""Maximum number of runs of the channels of an image: beyond, a run of `LARGEST` elements is one of 16 GiB."""
# 16 KiB of float32 per filter: the sums of a register tile (8 filters) are stored to the scratch buffer, read once more
# when rows are cut out, and should be in the L2 cache then.
PIXELS = 1 << 12
"""Pixels of a band: the sums of a few filters also stay in the cache."""
# Filters that do not stay in the cache are read once per band; several small images in one band share that.
RUN = 1 << 9
"""Elements of a plane of small images that are processed together, so that filters are read less often."""
# Of each filter only the elements of one remainder are used at a time. Packing them costs one pass, which pays if many
# vectors use them.
PACKED = 12
"""Minimum number of vectors per row of sums for packing the factors of a tile, if few factors belong to a pixel."""


@also_in_python
def residues(count, stride, dilation):
    """Number of different remainders modulo `stride` of the first `count` multiples of `dilation`."""
    # Multiples of the dilation modulo the stride repeat after stride / gcd of them.
    return min(count, stride // math.gcd(stride, dilation))


@also_in_python
def band_depth(rows, row_numbers, reach, pitch):
    """Rows of windows in a band, all bands of an image equally high; `row_numbers` is the row size of all channels."""
    # Bands of equal height: a last band of few rows would pack its overlap with the one before for little work.
    most = max(1, min(rows, BAND // max(row_numbers, 1) - reach, PIXELS // max(pitch, 1)))
    bands = (rows + most - 1) // most
    return (rows + bands - 1) // bands


@also_in_python
def most_images(N, rows, depth, plane, planes, factors):
    """Maximum number of images per band: several only if they are small and the filters do not stay in the cache."""
    together = depth == rows and factors > BAND
    return max(1, min(N, RUN // plane, BAND // (planes * plane))) if together else 1


@also_in_python
def divisor(N, most):
    """The largest divisor of `N` up to `most`."""
    result = 1
    for count in range(2, most + 1):
        if N % count == 0:
            result = count
    return result


@also_in_python
def band_numbers(planes, plane, entries, depth, pitch):
    """Scratch elements of a band: the offset table, the planes, the sums of a tile's filters."""
    return entries * ENTRY + planes * plane + SLACK + ROWS * (max(depth * pitch, plane) + SLACK)


@also_in_python
def packed_numbers(channels, taps, geometry):
    """Scratch elements of the packed factors of a tile."""
    return taps * geometry[2] * geometry[3] * channels * ROWS


@also_in_python
def forward_layout(D, P, Q, geometry):
    """Rows of windows in a band, filter reach in rows, pitch, shared padding, planes of a channel in y and x."""
    _, W, A, B, stride, stride_y, padding, _, dilation, dilation_y = geometry
    reach, reach_y = (B - 1) * dilation // stride, (A - 1) * dilation_y // stride_y
    before, after = (padding, Q + reach - W - padding) if stride == 1 else (0, 0)
    pitch, shared_zeros = pitch_of(Q, reach, before, after), shared(reach, before, after)
    planes_y, planes_x = residues(A, stride_y, dilation_y), residues(B, stride, dilation)
    depth = band_depth(P, D * planes_y * planes_x * pitch, reach_y, pitch)
    return depth, reach_y, pitch, shared_zeros, planes_y, planes_x


@also_in_python
def forward_images(N, filters, D, P, Q, geometry):
    """Maximum number of images per band of `correlate`."""
    depth, reach, pitch, shared_zeros, planes_y, planes_x = forward_layout(D, P, Q, geometry)
    plane, factors = plane_size(depth + reach, pitch, shared_zeros), filters * D * geometry[2] * geometry[3]
    return most_images(N, P, depth, plane, D * planes_y * planes_x, factors)


@also_in_python
def forward_numbers(images, D, taps, P, Q, geometry):
    """Scratch elements for `correlate`."""
    depth, reach, pitch, shared_zeros, planes_y, planes_x = forward_layout(D * taps, P, Q, geometry)
    entries, plane = taps * geometry[2] * geometry[3], images * plane_size(depth + reach, pitch, shared_zeros)
    return band_numbers(D * taps * planes_y * planes_x, plane, entries, depth, pitch)


@also_in_python
def backward_layout(filters, H, W, Q, geometry):
    """First row and column of the gradients, rows of pixels in a band, reach in rows, pitch, shared padding.

    Pixels `stride` apart, the first of them `H` x `W` for a remainder, are computed together.
    """
    _, _, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y = geometry
    low, high = -(((B - 1) * dilation - padding) // stride), (stride - 1 + padding) // stride
    low_y, high_y = -(((A - 1) * dilation_y - padding_y) // stride_y), (stride_y - 1 + padding_y) // stride_y
    reach, reach_y = high - low, high_y - low_y
    pitch, shared_zeros = pitch_of(W, reach, -low, W + high - Q), shared(reach, -low, W + high - Q)
    return low_y, low, band_depth(H, filters * pitch, reach_y, pitch), reach_y, pitch, shared_zeros


@also_in_python
def backward_images(N, filters, D, Q, geometry):
    """Maximum number of images per band of `correlate_back`."""
    H, W, A, B, stride, stride_y, _, _, _, _ = geometry
    high, wide = (H + stride_y - 1) // stride_y, (W + stride - 1) // stride
    _, _, depth, reach, pitch, shared_zeros = backward_layout(filters, high, wide, Q, geometry)
    plane = plane_size(depth + reach, pitch, shared_zeros)
    return most_images(N, high, depth, plane, filters, filters * D * A * B)


@also_in_python
def backward_numbers(images, filters, taps, Q, geometry):
    """Scratch elements for `correlate_back`."""
    H, W, A, B, stride, stride_y, _, _, _, _ = geometry
    high, wide = (H + stride_y - 1) // stride_y, (W + stride - 1) // stride
    _, _, depth, reach, pitch, shared_zeros = backward_layout(filters * taps, high, wide, Q, geometry)
    plane, entries = images * plane_size(depth + reach, pitch, shared_zeros), taps * A * B + stride * stride_y
    second = ROWS * (max(depth * pitch, plane) + SLACK)
    band = band_numbers(filters * taps, plane, entries, depth, pitch)
    return band + packed_numbers(filters, taps, geometry) + second


@copied
def correlate(
    images, groups, filters, channels, taps, x, x_steps, weight, weight_steps, y, y_steps, P, Q, geometry, place,
    adding, epilogue, size, one,
):  # fmt: skip
    """Convolution `y` (images, groups, filters, P, Q) of `x` (images, groups, channels, H, W), or `y +=`.

    `x`, `weight`, `y` and `place`, of the scratch buffer, are addresses. `x_steps` are the byte strides of x by image,
    channel and tap, `weight_steps` those of filters, channels and taps, `y_steps` those of images and filters. `taps`
    are the maximum number of taps of a filter and the number of taps to reduce. Each group has separate filters.
    Several images are processed together if a band holds them whole. `epilogue` is defined in `primitives.epilogues`,
    from the first filter on.
    """
    H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y = geometry
    most, count = taps
    depth, reach, pitch, shared_zeros, planes_y, planes_x = forward_layout(channels * most, P, Q, geometry)
    plane = plane_size(depth + reach, pitch, shared_zeros) * size
    tap_bytes = planes_y * planes_x * images * plane
    padded = place + most * A * B * ENTRY * size
    sums = padded + (channels * most * tap_bytes + SLACK * size)
    for tap in range(count):
        for a in range(A):
            for b in range(B):
                residue = a % planes_y * planes_x + b % planes_x
                run = (a * dilation_y // stride_y * pitch + b * dilation // stride) * size
                set_entry(
                    place, (tap * A + a) * B + b, tap * tap_bytes + residue * images * plane + run,
                    tap * weight_steps[2] + (a * B + b) * size,
                )  # fmt: skip
    for top in range(0, P, depth):
        rows = min(depth, P - top)
        for group in range(groups):
            to = padded
            for channel in range(channels * count):
                source = x + (group * channels + channel // count) * x_steps[1] + channel % count * x_steps[2]
                for a in range(planes_y):
                    for b in range(planes_x):
                        first = top * stride_y - padding_y + a * dilation_y % stride_y
                        for image in range(images):
                            pack_plane(
                                to, source + image * x_steps[0], (H, W), first, b * dilation % stride - padding,
                                rows + reach, pitch, shared_zeros, (stride_y, stride), size, one,
                            )  # fmt: skip
                            to += plane
            for k in range(0, filters, ROWS):
                high, numbers = min(ROWS, filters - k), (images - 1) * plane // size + (rows - 1) * pitch + Q
                tile_sums(
                    high, numbers, channels, padded, count * tap_bytes, count * A * B, place,
                    weight + (group * filters + k) * weight_steps[0], weight_steps, sums, size, one,
                )  # fmt: skip
                to = y + (group * filters + k) * y_steps[1] + top * Q * size
                for image in range(images):
                    for row in range(high):
                        at = row * vectors_of(numbers, size) * VECTOR + image * plane
                        take_rows(
                            to + image * y_steps[0] + row * y_steps[1], sums + at, rows, Q, Q, pitch, 1, adding,
                            size, one,
                        )  # fmt: skip
                        # The sums are still in the L1 cache: normalization and activation of MobileNet v1 take 0.25 ms
                        # instead of 0.67.
                        if epilogue[0] != 0:
                            apply_epilogue(
                                to + image * y_steps[0] + row * y_steps[1], rows * Q,
                                epilogue[0] + (group * filters + k + row) * size, epilogue[1], one,
                            )  # fmt: skip


@copied
def correlate_back(
    images, groups, channels, filters, taps, dy, dy_steps, weight, weight_steps, dx, dx_steps, P, Q, geometry, place,
    adding, size, one,
):  # fmt: skip
    """Gradient `dx` (images, groups, channels, H, W) of `correlate` for dy (images, groups, filters, P, Q), or `dx +=`.

    `dy_steps` are the byte strides of images, filters and taps, `weight_steps` those of channels, filters and taps,
    `dx_steps` those of images and channels. For every remainder of a stride it is a convolution of dy with the matching
    filter elements. Where rows have two remainders of equal length, their pixels are written interleaved.
    """
    H, W, A, B, stride, stride_y, _, _, _, _ = geometry
    most, count = taps
    high, wide = (H + stride_y - 1) // stride_y, (W + stride - 1) // stride
    low_y, low, depth, reach, pitch, shared_zeros = backward_layout(filters * most, high, wide, Q, geometry)
    plane = plane_size(depth + reach, pitch, shared_zeros) * size
    starts = place + most * A * B * ENTRY * size
    packed = starts + stride * stride_y * ENTRY * size
    padded = packed + packed_numbers(filters, most, geometry) * size
    sums = padded + (filters * most * images * plane + SLACK * size)
    second = sums + ROWS * (max(depth * pitch, images * plane // size) + SLACK) * size
    # The two remainders of a row are interleaved by shuffles instead of being scattered one after the other.
    pairs = stride == 2 and W % 2 == 0
    vectors = vectors_of((images - 1) * plane // size + (depth - 1) * pitch + wide, size)
    packs = vectors >= PACKED and stride * stride_y > 1
    elements = (count - 1) * weight_steps[2] // size + A * B
    meeting_elements(
        place, starts, low_y, low, pitch, (count, images * plane, weight_steps[2]), ROWS if packs else 1, geometry, size
    )
    for top in range(0, high, depth):
        for group in range(groups):
            for k in range(filters * count):
                source = dy + (group * filters + k // count) * dy_steps[1] + k % count * dy_steps[2]
                for image in range(images):
                    pack_plane(
                        padded + (k * images + image) * plane, source + image * dy_steps[0], (P, Q), top + low_y, low,
                        min(depth, high - top) + reach, pitch, shared_zeros, (1, 1), size, one,
                    )  # fmt: skip
            for c in range(0, channels, ROWS):
                tile = min(ROWS, channels - c)
                of, steps = weight + group * filters * weight_steps[1] + c * weight_steps[0], weight_steps[:2]
                if packs:
                    pack_factors(packed, of, tile, steps[0], filters, steps[1], elements, ROWS, size, one)
                    of, steps = packed, (size, elements * ROWS * size)
                for h in range(min(stride_y, H)):
                    rows = min(depth, (H - h + stride_y - 1) // stride_y - top)
                    to = dx + (group * channels + c) * dx_steps[1] + (top * stride_y + h) * W * size
                    numbers = (images - 1) * plane // size + (rows - 1) * pitch + wide
                    for w in range(min(stride, W) if rows > 0 else 0):
                        entry = get_entry(starts, h * stride + w)
                        tile_sums(
                            tile, numbers, filters, padded, count * images * plane, entry[1], place + entry[0], of,
                            steps, second if pairs and w == 1 else sums, size, one,
                        )  # fmt: skip
                        for n in range(0 if pairs and w == 0 else images * tile):
                            image, row = n // tile, n % tile
                            at = row * vectors_of(numbers, size) * VECTOR + image * plane
                            target = to + image * dx_steps[0] + row * dx_steps[1]
                            if pairs:
                                take_pairs(
                                    target, sums + at, second + at, rows, wide, stride_y * W, pitch, adding, size, one
                                )  # fmt: skip
                            else:
                                take_rows(
                                    target + w * size, sums + at, rows, (W - w + stride - 1) // stride, stride_y * W,
                                    pitch, stride, adding, size, one,
                                )  # fmt: skip


@compiled
def meeting_elements(table, starts, low_y, low, pitch, taps, width, geometry, size):
    """Filter elements that contribute to pixels, by remainder modulo the stride, as offset tables.

    `starts` has, for each pair of remainders, the start of its table and its number of elements; the factors of an
    element take `width` entries. `taps` are their number and their byte strides in the planes and in the filter.
    """
    _, _, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y = geometry
    count, planes_step, factors_step = taps
    entries = 0
    for h in range(stride_y):
        for w in range(stride):
            first = entries
            for tap in range(count):
                for a in range(A):
                    up = h + padding_y - a * dilation_y
                    for b in range(B):
                        left = w + padding - b * dilation
                        if up % stride_y == 0 and left % stride == 0:
                            run = (up // stride_y - low_y) * pitch + left // stride - low
                            factor = tap * factors_step + (a * B + b) * size
                            set_entry(table, entries, tap * planes_step + run * size, factor * width)
                            entries += 1
            set_entry(starts, h * stride + w, first * 16, entries - first)


@copied
def tile_sums(filters, numbers, channels, padded, plane, entries, table, weight, weight_steps, sums, size, one):
    """Convolves the planes of a band with the filters of a tile; each has `numbers` sums, in whole vectors."""
    gemm_microkernel(
        filters, vectors_of(numbers, size), 0, channels, plane, weight_steps[1], entries, table,
        weight, weight_steps[0], padded, sums, vectors_of(numbers, size) * VECTOR, False, one,
    )  # fmt: skip


@copied
def pointwise_conv(filters, sums, x, weight, weight_steps, y, y_step, pixels, adding, epilogue, size, one):
    """Pointwise convolution: y (filters, pixels) = the filters times the pixels of x, or y += it, without packing x.

    `sums` are the channels, their byte stride in x, the elements of a filter and the address of their table, as in
    `gemm_microkernel`; `weight_steps` are the byte strides of filters and channels, `y_step` that of filters. There are
    at least as many pixels as a vector has elements. `adding` is a scratch buffer for a vector of each row of a tile,
    or 0 without accumulation. `epilogue` is defined in `primitives.epilogues`, from the first filter on.

    With filters of one element, the next data are prefetched: a tile reads a few cache lines of each channel, which no
    hardware prefetcher predicts. The inputs of larger filters have just been packed.
    """
    filter_step, channel_step = weight_steps
    channels, x_step, elements, table = sums
    lanes = VECTOR // size
    fetched = channels if elements == 1 else 0
    most = max(1, BAND // (channels * elements + fetched) // (lanes * VECTORS)) * lanes * VECTORS
    tiles = (filters + ROWS - 1) // ROWS
    start = 0
    fetch_rows(x, 0, fetched, x_step, 0, min(most + lanes, pixels), size)
    while start < pixels:
        # The last part takes a remainder shorter than a vector with it: its overlapping tile needs a vector before it.
        count = most if pixels - start >= most + lanes else pixels - start
        vectors, rest = vectors_of(count, size), count % lanes
        after = start + count
        coming = min(most + lanes, pixels - after)
        for tile in range(tiles):
            k = tile * ROWS
            high, to = min(ROWS, filters - k), y + k * y_step + start * size
            fetch_rows(x, fetched * tile // tiles, fetched * (tile + 1) // tiles, x_step, after, coming, size)
            # The overlap of the last vectors would be added twice, so that the remainder is computed aside.
            if adding != 0:
                gemm_microkernel(
                    high, count // lanes, 0, channels, x_step, channel_step, elements, table, weight + k * filter_step,
                    filter_step, x + start * size, to, y_step, True, one,
                )  # fmt: skip
                if rest > 0:
                    gemm_microkernel(
                        high, 1, 0, channels, x_step, channel_step, elements, table, weight + k * filter_step,
                        filter_step, x + (after - lanes) * size, adding, VECTOR, False, one,
                    )  # fmt: skip
                    for row in range(high):
                        add_run(
                            to + row * y_step + (count - rest) * size, adding + (row + 1) * VECTOR - rest * size, rest,
                            size, one,
                        )  # fmt: skip
            else:
                gemm_microkernel(
                    high, vectors, vectors * VECTOR - count * size, channels, x_step, channel_step, elements, table,
                    weight + k * filter_step, filter_step, x + start * size, to, y_step, False, one,
                )  # fmt: skip
            for row in range(high if epilogue[0] != 0 else 0):
                apply_epilogue(to + row * y_step, count, epilogue[0] + (k + row) * size, epilogue[1], one)
        start = after


@copied
def fetch_rows(x, first, last, step, start, count, size):
    """Prefetches `count` elements from `start` on of the channels `first` to `last` of x, `step` bytes apart."""
    for channel in range(first if count > 0 else last, last):
        fetch_run(x + channel * step + start * size, count, size)
