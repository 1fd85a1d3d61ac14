"""Fully connected layer with a transposed weight (`trans_fc`): the products of `fc` with other operands.

The output is what `fc` computes as its input gradient, and the input gradient what it computes as its output.
"""

from __future__ import annotations

from paddle_layers.kernels.tuned import tuned

from .fully_connected import MIN_WORK, fc_dweight, fc_dx, fc_y, rows_of_y, tiles, tiles_of_y
from .packed_products import chunk_numbers, packing_pays, panel_numbers, register_gradient, register_product


def multiplications(N: int, C: int, K: int) -> int:
    """Operations of a product."""
    return N * C * K


def tiles_of_dx(N: int, C: int) -> int:
    """Number of tiles of the input gradient."""
    return int(tiles(N, C))


def tiles_of_dweight(C: int, K: int) -> int:
    """Number of tiles of the weight gradient."""
    return int(tiles(K, C))


def packing_repays(N: int, C: int, K: int, training: bool) -> bool:
    """Whether the weight is packed before it is multiplied by all rows."""
    return packing_pays(N, C, K, training)


def numbers_of_y(C: int, K: int) -> int:
    """Elements of the packed transpose of the weight."""
    return int(panel_numbers(C, K))


def numbers_of_dx(C: int, K: int) -> int:
    """Elements of the packed weight."""
    return int(panel_numbers(K, C))


def numbers_of_dweight(N: int, C: int) -> int:
    """Scratch elements of a chunk of the weight gradient."""
    return int(chunk_numbers(N, C))


def rows_of_dx(N: int, C: int) -> int:
    """Runs of the input gradient that the tiles consist of: its rows, where rows are split."""
    return N if N > C else 0


register_product(
    "trans_fc", "trans_fc_y", {"transposed": "1"}, tiles_of_y, rows_of_y, numbers_of_y, packing_repays, multiplications
)  # fmt: skip
register_product(
    "trans_fc", "trans_fc_dx", {"y": "dx", "x": "dy", "transposed": "0"}, tiles_of_dx, rows_of_dx, numbers_of_dx,
    packing_repays, multiplications,
)  # fmt: skip
register_gradient(
    "trans_fc", "trans_fc_dweight", {"x": "dy", "dy": "x"}, tiles_of_dweight, numbers_of_dweight, packing_repays,
    multiplications,
)  # fmt: skip


tuned(
    "trans_fc", "trans_fc_y", items=tiles_of_y, work=multiplications, least=MIN_WORK, arguments={"dx": "y", "dy": "x"}
)(fc_dx)
tuned(
    "trans_fc", "trans_fc_dx", items=tiles_of_dx, work=multiplications, least=MIN_WORK, arguments={"y": "dx", "x": "dy"}
)(fc_y)
tuned(
    "trans_fc", "trans_fc_dweight", items=tiles_of_dweight, work=multiplications, least=MIN_WORK,
    arguments={"x": "dy", "dy": "x"},
)(fc_dweight)  # fmt: skip
