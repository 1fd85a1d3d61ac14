"""Convolution of a few images in two launches: planes are packed once, then read by runs of filters in parallel.

If an item packs its own input, as in `direct_conv`, every run of filters of an image packs it again. A few images are
split into many runs, and the fewer filters a run has, the larger the share of packing: with strides most of the time.
"""

from __future__ import annotations

from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled
from paddle_layers.kernels.primitives.epilogues import apply_epilogue
from paddle_layers.kernels.primitives.memory_ops import set_entry
from paddle_layers.kernels.primitives.microkernels import ENTRY, ROWS, VECTOR, vectors_of
from paddle_layers.kernels.primitives.scratch import chunk_of

from .conv_tiling import ConvProblem, image_parts, one_pixel
from .direct_conv import forward_layout, tile_sums
from .padded_planes import SLACK, pack_plane, plane_size, take_rows

# Two launches instead of one wait once more for all threads. With packing per run, up to three quarters of the time of
# a 3x3 convolution with stride 2 were spent packing.
RUNS = 3
"""Minimum number of filter runs per image for packing its planes once."""


def few_images(problem: ConvProblem) -> bool:
    """Whether the two-launch kernels accept a convolution; 1x1 windows are read without packing."""
    several = image_parts(problem.N, 1, problem.K, problem.P * problem.Q) >= RUNS
    return bool(several and not one_pixel(problem.geometry, problem.P, problem.Q))


def filter_runs(problem: ConvProblem) -> int:
    """Work items of `correlate_packed`."""
    return int(problem.N * image_parts(problem.N, 1, problem.K, problem.P * problem.Q))


@also_in_python
def packed_image_size(D, P, Q, geometry):
    """Elements of a packed channel, and of its planes."""
    _, reach, pitch, shared_zeros, planes_y, planes_x = forward_layout(D, P, Q, geometry)
    plane = plane_size(P + reach, pitch, shared_zeros)
    return planes_y * planes_x * plane, plane


@also_in_python
def sums_numbers(D, P, Q, geometry):
    """Scratch elements of a chunk of `correlate_packed`: the offset table, and the sums of a tile's filters."""
    depth, _, pitch, _, _, _ = forward_layout(D, P, Q, geometry)
    return geometry[2] * geometry[3] * ENTRY + ROWS * (depth * pitch + SLACK)


def packed_scratch(problem: ConvProblem) -> int:
    """Scratch elements per chunk: a share of the packed images, and a chunk of `correlate_packed`."""
    D, P, Q, geometry = problem.D, problem.P, problem.Q, problem.geometry
    padded = problem.N * problem.groups * D * packed_image_size(D, P, Q, geometry)[0] + SLACK
    return int(-(-padded // MAX_CHUNKS) + sums_numbers(D, P, Q, geometry))


@compiled
def pack_images(
    first, last, x, scratch, P, Q, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y, groups
):
    """Packs images; a work item is some channels of all images."""
    N, C, H, W = x.shape
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    size, one = x.itemsize, x.dtype.type(1)
    _, reach, pitch, shared_zeros, planes_y, planes_x = forward_layout(C // groups, P, Q, geometry)
    channel, plane = packed_image_size(C // groups, P, Q, geometry)
    for at in range(N * C * first // MAX_CHUNKS, N * C * last // MAX_CHUNKS):
        to = scratch.ctypes.data + at * channel * size
        for a in range(planes_y):
            for b in range(planes_x):
                pack_plane(
                    to, x.ctypes.data + at * H * W * size, (H, W), a * dilation_y % stride_y - padding_y,
                    b * dilation % stride - padding, P + reach, pitch, shared_zeros, (stride_y, stride), size, one,
                )  # fmt: skip
                to += plane * size


@compiled
def correlate_packed(
    first, last, y, weight, scratch, H, W,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups, epilogue,
):  # fmt: skip
    """Convolves packed images; a work item is a run of filters of an image."""
    N, K, P, Q = y.shape
    _, D, A, B = weight.shape
    geometry = (H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y)
    filters, size, one = K // groups, y.itemsize, y.dtype.type(1)
    depth, _, pitch, _, planes_y, planes_x = forward_layout(D, P, Q, geometry)
    channel, plane = packed_image_size(D, P, Q, geometry)
    steps = (D * A * B * size, A * B * size)
    parts = image_parts(N, 1, K, P * Q)
    chunks = scratch.ctypes.data + (N * groups * D * channel + SLACK) * size
    for item in range(first, last):
        table = chunks + chunk_of(item, N * parts) * sums_numbers(D, P, Q, geometry) * size
        sums = table + A * B * ENTRY * size
        for a in range(A):
            for b in range(B):
                residue = a % planes_y * planes_x + b % planes_x
                run = a * dilation_y // stride_y * pitch + b * dilation // stride
                set_entry(table, a * B + b, (residue * plane + run) * size, (a * B + b) * size)
        n, k, stop = item // parts, item % parts * K // parts, (item % parts + 1) * K // parts
        while k < stop:
            count = min(stop - k, filters - k % filters)
            padded = scratch.ctypes.data + (n * groups + k // filters) * D * channel * size
            for top in range(0, P, depth):
                rows = min(depth, P - top)
                numbers = (rows - 1) * pitch + Q
                for filter_ in range(k, k + count, ROWS):
                    high = min(ROWS, k + count - filter_)
                    tile_sums(
                        high, numbers, D, padded + top * pitch * size, channel * size, A * B, table,
                        weight.ctypes.data + filter_ * steps[0], steps, sums, size, one,
                    )  # fmt: skip
                    for row in range(high):
                        to = y.ctypes.data + (((n * K + filter_ + row) * P + top) * Q) * size
                        take_rows(
                            to, sums + row * vectors_of(numbers, size) * VECTOR, rows, Q, Q, pitch, 1, False, size, one
                        )  # fmt: skip
                        if epilogue[0] != 0:
                            apply_epilogue(to, rows * Q, epilogue[0] + (filter_ + row) * size, epilogue[1], one)
            k += count
