"""Matrix products of two values (`matmul`) as tiled GEMM, one matrix of the batch after the other."""

from __future__ import annotations

from numba import cuda

from paddle_layers.define.functions.point_functions import helper
from paddle_layers.kernels.cuda.gemm import ACROSS, ALONG, product, tiles, tuned_product


@helper
def tile_of(target, block, bits):
    """Sample, matrix and tile of a block."""
    of_a_matrix = tiles(target.shape[2], target.shape[3], bits)
    matrix = block // of_a_matrix
    return matrix // target.shape[1], matrix % target.shape[1], block % of_a_matrix


@tuned_product("matmul", "matmul_y", lambda N, B, M, K, P: (M, P, K, N * B))
def matmul_y(y, x, other, accumulate, bits):
    n, b, block = tile_of(y, cuda.blockIdx.x, bits)
    product(y[n, b], x[n, b], other[n, b], block, ALONG, ACROSS, accumulate, bits)


@tuned_product("matmul", "matmul_dx", lambda N, B, M, K, P: (M, K, P, N * B))
def matmul_dx(dx, dy, other, accumulate, bits):
    n, b, block = tile_of(dx, cuda.blockIdx.x, bits)
    product(dx[n, b], dy[n, b], other[n, b], block, ALONG, ALONG, accumulate, bits)


@tuned_product("matmul", "matmul_dother", lambda N, B, M, K, P: (K, P, M, N * B))
def matmul_dother(dother, x, dy, accumulate, bits):
    n, b, block = tile_of(dother, cuda.blockIdx.x, bits)
    product(dother[n, b], x[n, b], dy[n, b], block, ACROSS, ACROSS, accumulate, bits)
