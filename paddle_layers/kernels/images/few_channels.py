"""Correlations of images that have few channels, with steps between windows: the first layers of networks.

With few products in a sum, to lay pixels out and to take sums out of planes with borders takes half as long as the
products. So here each column of the filters has planes of its own, as wide as the output: the windows of a band of rows
lie side by side for each element, whole vectors of sums go where they belong, and an item lays its band out once, for
all filters.
"""

from __future__ import annotations

from paddle_layers.kernels.pieces import PIECES
from paddle_layers.kernels.primitives.compiling import also_in_python, compiled
from paddle_layers.kernels.primitives.epilogues import from_filter
from paddle_layers.kernels.primitives.moves import set_entry
from paddle_layers.kernels.primitives.scratch import place_of_piece
from paddle_layers.kernels.primitives.tiles import ENTRY, LANES

from .correlations import BAND, mix_channels, residues
from .planes import lay_plane

CHANNELS = 4
"""Channels at most."""
FILTERS = 16
"""Filters at least: these share what is laid out."""
ELEMENTS = 49
"""Elements of a filter at most: with more, products take so long that planes with borders are laid out faster."""
PIXELS = 1 << 11
"""Pixels of a band at most, if it has several rows."""


@also_in_python
def bands_of(N, P, Q):
    """Bands of an image, equally high but for one row, and how many of them are an item; by shape only."""
    bands = min(P, max((P * Q + PIXELS - 1) // PIXELS, 1 if N >= PIECES else PIECES))
    return bands, bands if N >= PIECES else 1


@also_in_python
def band_planes(A, B, stride_y, dilation_y):
    """Planes of a channel, and rows that the windows of a plane reach beyond the first ones."""
    return B * residues(A, stride_y, dilation_y), (A - 1) * dilation_y // stride_y


def band_numbers(N: int, D: int, P: int, Q: int, A: int, B: int, stride_y: int, dilation_y: int) -> int:
    """Numbers that a piece needs: a table, and the planes of a band."""
    planes, reach = band_planes(A, B, stride_y, dilation_y)
    return int(A * B * ENTRY + D * planes * (-(-P // bands_of(N, P, Q)[0]) + reach) * Q)


def few_channels(
    N: int, K: int, D: int, P: int, Q: int, A: int, B: int, groups: int,
    stride: int, stride_y: int, dilation_y: int,
) -> bool:  # fmt: skip
    """Whether this kernel takes a convolution: its bands have to stay in a core's second cache."""
    suits = groups == 1 and D <= CHANNELS and K >= FILTERS and min(stride, stride_y) > 1 and 1 < A * B <= ELEMENTS
    return suits and Q >= LANES and band_numbers(N, D, P, Q, A, B, stride_y, dilation_y) <= BAND


def band_items(N: int, P: int, Q: int) -> int:
    """Work items: bands of an image, or images."""
    bands, together = bands_of(N, P, Q)
    return int(N * bands // together)


def band_runs(N: int, K: int) -> int:
    """Planes of the output, where items are images."""
    return N * K if N >= PIECES else 0


@compiled
def correlate_bands(
    first, last, y, x, weight, scratch, stride, stride_y, padding, padding_y, dilation, dilation_y, epilogue
):  # fmt: skip
    """y (N, K, P, Q) = x (N, C, H, W) under the filters; `epilogue` is that of `primitives.epilogues`."""
    N, K, P, Q = y.shape
    _, C, H, W = x.shape
    _, _, A, B = weight.shape
    size, one = y.itemsize, y.dtype.type(1)
    bands, together = bands_of(N, P, Q)
    planes, reach = band_planes(A, B, stride_y, dilation_y)
    for band in range(first * together, last * together):
        n, top, end = band // bands, band % bands * P // bands, (band % bands + 1) * P // bands
        table = place_of_piece(scratch, band // together, N * bands // together)
        laid, plane = table + A * B * ENTRY * size, (end - top + reach) * Q * size
        for a in range(A):
            for b in range(B):
                run = a % (planes // B) * plane + a * dilation_y // stride_y * Q * size
                set_entry(table, a * B + b, b * (planes // B) * plane + run, (a * B + b) * size)
        for at in range(C * planes):
            a, b = at % (planes // B), at % planes // (planes // B)
            lay_plane(
                laid + at * plane, x.ctypes.data + (n * C + at // planes) * H * W * size, (H, W),
                top * stride_y - padding_y + a * dilation_y % stride_y, b * dilation - padding,
                end - top + reach, Q, 0, (stride_y, stride), size, one,
            )  # fmt: skip
        mix_channels(
            K, (C, planes * plane, A * B, table), laid, weight.ctypes.data, (C * A * B * size, A * B * size),
            y.ctypes.data + (n * K * P + top) * Q * size, P * Q * size, (end - top) * Q, 0,
            from_filter(epilogue, 0, size), size, one,
        )  # fmt: skip
