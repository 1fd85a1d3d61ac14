"""Fully connected layer with a transposed weight (`trans_fc`): the products of `fc` with other operands.

The output is what `fc` computes as its input gradient, and the input gradient what it computes as its output.
"""

from __future__ import annotations

from paddle_layers.kernels.primitives.compile_options import compiled
from paddle_layers.kernels.tuned import tuned

from .fully_connected import MIN_WORK, fc_dweight, fc_dx, fc_y, tiles, tiles_of_y


def multiplications(N: int, C: int, K: int) -> int:
    """Operations of a product."""
    return N * C * K


def tiles_of_dx(N: int, C: int) -> int:
    """Number of tiles of the input gradient."""
    return int(tiles(N, C))


def tiles_of_dweight(C: int, K: int) -> int:
    """Number of tiles of the weight gradient."""
    return int(tiles(K, C))


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
