"""Depthwise convolution and its gradients, one plane at a time."""

from __future__ import annotations

from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled
from paddle_layers.kernels.primitives.epilogues import from_filter
from paddle_layers.kernels.primitives.memory_ops import zeros
from paddle_layers.kernels.primitives.plane_codegen import MASKS
from paddle_layers.kernels.primitives.plane_kernels import correlate, correlate_2, dots, dots_2, spread_2
from paddle_layers.kernels.primitives.scratch import scratch_of_chunk

from .conv_tiling import ConvProblem
from .weight_gradients import correlate_planes, dots_numbers


def small_windows(problem: ConvProblem) -> bool:
    """Whether the kernels for 3x3 windows accept a convolution; they need masked loads."""
    _, stride_y, stride = problem.step
    plain = problem.A == problem.B == 3 and stride == stride_y <= 2 and {*problem.gap} == {1}
    return MASKS and plain and problem.D == 1 and problem.groups == problem.K


@compiled
def correlate_each(first, last, y, x, weight, stride, padding, padding_y, epilogue):
    """Planes `first` to `last` of y (N, K, P, Q); `epilogue` is defined in `primitives.epilogues`."""
    _, K, P, Q = y.shape
    _, _, H, W = x.shape
    size, one = y.itemsize, y.dtype.type(1)
    for plane in range(first, last):
        of, to = x.ctypes.data + plane * H * W * size, y.ctypes.data + plane * P * Q * size
        filter_ = weight.ctypes.data + plane % K * 9 * size
        table, step = from_filter(epilogue, plane % K, size)
        if stride == 1:
            correlate((of, H, W, filter_, size, to, P, Q, padding_y, padding, 0, table, step), one)
        else:
            correlate_2((of, H, W, filter_, size, to, P, Q, padding_y, padding, 0, table, step), one)


@compiled
def correlate_each_back(first, last, dx, dy, weight, accumulate, stride, padding, padding_y):
    """Planes `first` to `last` of dx (N, K, H, W)."""
    _, K, P, Q = dy.shape
    _, _, H, W = dx.shape
    size, one, adding = dy.itemsize, dy.dtype.type(1), 1 if accumulate else 0
    for plane in range(first, last):
        of, to = dy.ctypes.data + plane * P * Q * size, dx.ctypes.data + plane * H * W * size
        filter_ = weight.ctypes.data + plane % K * 9 * size
        if stride == 1:
            # The correlation with the rotated filter, which is read backwards from its last element.
            transposed = filter_ + 8 * size
            correlate((of, P, Q, transposed, -size, to, H, W, 2 - padding_y, 2 - padding, adding, 0, 0), one)
        else:
            spread_2((of, P, Q, filter_, to, H, W, padding_y, padding, adding), one)


@also_in_python
def filter_items(K):
    """Runs of filters that are work items of their gradients; depends on shapes only."""
    return min(K, 2 * MAX_CHUNKS)


@compiled
def dots_of_each(first, last, dweight, dy, x, accumulate, stride, padding, padding_y):
    """A work item is some filters, over all images in order."""
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


def plane_scratch(problem: ConvProblem) -> int:
    """Numbers that a chunk of `add_planes` needs."""
    return int(dots_numbers(problem.P, problem.Q, problem.geometry))


@compiled
def add_planes(
    first, last, dweight, dy, x, accumulate, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    """As `dots_of_each`, for filters of any size, of which a channel may have several."""
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
            dweight.ctypes.data, P, Q, geometry, scratch_of_chunk(scratch, item, items), size, one,
        )  # fmt: skip
