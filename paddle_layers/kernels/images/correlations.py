"""Correlations of images with filters by tiles of registers: vectors run over pixels, sums over channels and elements.

A band of rows of all channels is laid out with its borders of zeros, small enough for a core's cache. Where windows are
`stride` pixels apart, the pixels go to `stride` planes each way, so that neighbouring windows read neighbouring pixels.
A padded zero is multiplied like a number, so an infinite weight gives NaN at the border, where the point function
skips the product.
"""

from __future__ import annotations

import math

from paddle_layers.kernels.primitives.compiling import also_in_python, compiled, copied
from paddle_layers.kernels.primitives.moves import set_entry
from paddle_layers.kernels.primitives.tiles import ROWS, VECTOR, VECTORS, products, vectors_of

from .planes import SLACK, lay_plane, pitch_of, plane_size, shared, take_rows

BAND = 1 << 17
"""Numbers of a band, which should stay in a core's second cache."""
PIXELS = 1 << 12
"""Pixels of a band: so many sums of a few filters stay in the cache, too."""
ENTRY = 4
"""Numbers that an entry of a table takes."""


@also_in_python
def residues(count, stride, dilation):
    """How many different remainders `stride` leaves of the first `count` multiples of `dilation`."""
    return min(count, stride // math.gcd(stride, dilation))


@also_in_python
def band_depth(rows, row_numbers, reach, pitch):
    """Rows of windows in a band, the bands of an image equally high; `row_numbers` for a row of all channels."""
    most = max(1, min(rows, BAND // max(row_numbers, 1) - reach, PIXELS // max(pitch, 1)))
    bands = (rows + most - 1) // most
    return (rows + bands - 1) // bands


@also_in_python
def band_numbers(planes, plane, entries, depth, pitch):
    """Numbers of the scratch memory of a band: the table of offsets, the planes, the sums of a tile's filters."""
    return entries * ENTRY + planes * plane + SLACK + ROWS * (depth * pitch + SLACK)


@also_in_python
def forward_layout(D, P, Q, geometry):
    """Rows of windows in a band, reach of a filter in rows, pitch, shared zeros, planes of a channel in y and x."""
    _, _, A, B, stride, stride_y, padding, _, dilation, dilation_y = geometry
    reach, reach_y = (B - 1) * dilation // stride, (A - 1) * dilation_y // stride_y
    border = padding if stride == 1 else 0
    pitch, shared_zeros = pitch_of(Q, reach, border, border), shared(reach, border, border)
    planes_y, planes_x = residues(A, stride_y, dilation_y), residues(B, stride, dilation)
    depth = band_depth(P, D * planes_y * planes_x * pitch, reach_y, pitch)
    return depth, reach_y, pitch, shared_zeros, planes_y, planes_x


@also_in_python
def forward_numbers(D, P, Q, geometry):
    """Numbers of scratch memory for `correlate`."""
    depth, reach, pitch, shared_zeros, planes_y, planes_x = forward_layout(D, P, Q, geometry)
    entries = geometry[2] * geometry[3]
    return band_numbers(D * planes_y * planes_x, plane_size(depth + reach, pitch, shared_zeros), entries, depth, pitch)


@also_in_python
def backward_layout(filters, H, W, Q, geometry):
    """Rows and columns where gradients begin to be read, rows of pixels in a band, reach in rows, pitch, shared zeros.

    Pixels of an image that are `stride` apart, the first of them `H` x `W` for a remainder, are computed at once.
    """
    _, _, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y = geometry
    low, high = (padding - (B - 1) * dilation) // stride, (stride - 1 + padding) // stride
    low_y, high_y = (padding_y - (A - 1) * dilation_y) // stride_y, (stride_y - 1 + padding_y) // stride_y
    reach, reach_y = high - low, high_y - low_y
    pitch, shared_zeros = pitch_of(W, reach, -low, W + high - Q), shared(reach, -low, W + high - Q)
    return low_y, low, band_depth(H, filters * pitch, reach_y, pitch), reach_y, pitch, shared_zeros


@also_in_python
def backward_numbers(filters, Q, geometry):
    """Numbers of scratch memory for `correlate_back`."""
    H, W, A, B, stride, stride_y, _, _, _, _ = geometry
    high, wide = (H + stride_y - 1) // stride_y, (W + stride - 1) // stride
    _, _, depth, reach, pitch, shared_zeros = backward_layout(filters, high, wide, Q, geometry)
    return band_numbers(filters, plane_size(depth + reach, pitch, shared_zeros), A * B, depth, pitch)


@copied
def correlate(groups, filters, channels, x, weight, weight_steps, y, P, Q, geometry, place, size, one):
    """y (groups, filters, P, Q) = the correlation of x (groups, channels, H, W) with the filters of each group.

    `x`, `weight`, `y` and `place`, of the scratch memory, are addresses; `weight_steps` are the bytes from one filter
    to the next, and from one channel to the next.
    """
    H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y = geometry
    depth, reach, pitch, shared_zeros, planes_y, planes_x = forward_layout(channels, P, Q, geometry)
    plane = plane_size(depth + reach, pitch, shared_zeros) * size
    laid = place + A * B * ENTRY * size
    sums = laid + (channels * planes_y * planes_x * plane + SLACK * size)
    for a in range(A):
        for b in range(B):
            image = a % planes_y * planes_x + b % planes_x
            run = (a * dilation_y // stride_y * pitch + b * dilation // stride) * size
            set_entry(place, a * B + b, image * plane + run, (a * B + b) * size)
    for top in range(0, P, depth):
        rows = min(depth, P - top)
        for group in range(groups):
            to = laid
            for channel in range(channels):
                source = x + (group * channels + channel) * H * W * size
                for a in range(planes_y):
                    for b in range(planes_x):
                        first = top * stride_y - padding_y + a * dilation_y % stride_y
                        lay_plane(
                            to, source, (H, W), first, b * dilation % stride - padding,
                            rows + reach, pitch, shared_zeros, (stride_y, stride), size, one,
                        )  # fmt: skip
                        to += plane
            filter_band(
                filters, channels, laid, planes_y * planes_x * plane, A * B, place,
                weight + group * filters * weight_steps[0], weight_steps, sums,
                (rows, Q, pitch), y + (group * filters * P + top) * Q * size, (P * Q, Q, 1), False, size, one,
            )  # fmt: skip


@copied
def correlate_back(
    groups, channels, filters, dy, weight, weight_steps, dx, P, Q, geometry, place, adding, size, one
):  # fmt: skip
    """dx (groups, channels, H, W) = the gradient of `correlate` for dy (groups, filters, P, Q), or += where `adding`.

    For every remainder of a stride it is a correlation of dy with those elements of the filters that meet it.
    """
    H, W, A, B, stride, stride_y, _, _, _, _ = geometry
    high, wide = (H + stride_y - 1) // stride_y, (W + stride - 1) // stride
    low_y, low, depth, reach, pitch, shared_zeros = backward_layout(filters, high, wide, Q, geometry)
    plane = plane_size(depth + reach, pitch, shared_zeros) * size
    laid = place + A * B * ENTRY * size
    sums = laid + (filters * plane + SLACK * size)
    entries = 0
    for top in range(0, high, depth):
        for group in range(groups):
            for k in range(filters):
                lay_plane(
                    laid + k * plane, dy + (group * filters + k) * P * Q * size, (P, Q), top + low_y, low,
                    min(depth, high - top) + reach, pitch, shared_zeros, (1, 1), size, one,
                )  # fmt: skip
            for h in range(min(stride_y, H)):
                rows = min(depth, (H - h + stride_y - 1) // stride_y - top)
                for w in range(min(stride, W)):
                    if group == 0 or stride * stride_y > 1:
                        entries = meeting_elements(place, h, w, low_y, low, pitch, geometry, size)
                    filter_band(
                        channels, filters, laid, plane, entries, place,
                        weight + group * filters * weight_steps[1], weight_steps, sums,
                        (rows, (W - w + stride - 1) // stride, pitch),
                        dx + ((group * channels * H + top * stride_y + h) * W + w) * size,
                        (H * W, stride_y * W, stride), adding, size, one,
                    )  # fmt: skip


@compiled
def meeting_elements(table, h, w, low_y, low, pitch, geometry, size):
    """The elements of a filter that meet the pixels with these remainders, as a table of offsets; gives how many."""
    _, _, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y = geometry
    entries = 0
    for a in range(A):
        up = h + padding_y - a * dilation_y
        for b in range(B):
            left = w + padding - b * dilation
            if up % stride_y == 0 and left % stride == 0:
                run = (up // stride_y - low_y) * pitch + left // stride - low
                set_entry(table, entries, run * size, (a * B + b) * size)
                entries += 1
    return entries


@copied
def filter_band(
    filters, channels, laid, plane, entries, table, weight, weight_steps, sums, shape, y, y_steps, adding, size, one
):  # fmt: skip
    """Correlate the planes of a band with filters and take out what lies in the image.

    `shape` is rows, columns and the pitch of the planes; `y_steps` the numbers from one filter, row and column of the
    result to the next.
    """
    (rows, width, pitch), (filter_step, channel_step), (y_plane, y_row, y_step) = shape, weight_steps, y_steps
    if rows <= 0:
        return
    vectors = vectors_of((rows - 1) * pitch + width, size)
    for k in range(0, filters, ROWS):
        high = min(ROWS, filters - k)
        products(
            high, vectors, 0, channels, plane, channel_step, entries, table,
            weight + k * filter_step, filter_step, laid, sums, vectors * VECTOR, False, one,
        )  # fmt: skip
        for row in range(high):
            take_rows(
                y + (k + row) * y_plane * size, sums + row * vectors * VECTOR, rows, width, y_row, pitch, y_step,
                adding, size, one,
            )  # fmt: skip


@copied
def mix_channels(filters, channels, x, weight, weight_steps, y, pixels, place, size, one):
    """y (filters, pixels) = filters of one element times x (channels, pixels): nothing is laid out, nothing taken out.

    There are at least as many pixels as a vector has numbers.
    """
    filter_step, channel_step = weight_steps
    lanes = VECTOR // size
    most = max(1, BAND // channels // (lanes * VECTORS)) * lanes * VECTORS
    set_entry(place, 0, 0, 0)
    start = 0
    while start < pixels:
        count = most if pixels - start >= most + lanes else pixels - start
        vectors = vectors_of(count, size)
        products(
            filters, vectors, vectors * VECTOR - count * size, channels, pixels * size, channel_step, 1, place,
            weight, filter_step, x + start * size, y + start * size, pixels * size, False, one,
        )  # fmt: skip
        start += count
