"""Incremental attention over a key-value cache (`attention_step`) by BLAS.

There is one product per run of contiguous positions, and no score is computed twice.
"""

from __future__ import annotations

import math

from paddle_layers.kernels.primitives.blas import vector_product
from paddle_layers.kernels.primitives.compile_options import compiled
from paddle_layers.kernels.primitives.scratch import chunk_of
from paddle_layers.kernels.primitives.vector_functions import exp_all
from paddle_layers.kernels.tuned import tuned

from .attention import factor_of

MIN_WORK = 1 << 13
"""Minimum number of multiplications for the tuned kernel."""


def texts(N: int) -> int:
    """Work items: one per sequence."""
    return N


def multiplications(N: int, K: int, D: int, G: int) -> int:
    """Operations of all products, if all positions are filled."""
    return N * K * (D + G)


def scores(K: int, num_heads: int) -> int:
    """Scratch elements: one score per head and position."""
    return num_heads * (K + 1)


@compiled
def head_scores(scores, stride, places, query, n, keys, row, heads, one):
    """Products of a sequence's query with the keys of some positions, which are contiguous; of each head."""
    H, kv_heads = heads
    D, size = query.shape[1], query.itemsize
    width = D // H
    wide = width * kv_heads
    key = keys.ctypes.data + (row + places[0]) * wide * size
    for h in range(H):
        x, y = query.ctypes.data + (n * D + h * width) * size, scores.ctypes.data + (h * stride + places[0]) * size
        shared = key + h * kv_heads // H * width * size
        vector_product(1, places[1] - places[0], width, shared, wide, x, False, y, one)


@compiled
def add_values(y, n, weights, stride, places, values, row, heads, one):
    """y[n] += weight * value, of the same positions."""
    H, kv_heads = heads
    G, size = y.shape[1], y.itemsize
    depth = G // H
    wide = depth * kv_heads
    value = values.ctypes.data + (row + places[0]) * wide * size
    for h in range(H):
        x, to = weights.ctypes.data + (h * stride + places[0]) * size, y.ctypes.data + (n * G + h * depth) * size
        shared = value + h * kv_heads // H * depth * size
        vector_product(0, places[1] - places[0], depth, shared, wide, x, True, to, one)


@compiled
def to_weights(line, count, H, stride, factor):
    """Softmax of the scores over positions, per head."""
    for h in range(H):
        own = line[h * stride : h * stride + count]
        # The maximum is subtracted, so that no exponential overflows.
        peak = own[0]
        for k in range(1, count):
            peak = max(peak, own[k])
        total = own.dtype.type(0)
        exp_all(own, factor, factor * peak, total)
        for k in range(count):
            total += own[k]
        for k in range(count):
            own[k] /= total


@compiled
def end_of_run(row, n, first, count):
    """End of the run of contiguous positions from `first` on."""
    # Sequences that share a prefix read it from one row of the cache: rows change rarely, so that runs are long.
    last = first + 1
    while last < count and row[n, last] == row[n, first]:
        last += 1
    return last


# A row or position outside of the cache gives NaN, as by the point function, without reading that memory.
@compiled
def is_kept(row, n, count):
    """Whether all positions of a sequence are filled."""
    if count > row.shape[1]:
        return False
    last = row.dtype.type(0)
    for k in range(count):
        last = max(last, row[n, k])
    return last < len(row)


@tuned(
    "attention_step", "attention_step_y", items=texts, work=multiplications, least=MIN_WORK, scratch=scores,
    scratch_per_chunk=True,
)  # fmt: skip
@compiled
def attention_step_y(
    first, last, y, query, own_key, own_value, keys, values, row, place, scratch, num_heads, num_kv_heads, scale
):  # fmt: skip
    N, K = row.shape
    heads = (num_heads, num_heads if num_kv_heads is None else num_kv_heads)
    one = y.dtype.type(1)
    for n in range(first, last):
        count = place[n]
        if not is_kept(row, n, count):
            y[n] = math.nan
            continue
        y[n] = one - one
        line = scratch[chunk_of(n, N) * num_heads * (K + 1) :]
        begin = 0
        while begin < count:
            run = (begin, end_of_run(row, n, begin, count))
            head_scores(line, K + 1, run, query, n, keys, row[n, begin] * K, heads, one)
            begin = run[1]
        own = (count, count + 1)
        # The position `count` is added to the row again in `head_scores`: together row `n` of the own keys.
        head_scores(line, K + 1, own, query, n, own_key, n - count, heads, one)
        to_weights(line, count + 1, num_heads, K + 1, factor_of(query, num_heads, scale))
        begin = 0
        while begin < count:
            run = (begin, end_of_run(row, n, begin, count))
            add_values(y, n, line, K + 1, run, values, row[n, begin] * K, heads, one)
            begin = run[1]
        add_values(y, n, line, K + 1, own, own_value, n - count, heads, one)
