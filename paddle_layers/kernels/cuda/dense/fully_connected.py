"""Fully connected layer (`fc`) as a tiled matrix product (GEMM)."""

from __future__ import annotations

from numba import cuda

from paddle_layers.kernels.cuda.gemm import ACROSS, ALONG, product, tuned_product


@tuned_product("fc", "fc_y", lambda N, K, C_i: (N, K, C_i))
def fc_y(y, x, weight, accumulate, bits):
    product(y, x, weight, cuda.blockIdx.x, ALONG, ACROSS, accumulate, bits)


@tuned_product("fc", "fc_dx", lambda N, C_i, K: (N, C_i, K))
def fc_dx(dx, dy, weight, accumulate, bits):
    product(dx, dy, weight, cuda.blockIdx.x, ALONG, ALONG, accumulate, bits)


@tuned_product("fc", "fc_dweight", lambda C_i, K, N: (C_i, K, N))
def fc_dweight(dweight, x, dy, accumulate, bits):
    product(dweight, x, dy, cuda.blockIdx.x, ACROSS, ACROSS, accumulate, bits)
