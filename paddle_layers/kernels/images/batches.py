"""Correlations of batches of images, and their gradients: what is computed side by side, and in which memory.

`conv` is one of them; `conv_trans` has its gradients.
"""

from __future__ import annotations

from paddle_layers.kernels.pieces import PIECES
from paddle_layers.kernels.primitives.compiling import also_in_python, compiled
from paddle_layers.kernels.primitives.scratch import place_of_piece
from paddle_layers.kernels.primitives.tiles import ROWS, VECTOR
from paddle_layers.kernels.primitives.vectors import total

from .correlations import (
    backward_images,
    backward_numbers,
    correlate,
    correlate_back,
    divisor,
    forward_images,
    forward_numbers,
    mix_channels,
)
from .weightgradients import correlate_weights, weight_numbers

WORTH_IT = 1 << 17
"""Multiplications below which the point function stays: what a step gains does not pay the compiler's extra second."""
BIAS_WORTH_IT = 1 << 17
"""Numbers below which the point function stays, for the gradient of the bias."""
SHORTEST = 16
"""Filters of an item at least."""
LARGEST = 1 << 18
"""Numbers of an item's result at most, if it has more filters than `SHORTEST`."""
CHANNELS = 64
"""Channels of an item of the filters' gradient at most."""
ONE_ROW = 1 << 10
"""Pixels of a row at most where an image becomes one row: turning short rows takes long."""
FEW = 4
"""Items of a batch of small images, if they have that many runs of filters."""
SLICES = 8


def multiplications(N: int, K: int, D: int, A: int, B: int, P: int, Q: int) -> int:
    """Operations on the whole batch; laying out the windows counts like two filters."""
    return N * (K + 2) * D * A * B * P * Q


@also_in_python
def one_pixel(geometry, P, Q):
    """Whether windows are single pixels, side by side, and each pixel is one."""
    H, W, A, B, stride, stride_y, padding, padding_y, _, _ = geometry
    return A * B * stride * stride_y == 1 and padding + padding_y == 0 and P * Q == H * W


@also_in_python
def image_parts(N, images, rows, numbers):
    """Runs that the `rows` planes, of `numbers` pixels, of `images` images are cut into; by shape only.

    They are cut where there are few, or where a run would not stay in a core's cache, but not into short runs: each
    of them lays the other side's planes out anew.
    """
    parts, wanted = 1, PIECES if images == 1 else FEW
    for count in range(2, rows // (SHORTEST * min(images, 2)) + 1):
        few = N // images * parts < wanted or images * rows // parts * numbers > LARGEST
        if few and rows % count == 0:
            parts = count
    return parts


@also_in_python
def forward_parts(N, K, D, groups, P, Q, geometry):
    """Images of an item of `correlate_images`, and the runs that their filters are cut into."""
    images = 1 if one_pixel(geometry, P, Q) else divisor(N, forward_images(N, K // groups, D, P, Q, geometry))
    return images, image_parts(N, images, K, P * Q)


@also_in_python
def backward_parts(N, filters, C, groups, P, Q, geometry):
    """Images of an item of `correlate_images_back`, and the runs that their channels are cut into."""
    images = 1 if one_pixel(geometry, P, Q) else divisor(N, backward_images(N, filters, C // groups, Q, geometry))
    return images, image_parts(N, images, C, geometry[0] * geometry[1])


def forward_items(
    N: int, K: int, D: int, H: int, W: int, P: int, Q: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> int:  # fmt: skip
    """Work items of `correlate_images`."""
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    images, parts = forward_parts(N, K, D, groups, P, Q, geometry)
    return int(N // images * parts)


def backward_items(
    N: int, K: int, C: int, H: int, W: int, P: int, Q: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> int:  # fmt: skip
    """Work items of `correlate_images_back`."""
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    images, parts = backward_parts(N, K // groups, C, groups, P, Q, geometry)
    return int(N // images * parts)


def output_planes(N: int, K: int) -> int:
    """Planes of the output, of which an item writes some."""
    return N * K


def input_planes(N: int, C: int) -> int:
    """Planes of the input's gradient, of which an item writes some."""
    return N * C


def forward_runs(
    N: int, K: int, D: int, H: int, W: int, P: int, Q: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> int:  # fmt: skip
    """Planes of the output, where those of an item of `correlate_images` lie side by side."""
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    images, parts = forward_parts(N, K, D, groups, P, Q, geometry)
    return N * K if min(images, parts) == 1 else 0


def backward_runs(
    N: int, K: int, C: int, H: int, W: int, P: int, Q: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> int:  # fmt: skip
    """Planes of the input's gradient, where those of an item of `correlate_images_back` lie side by side."""
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    images, parts = backward_parts(N, K // groups, C, groups, P, Q, geometry)
    return N * C if min(images, parts) == 1 else 0


def for_every_piece(numbers: int, images: int, items: int) -> int:
    """Numbers of a piece that has `numbers`: as fewer images may be more items, such that there are `PIECES` times."""
    return numbers if images == 1 else -(-numbers * PIECES // max(1, min(items, PIECES)))


def forward_scratch(
    N: int, K: int, D: int, H: int, W: int, P: int, Q: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> int:  # fmt: skip
    """Numbers that a piece of `correlate_images` needs."""
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    images, parts = forward_parts(N, K, D, groups, P, Q, geometry)
    most = int(forward_images(N, K // groups, D, P, Q, geometry))
    return for_every_piece(int(forward_numbers(most, D, P, Q, geometry)), most, int(N // images * parts))


def backward_scratch(
    N: int, K: int, C: int, H: int, W: int, P: int, Q: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> int:  # fmt: skip
    """Numbers that a piece of `correlate_images_back` needs."""
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    images, parts = backward_parts(N, K // groups, C, groups, P, Q, geometry)
    most = int(backward_images(N, K // groups, C // groups, Q, geometry))
    return for_every_piece(int(backward_numbers(most, K // groups, Q, geometry)), most, int(N // images * parts))


@compiled
def correlate_images(
    first, last, y, x, weight, accumulate, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    """y (N, K, P, Q) = x (N, C, H, W) under the filters, or y += where `accumulate`.

    An item is a run of filters of an image, or of some small ones.
    """
    N, K, P, Q = y.shape
    _, C, H, W = x.shape
    _, D, A, B = weight.shape
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    filters, size, one = K // groups, y.itemsize, y.dtype.type(1)
    images, parts = forward_parts(N, K, D, groups, P, Q, geometry)
    items = N // images * parts
    steps = (D * A * B * size, A * B * size)
    direct = one_pixel(geometry, P, Q) and not accumulate and P * Q * size >= VECTOR
    for item in range(first, last):
        place, n = place_of_piece(scratch, item, items), item // parts * images
        k, stop = item % parts * K // parts, (item % parts + 1) * K // parts
        while k < stop:
            count = min(stop - k, filters - k % filters)
            whole = (stop - k) // filters if count == filters else 1
            image = x.ctypes.data + (n * C + k // filters * D) * H * W * size
            of, to = weight.ctypes.data + k * steps[0], y.ctypes.data + (n * K + k) * P * Q * size
            if direct:
                mix_channels(count, D, image, of, steps, to, P * Q, place, size, one)
            else:
                correlate(
                    images, whole, count, D, image, C * H * W * size, of, steps, to, K * P * Q * size, P, Q, geometry,
                    place, accumulate, size, one,
                )  # fmt: skip
            k += count if direct else whole * count


@compiled
def correlate_images_back(
    first, last, dx, dy, weight, accumulate, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    """dx (N, C, H, W) = the gradient of `correlate_images`, or dx += where `accumulate`.

    An item is a run of channels of an image, or of some small ones.
    """
    N, K, P, Q = dy.shape
    _, C, H, W = dx.shape
    _, D, A, B = weight.shape
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    filters, size, one = K // groups, dy.itemsize, dy.dtype.type(1)
    images, parts = backward_parts(N, filters, C, groups, P, Q, geometry)
    items = N // images * parts
    steps = (A * B * size, D * A * B * size)
    direct = one_pixel(geometry, P, Q) and not accumulate and P * Q * size >= VECTOR
    for item in range(first, last):
        place, n = place_of_piece(scratch, item, items), item // parts * images
        c, stop = item % parts * C // parts, (item % parts + 1) * C // parts
        while c < stop:
            count, k = min(stop - c, D - c % D), c // D * filters
            whole = (stop - c) // D if count == D else 1
            deltas = dy.ctypes.data + (n * K + k) * P * Q * size
            of = weight.ctypes.data + k * steps[1] + c % D * steps[0]
            to = dx.ctypes.data + (n * C + c) * H * W * size
            if direct:
                mix_channels(count, filters, deltas, of, steps, to, P * Q, place, size, one)
            else:
                correlate_back(
                    images, whole, count, filters, deltas, K * P * Q * size, of, steps, to, C * H * W * size, P, Q,
                    geometry, place, accumulate, size, one,
                )  # fmt: skip
            c += count if direct else whole * count


def single_channels(D: int) -> bool:
    """Whether every filter sees one channel."""
    return D == 1


@also_in_python
def weight_parts(K, D, groups, taps):
    """Runs of the channels and of the filters of a group that are work items; by shape only."""
    filters, channels = K // groups, 1
    channels = max(1, (D + CHANNELS - 1) // CHANNELS)
    runs = 1
    while groups * channels * runs < PIECES and filters >= 4 * runs * ROWS:
        runs *= 2
    return channels, runs


@also_in_python
def weight_items(K, D, A, B, groups):
    """Work items of `correlate_with_gradients`."""
    channels, runs = weight_parts(K, D, groups, A * B)
    return groups * channels * runs


@also_in_python
def weight_shape(H, W, P, Q, geometry):
    """Rows and columns of windows, and the geometry: for windows of one pixel, a small image is one row."""
    if one_pixel(geometry, P, Q) and P * Q <= ONE_ROW:
        return 1, P * Q, (1, P * Q, 1, 1, 1, 1, 0, 0, 1, 1)
    return P, Q, geometry


def weight_scratch(
    N: int, K: int, D: int, H: int, W: int, P: int, Q: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> int:  # fmt: skip
    """Numbers that a piece of `correlate_with_gradients` needs."""
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    channels, runs = weight_parts(K, D, groups, A * B)
    rows, columns, geometry = weight_shape(H, W, P, Q, geometry)
    return int(weight_numbers(N, -(-K // groups // runs), -(-D // channels), rows, columns, geometry))


@compiled
def correlate_with_gradients(
    first, last, dweight, dy, x, accumulate, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    """dweight (K, D, A, B) = the gradient of `correlate_images`, or dweight += where `accumulate`.

    An item is some filters for some channels of a group, over all images in their order.
    """
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


@compiled
def add_deltas(first, last, dbias, dy, accumulate):
    """dbias (K) = the sums of dy (N, K, P, Q), or dbias += where `accumulate`."""
    N, K, P, Q = dy.shape
    parts, zero, deltas = min(K, SLICES), dy.dtype.type(0), dy.ravel()
    for part in range(first, last):
        for k in range(K * part // parts, K * (part + 1) // parts):
            result = dbias[k] if accumulate else zero
            for n in range(N):
                result += total(deltas[(n * K + k) * P * Q : (n * K + k + 1) * P * Q], zero)
            dbias[k] = result
