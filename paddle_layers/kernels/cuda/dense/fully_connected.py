"""Fully connected layer (`fc`) as a tiled matrix product (GEMM)."""

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
    work_per_iteration,
)
from paddle_layers.kernels.tuned import tuned


def bits_of_y(N: int, K: int) -> int:
    """Bits of the tile width of the output."""
    return int(bits_of(N, K))


def bits_of_dx(N: int, C_i: int) -> int:
    """Bits of the tile width of the input gradient."""
    return int(bits_of(N, C_i))


def bits_of_dweight(C_i: int, K: int) -> int:
    """Bits of the tile width of the weight gradient."""
    return int(bits_of(C_i, K))


def blocks_of_y(N: int, K: int, bits: int) -> int:
    """Number of tiles of the output."""
    return blocks(N, K, bits)


def blocks_of_dx(N: int, C_i: int, bits: int) -> int:
    """Number of tiles of the input gradient."""
    return blocks(N, C_i, bits)


def blocks_of_dweight(C_i: int, K: int, bits: int) -> int:
    """Number of tiles of the weight gradient."""
    return blocks(C_i, K, bits)


def work_of_y(N: int, C_i: int, K: int) -> int:
    """Multiplications for the output per iteration."""
    return work_per_iteration(N, K, C_i)


def work_of_dx(N: int, C_i: int, K: int) -> int:
    """Multiplications for the input gradient per iteration."""
    return work_per_iteration(N, C_i, K)


def work_of_dweight(N: int, C_i: int, K: int) -> int:
    """Multiplications for the weight gradient per iteration."""
    return work_per_iteration(C_i, K, N)


@tuned(
    "fc", "fc_y", device="cuda", items=blocks_of_y, work=work_of_y, least=MIN_WORK, threads=THREADS,
    folded={"bits": bits_of_y},
)  # fmt: skip
def fc_y(y, x, weight, accumulate, bits):
    product(y, x, weight, cuda.blockIdx.x, ALONG, ACROSS, accumulate, bits)


@tuned(
    "fc", "fc_dx", device="cuda", items=blocks_of_dx, work=work_of_dx, least=MIN_WORK, threads=THREADS,
    folded={"bits": bits_of_dx},
)  # fmt: skip
def fc_dx(dx, dy, weight, accumulate, bits):
    product(dx, dy, weight, cuda.blockIdx.x, ALONG, ALONG, accumulate, bits)


@tuned(
    "fc", "fc_dweight", device="cuda", items=blocks_of_dweight, work=work_of_dweight, least=MIN_WORK, threads=THREADS,
    folded={"bits": bits_of_dweight},
)  # fmt: skip
def fc_dweight(dweight, x, dy, accumulate, bits):
    product(dweight, x, dy, cuda.blockIdx.x, ACROSS, ACROSS, accumulate, bits)
