"""fc by BLAS, cut into tiles of rows or columns."""

from __future__ import annotations

from numba import njit

from .blas import matrix_product
from .tuned import tuned

WORTH_IT = 1 << 13
"""Multiplications below which the point function is as fast and spares the compiler."""
TILES = 8


def multiplications(N: int, C_i: int, K: int) -> int:
    """Operations of a product."""
    return N * C_i * K


def row_tiles(N: int) -> int:
    """Tiles of rows; by shape only."""
    return max(1, min(TILES, N // 16))


def column_tiles(C_i: int) -> int:
    """Tiles of columns of the input; by shape only."""
    return max(1, min(TILES, C_i // 16))


@tuned("fc", "fc_y", items=row_tiles, work=multiplications, least=WORTH_IT)
@njit(error_model="numpy")
def fc_y(first, last, y, x, weight, accumulate):
    tiles = max(1, min(8, x.shape[0] // 16))
    size, one = y.itemsize, weight.dtype.type(1)
    C, K = weight.shape
    for tile in range(first, last):
        low, high = x.shape[0] * tile // tiles, x.shape[0] * (tile + 1) // tiles
        matrix_product(
            0, 0, high - low, K, C,
            x.ctypes.data + low * C * size, C, weight.ctypes.data, K, accumulate,
            y.ctypes.data + low * K * size, K, one,
        )  # fmt: skip


@tuned("fc", "fc_dx", items=row_tiles, work=multiplications, least=WORTH_IT)
@njit(error_model="numpy")
def fc_dx(first, last, dx, dy, weight, accumulate):
    tiles = max(1, min(8, dy.shape[0] // 16))
    size, one = dx.itemsize, weight.dtype.type(1)
    C, K = weight.shape
    for tile in range(first, last):
        low, high = dy.shape[0] * tile // tiles, dy.shape[0] * (tile + 1) // tiles
        matrix_product(
            0, 1, high - low, C, K,
            dy.ctypes.data + low * K * size, K, weight.ctypes.data, K, accumulate,
            dx.ctypes.data + low * C * size, C, one,
        )  # fmt: skip


@tuned("fc", "fc_dweight", items=column_tiles, work=multiplications, least=WORTH_IT)
@njit(error_model="numpy")
def fc_dweight(first, last, dweight, x, dy, accumulate):
    C, K = dweight.shape
    tiles = max(1, min(8, C // 16))
    size, one = x.itemsize, x.dtype.type(1)
    for tile in range(first, last):
        low, high = C * tile // tiles, C * (tile + 1) // tiles
        matrix_product(
            1, 0, high - low, K, x.shape[0],
            x.ctypes.data + low * size, C, dy.ctypes.data, K, accumulate, dweight.ctypes.data + low * K * size, K, one,
        )  # fmt: skip
