"""Matrix products of two values (`matmul`) as tiled GEMM, one matrix of the batch after the other."""

from __future__ import annotations

from numba import cuda

from paddle_layers.kernels.cuda.gemm import (
    ACROSS,
    ALONG,
    MIN_WORK,
    THREADS,
    bits_of,
    blocks,
    product,
    tiles,
    work_per_iteration,
)
from paddle_layers.kernels.tuned import tuned


def bits_of_y(M: int, P: int) -> int:
    """Bits of the tile width of the output."""
    return int(bits_of(M, P))


def bits_of_dx(M: int, K: int) -> int:
    """Bits of the tile width of the gradient of the left matrices."""
    return int(bits_of(M, K))


def bits_of_dother(K: int, P: int) -> int:
    """Bits of the tile width of the gradient of the right matrices."""
    return int(bits_of(K, P))


def blocks_of_y(N: int, B: int, M: int, P: int, bits: int) -> int:
    """Number of tiles of the output."""
    return blocks(M, P, bits, N * B)


def blocks_of_dx(N: int, B: int, M: int, K: int, bits: int) -> int:
    """Number of tiles of the gradient of the left matrices."""
    return blocks(M, K, bits, N * B)


def blocks_of_dother(N: int, B: int, K: int, P: int, bits: int) -> int:
    """Number of tiles of the gradient of the right matrices."""
    return blocks(K, P, bits, N * B)


def work_of_y(N: int, B: int, M: int, K: int, P: int) -> int:
    """Multiplications for the output per iteration."""
    return work_per_iteration(M, P, K, N * B)


def work_of_dx(N: int, B: int, M: int, K: int, P: int) -> int:
    """Multiplications for the gradient of the left matrices per iteration."""
    return work_per_iteration(M, K, P, N * B)


def work_of_dother(N: int, B: int, M: int, K: int, P: int) -> int:
    """Multiplications for the gradient of the right matrices per iteration."""
    return work_per_iteration(K, P, M, N * B)


@tuned(
    "matmul", "matmul_y", device="cuda", items=blocks_of_y, work=work_of_y, least=MIN_WORK,
    threads=THREADS, folded={"bits": bits_of_y},
)  # fmt: skip
def matmul_y(y, x, other, accumulate, bits):
    of_a_matrix = tiles(y.shape[2], y.shape[3], bits)
    block, matrix = cuda.blockIdx.x % of_a_matrix, cuda.blockIdx.x // of_a_matrix
    n, b = matrix // y.shape[1], matrix % y.shape[1]
    product(y[n, b], x[n, b], other[n, b], block, ALONG, ACROSS, accumulate, bits)


@tuned(
    "matmul", "matmul_dx", device="cuda", items=blocks_of_dx, work=work_of_dx, least=MIN_WORK,
    threads=THREADS, folded={"bits": bits_of_dx},
)  # fmt: skip
def matmul_dx(dx, dy, other, accumulate, bits):
    of_a_matrix = tiles(dx.shape[2], dx.shape[3], bits)
    block, matrix = cuda.blockIdx.x % of_a_matrix, cuda.blockIdx.x // of_a_matrix
    n, b = matrix // dx.shape[1], matrix % dx.shape[1]
    product(dx[n, b], dy[n, b], other[n, b], block, ALONG, ALONG, accumulate, bits)


@tuned(
    "matmul", "matmul_dother", device="cuda", items=blocks_of_dother, work=work_of_dother, least=MIN_WORK,
    threads=THREADS, folded={"bits": bits_of_dother},
)  # fmt: skip
def matmul_dother(dother, x, dy, accumulate, bits):
    of_a_matrix = tiles(dother.shape[2], dother.shape[3], bits)
    block, matrix = cuda.blockIdx.x % of_a_matrix, cuda.blockIdx.x // of_a_matrix
    n, b = matrix // dother.shape[1], matrix % dother.shape[1]
    product(dother[n, b], x[n, b], dy[n, b], block, ACROSS, ACROSS, accumulate, bits)
