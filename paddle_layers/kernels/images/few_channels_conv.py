"""Strided convolution of images with few channels: the first layers of networks.

With few products per sum, packing pixels and unpacking sums of padded planes takes half as long as the products. So
each filter column has separate packed planes, as wide as the output: the windows of a band of rows are contiguous for
each element, sums are stored as whole vectors, and an item packs its band once for all filters.
Measured from 3 to 32 channels, 224x224 pixels: 326 us before, 277 us this way.
"""

from __future__ import annotations

from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled
from paddle_layers.kernels.primitives.epilogues import from_filter
from paddle_layers.kernels.primitives.memory_ops import set_entry
from paddle_layers.kernels.primitives.microkernels import ENTRY, LANES
from paddle_layers.kernels.primitives.scratch import scratch_of_chunk

from .conv_tiling import ConvProblem
from .direct_conv import BAND, pointwise_conv, residues
from .padded_planes import pack_plane

# First layers have 1 to 4 channels. With more, packing per tap of the general kernel is a small share of the products.
CHANNELS = 4
"""Maximum number of channels."""
# With fewer filters the packed columns are not reused enough.
FILTERS = 16
"""Minimum number of filters that share the packed band."""
# AlexNet's 11x11 filters with stride 4 are slower this way: 1351 to 1467 us.
ELEMENTS = 49
"""Maximum number of filter elements; with more, products dominate and planes with padding are packed faster."""
PIXELS = 1 << 11
"""Maximum number of pixels of a band with several rows."""


@also_in_python
def bands_of(N, P, Q):
    """Bands of an image, equally high up to one row, and bands per item; depends on shapes only."""
    bands = min(P, max((P * Q + PIXELS - 1) // PIXELS, 1 if N >= MAX_CHUNKS else MAX_CHUNKS))
    return bands, bands if N >= MAX_CHUNKS else 1


@also_in_python
def band_planes(A, B, stride_y, dilation_y):
    """Planes of a channel, and rows that the windows of a plane reach beyond the first ones."""
    return B * residues(A, stride_y, dilation_y), (A - 1) * dilation_y // stride_y


def band_numbers(problem: ConvProblem) -> int:
    """Scratch elements of a chunk: a table, and the planes of a band."""
    planes, reach = band_planes(problem.A, problem.B, problem.step[1], problem.gap[1])
    rows = -(-problem.P // bands_of(problem.N, problem.P, problem.Q)[0]) + reach
    return int(problem.A * problem.B * ENTRY + problem.D * planes * rows * problem.Q)


def few_channels(problem: ConvProblem) -> bool:
    """Whether this kernel accepts a convolution: its bands must fit into the L2 cache of a core."""
    # With stride 1 the columns of a filter are shifts of the same row and need no separate planes.
    strided = min(problem.step[1:]) > 1 and 1 < problem.filter_elements <= ELEMENTS
    suits = problem.groups == 1 and problem.D <= CHANNELS and problem.K >= FILTERS and strided
    return suits and problem.Q >= LANES and band_numbers(problem) <= BAND


def band_items(problem: ConvProblem) -> int:
    """Work items: bands of an image, or images."""
    bands, together = bands_of(problem.N, problem.P, problem.Q)
    return int(problem.N * bands // together)


def band_runs(problem: ConvProblem) -> int:
    """Planes of the output, where items are images."""
    return problem.N * problem.K if problem.N >= MAX_CHUNKS else 0


@compiled
def correlate_bands(
    first, last, y, x, weight, scratch, stride, stride_y, padding, padding_y, dilation, dilation_y, epilogue
):  # fmt: skip
    """Convolution `y` (N, K, P, Q) of `x` (N, C, H, W) with the filters; see `primitives.epilogues` for `epilogue`."""
    N, K, P, Q = y.shape
    _, C, H, W = x.shape
    _, _, A, B = weight.shape
    size, one = y.itemsize, y.dtype.type(1)
    bands, together = bands_of(N, P, Q)
    planes, reach = band_planes(A, B, stride_y, dilation_y)
    for band in range(first * together, last * together):
        n, top, end = band // bands, band % bands * P // bands, (band % bands + 1) * P // bands
        table = scratch_of_chunk(scratch, band // together, N * bands // together)
        padded, plane = table + A * B * ENTRY * size, (end - top + reach) * Q * size
        for a in range(A):
            for b in range(B):
                run = a % (planes // B) * plane + a * dilation_y // stride_y * Q * size
                set_entry(table, a * B + b, b * (planes // B) * plane + run, (a * B + b) * size)
        for at in range(C * planes):
            a, b = at % (planes // B), at % planes // (planes // B)
            pack_plane(
                padded + at * plane, x.ctypes.data + (n * C + at // planes) * H * W * size, (H, W),
                top * stride_y - padding_y + a * dilation_y % stride_y, b * dilation - padding,
                end - top + reach, Q, 0, (stride_y, stride), size, one,
            )  # fmt: skip
        pointwise_conv(
            K, (C, planes * plane, A * B, table), padded, weight.ctypes.data, (C * A * B * size, A * B * size),
            y.ctypes.data + (n * K * P + top) * Q * size, P * Q * size, (end - top) * Q, 0,
            from_filter(epilogue, 0, size), size, one,
        )  # fmt: skip
