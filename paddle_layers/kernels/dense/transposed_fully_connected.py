"""Fully connected layer with a transposed weight (`trans_fc`) by BLAS: tiles of rows or columns, whichever are more."""

from __future__ import annotations

from paddle_layers.kernels.primitives.blas import matrix_product, vector_product
from paddle_layers.kernels.primitives.compile_options import compiled
from paddle_layers.kernels.tuned import tuned

from .fully_connected import MIN_WORK, tile_bounds, tiles


def multiplications(N: int, C: int, K: int) -> int:
    """Operations of a product."""
    return N * C * K


def tiles_of_y(N: int, K: int) -> int:
    """Number of tiles of the output."""
    return int(tiles(N, K))


def tiles_of_dx(N: int, C: int) -> int:
    """Number of tiles of the input gradient."""
    return int(tiles(N, C))


def tiles_of_dweight(C: int, K: int) -> int:
    """Number of tiles of the weight gradient."""
    return int(tiles(K, C))


@tuned("trans_fc", "trans_fc_y", items=tiles_of_y, work=multiplications, least=MIN_WORK)
@compiled
def trans_fc_y(first, last, y, x, weight):
    size, one = y.itemsize, weight.dtype.type(1)
    K, C = weight.shape
    xs, ws, ys = x.ctypes.data, weight.ctypes.data, y.ctypes.data
    for tile in range(first, last):
        low, high, left, right = tile_bounds(tile, y.shape[0], K)
        if y.shape[0] == 1:
            vector_product(1, right - left, C, ws + left * C * size, C, xs, False, ys + left * size, one)
        else:
            matrix_product(
                0, 1, high - low, right - left, C,
                xs + low * C * size, C, ws + left * C * size, C, False, ys + (low * K + left) * size, K, one,
            )  # fmt: skip


@tuned("trans_fc", "trans_fc_dx", items=tiles_of_dx, work=multiplications, least=MIN_WORK)
@compiled
def trans_fc_dx(first, last, dx, dy, weight, accumulate):
    size, one = dx.itemsize, weight.dtype.type(1)
    K, C = weight.shape
    ds, ws, dys = dx.ctypes.data, weight.ctypes.data, dy.ctypes.data
    for tile in range(first, last):
        low, high, left, right = tile_bounds(tile, dy.shape[0], C)
        if dy.shape[0] == 1:
            vector_product(0, K, right - left, ws + left * size, C, dys, accumulate, ds + left * size, one)
        else:
            matrix_product(
                0, 0, high - low, right - left, K,
                dys + low * K * size, K, ws + left * size, C, accumulate, ds + (low * C + left) * size, C, one,
            )  # fmt: skip


@tuned("trans_fc", "trans_fc_dweight", items=tiles_of_dweight, work=multiplications, least=MIN_WORK)
@compiled
def trans_fc_dweight(first, last, dweight, x, dy, accumulate):
    K, C = dweight.shape
    size, one = dy.itemsize, dy.dtype.type(1)
    for tile in range(first, last):
        low, high, left, right = tile_bounds(tile, K, C)
        matrix_product(
            1, 0, high - low, right - left, dy.shape[0],
            dy.ctypes.data + low * size, K, x.ctypes.data + left * size, C,
            accumulate, dweight.ctypes.data + (low * C + left) * size, C, one,
        )  # fmt: skip
