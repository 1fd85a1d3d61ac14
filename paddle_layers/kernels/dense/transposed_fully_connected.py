"""Fully connected layer with a transposed weight (`trans_fc`): the products of `fc` with other operands.

The output is what `fc` computes as its input gradient, and the input gradient what it computes as its output.
"""

from __future__ import annotations

from paddle_layers.kernels.primitives.compile_options import compiled
from paddle_layers.kernels.primitives.packed_panels import pack_panels, panel_numbers, tail_numbers
from paddle_layers.kernels.tuned import tuned

from .fully_connected import (
    MIN_PACKED_WORK,
    MIN_WORK,
    TILES,
    fc_dweight,
    fc_dx,
    fc_y,
    packed_y,
    packing_items,
    panel_bounds,
    rows_of_y,
    several_rows_of_inference,
    tiles,
    tiles_of_y,
)


def multiplications(N: int, C: int, K: int) -> int:
    """Operations of a product."""
    return N * C * K


def tiles_of_dx(N: int, C: int) -> int:
    """Number of tiles of the input gradient."""
    return int(tiles(N, C))


def tiles_of_dweight(C: int, K: int) -> int:
    """Number of tiles of the weight gradient."""
    return int(tiles(K, C))


def numbers_of_panels(C: int, K: int) -> int:
    """Elements of the packed weight."""
    return int(panel_numbers(C, K))


@tuned(
    "trans_fc", "trans_fc_y", items=packing_items, scratch=tail_numbers, scratch_per_chunk=True,
    when=several_rows_of_inference, work=multiplications, least=MIN_PACKED_WORK, prepared=numbers_of_panels,
)  # fmt: skip
@compiled
def pack_transposed_weight(first, last, prepared, weight):
    K, C = weight.shape
    size, one = weight.itemsize, weight.dtype.type(1)
    begin, _ = panel_bounds(first, TILES, K, size)
    _, end = panel_bounds(last - 1, TILES, K, size)
    pack_panels(prepared.ctypes.data, weight.ctypes.data, C, C, K, begin, end, True, size, one)


tuned("trans_fc", "trans_fc_y", items=tiles_of_y, runs=rows_of_y, after=pack_transposed_weight)(packed_y)


@tuned("trans_fc", "trans_fc_y", items=tiles_of_y, work=multiplications, least=MIN_WORK)
@compiled
def trans_fc_y(first, last, y, x, weight):
    fc_dx(first, last, y, x, weight, False)


@tuned("trans_fc", "trans_fc_dx", items=tiles_of_dx, work=multiplications, least=MIN_WORK)
@compiled
def trans_fc_dx(first, last, dx, dy, weight, accumulate):
    fc_y(first, last, dx, dy, weight, accumulate)


@tuned("trans_fc", "trans_fc_dweight", items=tiles_of_dweight, work=multiplications, least=MIN_WORK)
@compiled
def trans_fc_dweight(first, last, dweight, x, dy, accumulate):
    fc_dweight(first, last, dweight, dy, x, accumulate)
