"""conv and its gradients: what is computed side by side, and in which memory."""

from __future__ import annotations

from paddle_layers.kernels.pieces import PIECES
from paddle_layers.kernels.primitives.compiling import also_in_python, compiled
from paddle_layers.kernels.primitives.scratch import piece_of, place_of_piece
from paddle_layers.kernels.primitives.tiles import ROWS, VECTOR
from paddle_layers.kernels.primitives.vectors import total
from paddle_layers.kernels.tuned import tuned

from . import depthwise  # noqa: F401  its kernels are asked first
from .correlations import backward_numbers, correlate, correlate_back, forward_numbers, mix_channels
from .weightgradients import correlate_weights, weight_numbers
from .winograd import (
    block_tiles,
    convolve_tiles,
    own_numbers,
    pieces,
    rounded,
    tile_parts,
    tiles_pay,
    tiles_pay_back,
    transform_filters,
    winograd_items,
    winograd_items_back,
    winograd_scratch,
    winograd_scratch_back,
)  # fmt: skip

WORTH_IT = 1 << 17
"""Multiplications below which the point function stays: what a step gains does not pay the compiler's extra second."""
BIAS_WORTH_IT = 1 << 17
"""Numbers below which the point function stays, for the gradient of the bias."""
SHORTEST = 16
"""Filters of an item at least."""
LARGEST = 1 << 18
"""Numbers of an item's result at most, if it has more filters than `SHORTEST`."""
CHANNELS = 64
"""Channels of an item of `conv_dweight` at most."""
ONE_ROW = 1 << 10
"""Pixels of a row at most where an image becomes one row: turning short rows takes long."""
SLICES = 8


def multiplications(N: int, K: int, D: int, A: int, B: int, P: int, Q: int) -> int:
    """Operations on the whole batch; laying out the windows counts like two filters."""
    return N * (K + 2) * D * A * B * P * Q


@also_in_python
def one_pixel(geometry):
    """Whether windows are single pixels, side by side."""
    _, _, A, B, stride, stride_y, padding, padding_y, _, _ = geometry
    return A * B * stride * stride_y == 1 and padding + padding_y == 0


@also_in_python
def image_items(N, rows, numbers):
    """Runs of `rows` planes of `numbers` pixels of `N` images: equally many for all, by shape only.

    An image is cut where there are few, or where a run would not stay in a core's cache, but not into short runs:
    each of them lays the other side's planes out anew.
    """
    parts = 1
    for count in range(2, rows // SHORTEST + 1):
        if (N * parts < PIECES or rows // parts * numbers > LARGEST) and rows % count == 0:
            parts = count
    return N * parts


@also_in_python
def forward_items(N, K, P, Q):
    """Work items of `conv_y`."""
    return image_items(N, K, P * Q)


@also_in_python
def backward_items(N, C, H, W):
    """Work items of `conv_dx`."""
    return image_items(N, C, H * W)


def output_planes(N: int, K: int) -> int:
    """Planes of the output, of which an item writes some."""
    return N * K


def input_planes(N: int, C: int) -> int:
    """Planes of the input's gradient, of which an item writes some."""
    return N * C


def forward_scratch(
    D: int, H: int, W: int, P: int, Q: int, A: int, B: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> int:  # fmt: skip
    """Numbers that a piece of `conv_y` needs."""
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    return int(forward_numbers(D, P, Q, geometry))


def backward_scratch(
    K: int, H: int, W: int, Q: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> int:  # fmt: skip
    """Numbers that a piece of `conv_dx` needs."""
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    return int(backward_numbers(K // groups, Q, geometry))


@tuned(
    "conv", "conv_y", items=pieces, scratch=winograd_scratch, scratch_of_pieces=True,
    when=tiles_pay, work=multiplications, least=WORTH_IT, pass_name="winograd",
)  # fmt: skip
@compiled
def winograd_filters(first, last, weight, scratch):
    K, D, _, _ = weight.shape
    size, one = weight.itemsize, weight.dtype.type(1)
    place, step = own_numbers(scratch, weight)
    for item in range(first, last):
        transform_filters(
            K * item // PIECES, K * (item + 1) // PIECES, weight.ctypes.data, K, D, False,
            scratch.ctypes.data, place + item * step, size, one,
        )  # fmt: skip


@tuned("conv", "conv_y", items=winograd_items, behind=winograd_filters)
@compiled
def winograd_y(first, last, y, x, weight, scratch, padding, padding_y):
    """An item is some images, or a run of filters of one."""
    N, K, P, Q = y.shape
    _, C, H, W = x.shape
    size, one = y.itemsize, y.dtype.type(1)
    images, runs = tile_parts(N, K, P, Q)
    wide, filters, items = rounded(C) * size, K // runs, N // images * runs
    place, step = own_numbers(scratch, weight)
    for item in range(first, last):
        n, k = item // runs * images, item % runs * filters
        convolve_tiles(
            images, C, filters, block_tiles(C, K), x.ctypes.data + n * C * H * W * size, C * H * W * size,
            (H, W), (padding_y, padding), scratch.ctypes.data + k * wide, (K * wide, wide, size),
            y.ctypes.data + (n * K + k) * P * Q * size, K * P * Q * size, P, Q,
            place + piece_of(item, items) * step, False, size, one,
        )  # fmt: skip


@tuned(
    "conv", "conv_dx", items=pieces, scratch=winograd_scratch_back, scratch_of_pieces=True,
    when=tiles_pay_back, work=multiplications, least=WORTH_IT, pass_name="winograd",
)  # fmt: skip
@compiled
def winograd_filters_back(first, last, weight, scratch):
    K, D, _, _ = weight.shape
    size, one = weight.itemsize, weight.dtype.type(1)
    place, step = own_numbers(scratch, weight)
    for item in range(first, last):
        transform_filters(
            K * item // PIECES, K * (item + 1) // PIECES, weight.ctypes.data, K, D, True,
            scratch.ctypes.data, place + item * step, size, one,
        )  # fmt: skip


@tuned("conv", "conv_dx", items=winograd_items_back, behind=winograd_filters_back)
@compiled
def winograd_dx(first, last, dx, dy, weight, accumulate, scratch, padding, padding_y):
    """An item is some images, or a run of channels of one."""
    N, K, P, Q = dy.shape
    _, C, H, W = dx.shape
    size, one = dy.itemsize, dy.dtype.type(1)
    images, runs = tile_parts(N, C, H, W)
    wide, channels, items = rounded(C) * size, C // runs, N // images * runs
    place, step = own_numbers(scratch, weight)
    for item in range(first, last):
        n, c = item // runs * images, item % runs * channels
        convolve_tiles(
            images, K, channels, block_tiles(C, K), dy.ctypes.data + n * K * P * Q * size, K * P * Q * size,
            (P, Q), (2 - padding_y, 2 - padding), scratch.ctypes.data + c * size, (K * wide, size, wide),
            dx.ctypes.data + (n * C + c) * H * W * size, C * H * W * size, H, W,
            place + piece_of(item, items) * step, accumulate, size, one,
        )  # fmt: skip


@tuned(
    "conv", "conv_y", items=forward_items, runs=output_planes, scratch=forward_scratch, scratch_of_pieces=True,
    work=multiplications, least=WORTH_IT,
)  # fmt: skip
@compiled
def conv_y(
    first, last, y, x, weight, scratch, stride, stride_y, padding, padding_y, dilation, dilation_y, groups
):  # fmt: skip
    """An item is a run of filters of an image, or of all filters of some images."""
    N, K, P, Q = y.shape
    _, C, H, W = x.shape
    _, D, A, B = weight.shape
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    filters, size, one, items = K // groups, y.itemsize, y.dtype.type(1), forward_items(N, K, P, Q)
    steps = (D * A * B * size, A * B * size)
    direct = one_pixel(geometry) and P * Q * size >= VECTOR
    for item in range(first, last):
        place = place_of_piece(scratch, item, items)
        row, stop = N * K * item // items, N * K * (item + 1) // items
        while row < stop:
            n, k = row // K, row % K
            count = min(stop - row, filters - k % filters)
            whole = min(stop - row, K - k) // filters if count == filters else 1
            image = x.ctypes.data + (n * C + k // filters * D) * H * W * size
            of, to = weight.ctypes.data + k * steps[0], y.ctypes.data + row * P * Q * size
            if direct:
                mix_channels(count, D, image, of, steps, to, P * Q, place, size, one)
            else:
                correlate(whole, count, D, image, of, steps, to, P, Q, geometry, place, size, one)
            row += count if direct else whole * count


@tuned(
    "conv", "conv_dx", items=backward_items, runs=input_planes, scratch=backward_scratch, scratch_of_pieces=True,
    work=multiplications, least=WORTH_IT,
)  # fmt: skip
@compiled
def conv_dx(
    first, last, dx, dy, weight, accumulate, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    """An item is a run of channels of an image, or of all channels of some images."""
    N, K, P, Q = dy.shape
    _, C, H, W = dx.shape
    _, D, A, B = weight.shape
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    filters, size, one, items = K // groups, dy.itemsize, dy.dtype.type(1), backward_items(N, C, H, W)
    steps = (A * B * size, D * A * B * size)
    direct = one_pixel(geometry) and not accumulate and P * Q * size >= VECTOR
    for item in range(first, last):
        place = place_of_piece(scratch, item, items)
        row, stop = N * C * item // items, N * C * (item + 1) // items
        while row < stop:
            n, c = row // C, row % C
            count, k = min(stop - row, D - c % D), c // D * filters
            whole = min(stop - row, C - c) // D if count == D else 1
            deltas = dy.ctypes.data + (n * K + k) * P * Q * size
            of = weight.ctypes.data + k * steps[1] + c % D * steps[0]
            to = dx.ctypes.data + row * H * W * size
            if direct:
                mix_channels(count, filters, deltas, of, steps, to, P * Q, place, size, one)
            else:
                correlate_back(
                    whole, count, filters, deltas, of, steps, to, P, Q, geometry, place, accumulate, size, one
                )  # fmt: skip
            row += count if direct else whole * count


@also_in_python
def weight_parts(K, D, groups, taps):
    """Runs of the channels and of the filters of a group that are items of `conv_dweight`; by shape only."""
    filters, channels = K // groups, 1
    channels = max(1, (D + CHANNELS - 1) // CHANNELS)
    runs = 1
    while groups * channels * runs < PIECES and filters >= 4 * runs * ROWS:
        runs *= 2
    return channels, runs


@also_in_python
def weight_items(K, D, A, B, groups):
    """Work items of `conv_dweight`."""
    channels, runs = weight_parts(K, D, groups, A * B)
    return groups * channels * runs


@also_in_python
def weight_shape(H, W, P, Q, geometry):
    """Rows and columns of windows, and the geometry: for windows of one pixel, a small image is one row."""
    if one_pixel(geometry) and P * Q <= ONE_ROW:
        return 1, P * Q, (1, P * Q, 1, 1, 1, 1, 0, 0, 1, 1)
    return P, Q, geometry


def weight_scratch(
    N: int, K: int, D: int, H: int, W: int, P: int, Q: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> int:  # fmt: skip
    """Numbers that a piece of `conv_dweight` needs."""
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    channels, runs = weight_parts(K, D, groups, A * B)
    rows, columns, geometry = weight_shape(H, W, P, Q, geometry)
    return int(weight_numbers(N, -(-K // groups // runs), -(-D // channels), rows, columns, geometry))


@tuned(
    "conv", "conv_dweight", items=weight_items, scratch=weight_scratch, scratch_of_pieces=True,
    work=multiplications, least=WORTH_IT,
)  # fmt: skip
@compiled
def conv_dweight(
    first, last, dweight, dy, x, accumulate, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    """An item is some filters for some channels of a group, over all images in their order."""
    N, K, P, Q = dy.shape
    _, C, H, W = x.shape
    _, D, A, B = dweight.shape
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    rows, columns, geometry = weight_shape(H, W, P, Q, geometry)
    filters, size, one = K // groups, dy.itemsize, dy.dtype.type(1)
    parts, runs = weight_parts(K, D, groups, A * B)
    items = groups * parts * runs
    for item in range(first, last):
        group, part, run = item // runs // parts, item // runs % parts, item % runs
        k, end = filters * run // runs, filters * (run + 1) // runs
        d, stop = D * part // parts, D * (part + 1) // parts
        correlate_weights(
            N, end - k, stop - d,
            x.ctypes.data + (group * D + d) * H * W * size, C * H * W * size,
            dy.ctypes.data + (group * filters + k) * P * Q * size, K * P * Q * size,
            dweight.ctypes.data + ((group * filters + k) * D + d) * A * B * size, (D * A * B, A * B),
            rows, columns, geometry, place_of_piece(scratch, item, items), accumulate, size, one,
        )  # fmt: skip


def outputs(N: int, K: int, P: int, Q: int) -> int:
    """Numbers in the output of a convolution."""
    return N * K * P * Q


def filter_slices(K: int) -> int:
    """Slices of the filters; by shape only."""
    return min(K, SLICES)


@tuned("conv", "conv_bias_gradient", items=filter_slices, work=outputs, least=BIAS_WORTH_IT)
@compiled
def conv_bias_gradient(first, last, dbias, dy, accumulate):
    N, K, P, Q = dy.shape
    parts, zero, deltas = min(K, SLICES), dy.dtype.type(0), dy.ravel()
    for part in range(first, last):
        for k in range(K * part // parts, K * (part + 1) // parts):
            result = dbias[k] if accumulate else zero
            for n in range(N):
                result += total(deltas[(n * K + k) * P * Q : (n * K + k + 1) * P * Q], zero)
            dbias[k] = result
