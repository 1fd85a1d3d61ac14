"""Multi-head attention (`multi_head_attention`) by BLAS: blocks of queries against blocks of keys.

One head of one sequence is computed at a time.
"""

from __future__ import annotations

import math

from paddle_layers.kernels.primitives.blas import matrix_product
from paddle_layers.kernels.primitives.compile_options import compiled
from paddle_layers.kernels.primitives.vector_functions import exp_all
from paddle_layers.kernels.tuned import tuned

# 64 x 64 float32 are 16 KiB: with their gradients 32 KiB, an L1 cache.
BLOCK = 64
"""Queries and keys per block; their scores stay in a core's cache."""
# A constant, so that results do not depend on threads; several parts per thread balance sequences of unequal length.
PARTS = 32
MIN_WORK = 1 << 16
"""Minimum number of multiplications for the tuned kernel."""


def parts(S: int, H: int) -> int:
    """Parts of the heads of all sequences; depends on shapes only."""
    return min(S * H, PARTS)


def kv_parts(S: int, H: int, num_kv_heads: int | None) -> int:
    """The same for heads of keys and values, to which several heads of the queries may contribute."""
    return parts(S, H if num_kv_heads is None else num_kv_heads)


def multiplications(T: int, K: int, S: int, D: int) -> int:
    """Operations of all scores, if sequences are equally long."""
    return T * K * D // max(S, 1)


def scores() -> int:
    """Scratch elements: the scores of a block and their gradients."""
    return 2 * BLOCK * BLOCK


def replaces(function, items=parts):
    """Decorator of a kernel for one of the layer's functions."""
    return tuned("multi_head_attention", function, items=items, scratch=scores, work=multiplications, least=MIN_WORK)


@compiled
def products(column, left, first, right, other, h, width, one):
    """Products of the rows `first` of queries, or of dy, with the rows `other` of keys or values; of a head `h`."""
    size, wide, high = left.itemsize, left.shape[1], right.shape[1]
    a = left.ctypes.data + (first[0] * wide + h * width) * size
    # Several heads of the queries may share the columns of one head of the keys.
    b = right.ctypes.data + (other[0] * high + h * high // wide * width) * size
    target = column.ctypes.data
    matrix_product(0, 1, first[1] - first[0], other[1] - other[0], width, a, wide, b, high, False, target, BLOCK, one)


@compiled
def to_probabilities(column, rows, others, peak, norm, h, shift, causal, factor):
    """Softmax probabilities of the scores; `shift` is the position difference of row 0 and key 0 in their sequence."""
    for i in range(rows[1] - rows[0]):
        at = rows[0] + i
        # Blocks on the diagonal are partly visible; those after it are not visited at all.
        seen = min(others[1] - others[0], shift + i + 1) if causal else others[1] - others[0]
        line = column[i * BLOCK : i * BLOCK + others[1] - others[0]]
        exp_all(line[: max(seen, 0)], factor, peak[at, h], norm[at, h])
        # Zeros, since the following product multiplies whole blocks.
        line[max(seen, 0) :] = column.dtype.type(0)


@compiled
def to_dscores(column, dscores, rows, others, delta, h, factor):
    """Gradients of the scores, which overwrite the gradients of the probabilities."""
    for i in range(rows[1] - rows[0]):
        # The Jacobian of softmax; `delta` is the sum of dy times y over the columns of the head, computed once per
        # query.
        mean = delta[rows[0] + i, h]
        for j in range(others[1] - others[0]):
            dscores[i * BLOCK + j] = factor * column[i * BLOCK + j] * (dscores[i * BLOCK + j] - mean)


@compiled
def head_bounds(unit, heads, S_start, R_start):
    """The head of a unit, of so many per sequence, and the rows of its queries and of its keys."""
    s = unit // heads
    return unit % heads, S_start[s], S_start[s + 1], R_start[s], R_start[s + 1]


@compiled
def add_to_sum(peak, total, t, h, line, factor):
    """Replaces some scores by their exponentials and adds these to the running sums (online softmax)."""
    best = line[0]
    for j in range(1, len(line)):
        best = max(best, line[j])
    # Online softmax (Milakov and Gimelshein 2018): the sum so far is rescaled to the new maximum. The first rescaling
    # factor is exp(-inf) = 0.
    before = peak[t, h]
    best = max(factor * best, before)
    added = total[t, h] * math.exp(before - best)
    exp_all(line, factor, best, line.dtype.type(0))
    for j in range(len(line)):
        added += line[j]
    peak[t, h], total[t, h] = best, added


@compiled
def block_probabilities(column, query, keys, peak, norm, rows, others, h, begin, low, causal, factor):
    """Probabilities of a block of keys for a block of queries."""
    width, one = query.shape[1] // peak.shape[1], query.dtype.type(1)
    # Probabilities are computed again from the maximum and the logarithm of the sum: the matrix of all scores, which
    # grows with the square of the length, is never stored.
    products(column, query, rows, keys, others, h, width, one)
    to_probabilities(column, rows, others, peak, norm, h, (rows[0] - begin) - (others[0] - low), causal, factor)


@compiled
def add_product(trans, column, rows, others, source, target, h, one):
    """target[rows] += column source[others], or with the column transposed target[others] += column' source[rows]."""
    size, wide = source.itemsize, source.shape[1]
    taken, given = (rows, others) if trans else (others, rows)
    a, b = taken[1] - taken[0], given[1] - given[0]
    # `h` are the heads of queries and of keys: the index in question, and the numbers of both.
    own, shared, H, kv_heads = h
    depth = target.shape[1] // (kv_heads if trans else H)
    source_at = source.ctypes.data + (taken[0] * wide + (own if trans else shared) * depth) * size
    target_at = target.ctypes.data + (given[0] * target.shape[1] + (shared if trans else own) * depth) * size
    matrix_product(
        trans, 0, b, depth, a, column.ctypes.data, BLOCK, source_at, wide, True, target_at, target.shape[1], one
    )


@compiled
def clear(target, begin, end, h, heads):
    """Sets the columns of a head to zero."""
    depth = target.shape[1] // heads
    target[begin:end, h * depth : (h + 1) * depth] = target.dtype.type(0)


@compiled
def factor_of(query, H, scale):
    """Scale of the scores."""
    return query.dtype.type(1) / math.sqrt(query.dtype.type(query.shape[1] // H)) if scale is None else scale


@compiled
def last_key(rows, begin, low, high, causal):
    """End of the keys that a block of queries attends to."""
    return min(high, low + rows[1] - begin) if causal else high


@compiled
def two_blocks(scratch, part):
    """Scratch elements of a part: a block of scores and one of their gradients."""
    size = BLOCK * BLOCK
    return scratch[2 * part * size : (2 * part + 1) * size], scratch[(2 * part + 1) * size : (2 * part + 2) * size]


@replaces("multi_head_attention_moments")
@compiled
def attention_moments(first, last, peak, norm, query, keys, S_start, R_start, scratch, H, causal, scale):
    one, units, factor = query.dtype.type(1), (len(S_start) - 1) * H, factor_of(query, H, scale)
    count, (column, _) = min(units, PARTS), two_blocks(scratch, first)
    for unit in range(units * first // count, units * last // count):
        h, begin, end, low, high = head_bounds(unit, H, S_start, R_start)
        for top in range(begin, end, BLOCK):
            rows = (top, min(top + BLOCK, end))
            for i in range(rows[0], rows[1]):
                peak[i, h], norm[i, h] = -math.inf, 0
            # Causal queries see no keys after the last of their block.
            for left in range(low, last_key(rows, begin, low, high, causal), BLOCK):
                others = (left, min(left + BLOCK, high))
                products(column, query, rows, keys, others, h, query.shape[1] // H, one)
                shift = (top - begin) - (left - low)
                for i in range(rows[1] - rows[0]):
                    seen = min(others[1] - others[0], shift + i + 1) if causal else others[1] - others[0]
                    if seen > 0:
                        add_to_sum(peak, norm, rows[0] + i, h, column[i * BLOCK : i * BLOCK + seen], factor)
            for i in range(rows[0], rows[1]):
                # A query without keys keeps the sum 0: its logarithm would be minus infinity.
                norm[i, h] = math.log(norm[i, h]) if norm[i, h] > 0 else norm[i, h]


@compiled
def add_weighted(
    trans, first, last, target, source, query, keys, peak, norm, S_start, R_start, scratch, keep, H, kv_heads, scale,
    causal,
):  # fmt: skip
    """Products of the probabilities, or of their transpose, with a head's columns, of the units of some parts."""
    one, factor = query.dtype.type(1), factor_of(query, H, scale)
    # A unit is a head of the target; the gradient of values has contributions of all heads that share them.
    heads = kv_heads if trans else H
    groups, units = H // heads, (len(S_start) - 1) * heads
    count, (column, _) = min(units, PARTS), two_blocks(scratch, first)
    for unit in range(units * first // count, units * last // count):
        head, begin, end, low, high = head_bounds(unit, heads, S_start, R_start)
        if not keep:
            clear(target, low if trans else begin, high if trans else end, head, heads)
        for h in range(head * groups, (head + 1) * groups):
            for top in range(begin, end, BLOCK):
                rows = (top, min(top + BLOCK, end))
                for left in range(low, last_key(rows, begin, low, high, causal), BLOCK):
                    others = (left, min(left + BLOCK, high))
                    block_probabilities(column, query, keys, peak, norm, rows, others, h, begin, low, causal, factor)
                    add_product(
                        trans, column, rows, others, source, target, (h, h * kv_heads // H, H, kv_heads), one
                    )  # fmt: skip


@compiled
def add_by_dscores(
    trans, first, last, target, source, dy, query, keys, values, peak, norm, delta, S_start, R_start, scratch, keep, H,
    kv_heads, scale, causal,
):  # fmt: skip
    """The same with the gradients of the scores instead of the probabilities."""
    one, factor = query.dtype.type(1), factor_of(query, H, scale)
    heads = kv_heads if trans else H
    groups, units = H // heads, (len(S_start) - 1) * heads
    count, (column, dscores) = min(units, PARTS), two_blocks(scratch, first)
    for unit in range(units * first // count, units * last // count):
        head, begin, end, low, high = head_bounds(unit, heads, S_start, R_start)
        if not keep:
            clear(target, low if trans else begin, high if trans else end, head, heads)
        for h in range(head * groups, (head + 1) * groups):
            for top in range(begin, end, BLOCK):
                rows = (top, min(top + BLOCK, end))
                for left in range(low, last_key(rows, begin, low, high, causal), BLOCK):
                    others = (left, min(left + BLOCK, high))
                    # Scores once more: two products per block instead of memory for all probabilities.
                    block_probabilities(column, query, keys, peak, norm, rows, others, h, begin, low, causal, factor)
                    products(dscores, dy, rows, values, others, h, dy.shape[1] // H, one)
                    to_dscores(column, dscores, rows, others, delta, h, factor)
                    add_product(
                        trans, dscores, rows, others, source, target, (h, h * kv_heads // H, H, kv_heads), one
                    )  # fmt: skip


@compiled
def heads_of_keys(H, num_kv_heads):
    """Number of heads of keys and values."""
    return H if num_kv_heads is None else num_kv_heads


@replaces("multi_head_attention_y")
@compiled
def attention_y(
    first, last, y, query, keys, values, peak, norm, S_start, R_start, scratch, H, num_kv_heads, causal, scale
):  # fmt: skip
    add_weighted(
        0, first, last, y, values, query, keys, peak, norm, S_start, R_start, scratch, False, H,
        heads_of_keys(H, num_kv_heads), scale, causal,
    )  # fmt: skip


@replaces("multi_head_attention_dvalues", kv_parts)
@compiled
def attention_dvalues(
    first, last, dvalues, dy, query, keys, peak, norm, S_start, R_start, scratch, accumulate, H, num_kv_heads, causal,
    scale,
):  # fmt: skip
    add_weighted(
        1, first, last, dvalues, dy, query, keys, peak, norm, S_start, R_start, scratch, accumulate, H,
        heads_of_keys(H, num_kv_heads), scale, causal,
    )  # fmt: skip


@replaces("multi_head_attention_dquery")
@compiled
def attention_dquery(
    first, last, dquery, dy, query, keys, values, peak, norm, delta, S_start, R_start, scratch, accumulate, H,
    num_kv_heads, causal, scale,
):  # fmt: skip
    add_by_dscores(
        0, first, last, dquery, keys, dy, query, keys, values, peak, norm, delta, S_start, R_start, scratch,
        accumulate, H, heads_of_keys(H, num_kv_heads), scale, causal,
    )  # fmt: skip


@replaces("multi_head_attention_dkeys", kv_parts)
@compiled
def attention_dkeys(
    first, last, dkeys, dy, query, keys, values, peak, norm, delta, S_start, R_start, scratch, accumulate, H,
    num_kv_heads, causal, scale,
):  # fmt: skip
    add_by_dscores(
        1, first, last, dkeys, query, dy, query, keys, values, peak, norm, delta, S_start, R_start, scratch,
        accumulate, H, heads_of_keys(H, num_kv_heads), scale, causal,
    )  # fmt: skip
