"""attention_step: the rows that were kept are read once for all heads, and no score is computed twice."""

from __future__ import annotations

import math

from paddle_layers.kernels.primitives.compiling import compiled, contracted, reordered
from paddle_layers.kernels.primitives.scratch import piece_of
from paddle_layers.kernels.primitives.vectors import exp_all
from paddle_layers.kernels.tuned import tuned

from .attentions import factor_of

WORTH_IT = 1 << 13
"""Multiplications below which the point function stays."""


def texts(N: int) -> int:
    """One item for each text."""
    return N


def multiplications(N: int, K: int, D: int, E: int) -> int:
    """Operations of all products, if all places are filled."""
    return N * K * (D + E)


def scores(K: int, num_heads: int) -> int:
    """Numbers of scratch: a score for each head and place."""
    return num_heads * (K + 1)


@reordered
def add_scores(line, k, query, key, n, at, H, stride):
    """The product of each head's columns; `at` says which row of `key`, whose rows are end to end."""
    width = query.shape[1] // H
    for h in range(H):
        score = query.dtype.type(0)
        for d in range(h * width, (h + 1) * width):
            score += query[n, d] * key[at + d]
        line[h * stride + k] = score


@contracted
def add_row(y, n, line, k, value, at, H, stride):
    """y[n] += weight * value, in the columns of each head."""
    depth = y.shape[1] // H
    for h in range(H):
        weight = line[h * stride + k]
        for e in range(h * depth, (h + 1) * depth):
            y[n, e] += weight * value[at + e]


@compiled
def to_weights(line, count, H, stride, factor):
    """Scores of places become weights whose sum is one, for each head."""
    for h in range(H):
        own = line[h * stride : h * stride + count]
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
def last_row(row, n, count):
    """The largest number of a row that has a place of a text."""
    last = row.dtype.type(0)
    for k in range(count):
        last = max(last, row[n, k])
    return last


@tuned(
    "attention_step", "attention_step_y", items=texts, work=multiplications, least=WORTH_IT, scratch=scores,
    scratch_of_pieces=True,
)  # fmt: skip
@compiled
def attention_step_y(first, last, y, query, own_key, own_value, keys, values, row, place, scratch, num_heads, scale):
    N, E = y.shape
    K, D = keys.shape[1:]
    H = num_heads
    own_keys, own_values = own_key.reshape(-1), own_value.reshape(-1)
    kept_keys, kept_values, stride = keys.reshape(-1), values.reshape(-1), K + 1
    for n in range(first, last):
        count = place[n]
        y[n] = y.dtype.type(0)
        if count > K or last_row(row, n, count) >= N:
            y[n] = y.dtype.type(math.nan)
            continue
        line = scratch[piece_of(n, N) * H * stride :]
        for k in range(count):
            add_scores(line, k, query, kept_keys, n, (row[n, k] * K + k) * D, H, stride)
        add_scores(line, count, query, own_keys, n, n * D, H, stride)
        to_weights(line, count + 1, H, stride, factor_of(query, H, scale))
        for k in range(count):
            add_row(y, n, line, k, kept_values, (row[n, k] * K + k) * E, H, stride)
        add_row(y, n, line, count, own_values, n * E, H, stride)
