"""conv and its gradients where every filter sees one channel of its own: planes with their filters, one by one."""

from __future__ import annotations

from paddle_layers.kernels.pieces import PIECES
from paddle_layers.kernels.primitives.compiling import also_in_python, compiled
from paddle_layers.kernels.primitives.moves import zeros
from paddle_layers.kernels.primitives.scratch import place_of_piece
from paddle_layers.kernels.primitives.windows import MASKS, correlate, correlate_2, dots, dots_2, spread_2
from paddle_layers.kernels.tuned import tuned

from .weightgradients import correlate_planes, dots_numbers

WORTH_IT = 1 << 17
"""Multiplications below which the point function stays: what a step gains does not pay the compiler's extra second."""


def multiplications(N: int, K: int, A: int, B: int, P: int, Q: int) -> int:
    """Operations on the whole batch; loading the pixels counts like two filters."""
    return N * (K + 2) * A * B * P * Q


def small_windows(
    K: int, D: int, A: int, B: int, groups: int, stride: int, stride_y: int, dilation: int, dilation_y: int
) -> bool:  # fmt: skip
    """Whether the kernels of 3x3 windows take a convolution; they need a core with masks."""
    plain = A == B == 3 and stride == stride_y <= 2 and dilation * dilation_y == 1
    return MASKS and plain and D == 1 and groups == K


def output_planes(N: int, K: int) -> int:
    """Planes of the output: each is an item."""
    return N * K


def input_planes(N: int, C: int) -> int:
    """Planes of the input's gradient: each is an item."""
    return N * C


@tuned(
    "conv", "conv_y", items=output_planes, runs=output_planes, when=small_windows, work=multiplications, least=WORTH_IT
)  # fmt: skip
@compiled
def depthwise_y(first, last, y, x, weight, stride, padding, padding_y):
    _, K, P, Q = y.shape
    _, _, H, W = x.shape
    size, one = y.itemsize, y.dtype.type(1)
    for plane in range(first, last):
        of, to = x.ctypes.data + plane * H * W * size, y.ctypes.data + plane * P * Q * size
        filter_ = weight.ctypes.data + plane % K * 9 * size
        if stride == 1:
            correlate((of, H, W, filter_, size, to, P, Q, padding_y, padding, 0), one)
        else:
            correlate_2((of, H, W, filter_, size, to, P, Q, padding_y, padding, 0), one)


@tuned(
    "conv", "conv_dx", items=input_planes, runs=input_planes, when=small_windows, work=multiplications, least=WORTH_IT
)  # fmt: skip
@compiled
def depthwise_dx(first, last, dx, dy, weight, accumulate, stride, padding, padding_y):
    _, K, P, Q = dy.shape
    _, _, H, W = dx.shape
    size, one, adding = dy.itemsize, dy.dtype.type(1), 1 if accumulate else 0
    for plane in range(first, last):
        of, to = dy.ctypes.data + plane * P * Q * size, dx.ctypes.data + plane * H * W * size
        filter_ = weight.ctypes.data + plane % K * 9 * size
        if stride == 1:
            turned = filter_ + 8 * size
            correlate((of, P, Q, turned, -size, to, H, W, 2 - padding_y, 2 - padding, adding), one)
        else:
            spread_2((of, P, Q, filter_, to, H, W, padding_y, padding, adding), one)


@also_in_python
def filter_items(K):
    """Runs of the filters that are items of their gradients; by shape only."""
    return min(K, 2 * PIECES)


@tuned("conv", "conv_dweight", items=filter_items, when=small_windows, work=multiplications, least=WORTH_IT)
@compiled
def depthwise_dweight(first, last, dweight, dy, x, accumulate, stride, padding, padding_y):
    """An item is some filters, over all images in their order."""
    N, K, P, Q = dy.shape
    _, _, H, W = x.shape
    size, one, items = dy.itemsize, dy.dtype.type(1), filter_items(K)
    for k in range(K * first // items, K * last // items):
        to = dweight.ctypes.data + k * 9 * size
        if not accumulate:
            zeros(to, 9, size, one)
        for n in range(N):
            of, deltas = x.ctypes.data + (n * K + k) * H * W * size, dy.ctypes.data + (n * K + k) * P * Q * size
            if stride == 1:
                dots((of, H, W, deltas, P, Q, to, padding_y, padding), one)
            else:
                dots_2((of, H, W, deltas, P, Q, to, padding_y, padding), one)


# ---- filters of any size, several for a channel if need be


def single_channels(D: int) -> bool:
    """Whether every filter sees one channel."""
    return D == 1


def plane_scratch(
    H: int, W: int, P: int, Q: int, A: int, B: int,
    stride: int, stride_y: int, padding: int, padding_y: int, dilation: int, dilation_y: int,
) -> int:  # fmt: skip
    """Numbers that a piece of `planes_dweight` needs."""
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    return int(dots_numbers(P, Q, geometry))


@tuned(
    "conv", "conv_dweight", items=filter_items, scratch=plane_scratch, scratch_of_pieces=True,
    when=single_channels, work=multiplications, least=WORTH_IT,
)  # fmt: skip
@compiled
def planes_dweight(
    first, last, dweight, dy, x, accumulate, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    """An item is some filters, over all images in their order."""
    N, K, P, Q = dy.shape
    _, C, H, W = x.shape
    _, _, A, B = dweight.shape
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    size, one, items, filters = dy.itemsize, dy.dtype.type(1), filter_items(K), K // groups
    for item in range(first, last):
        k, stop = K * item // items, K * (item + 1) // items
        if not accumulate:
            zeros(dweight.ctypes.data + k * A * B * size, (stop - k) * A * B, size, one)
        correlate_planes(
            N, k, stop, filters, x.ctypes.data, C * H * W * size, dy.ctypes.data, K * P * Q * size,
            dweight.ctypes.data, P, Q, geometry, place_of_piece(scratch, item, items), size, one,
        )  # fmt: skip
