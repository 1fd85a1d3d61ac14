"""Multi-head attention (`multi_head_attention`): tiles of queries and keys in the order of FlashAttention-2 (Dao 2023).

Scores are computed transposed, keys by queries: then the softmax of a query is a column, so that maxima and sums are
those of vectors, and only a block of queries has to be transposed; keys, values and gradients are read in place.
"""

from __future__ import annotations

import math

from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.kernels.primitives.compile_options import compiled, contracted, once
from paddle_layers.kernels.primitives.memory_ops import add_run, copy_run, fetch_run, set_entry, transpose, zeros
from paddle_layers.kernels.primitives.microkernels import LANES, VECTOR, gemm_microkernel, rounded, vectors_of
from paddle_layers.kernels.primitives.scratch import chunk_of, part
from paddle_layers.kernels.primitives.vector_functions import exp_of_negative
from paddle_layers.kernels.tuned import tuned

# 64 x 64 float32 are 16 KiB: scores and the columns of a head of a block are in the L2 cache.
BLOCK = 64
"""Queries and keys per block."""
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


def forward_elements(D: int, G: int, H: int) -> int:
    """Scratch elements: scores, queries, sums, values, moments, a table."""
    return BLOCK * (BLOCK + rounded(D // H) + 2 * rounded(G // H) + 3) + LANES


def backward_elements(D: int, G: int, H: int) -> int:
    """Scratch elements: scores and their gradients, three copies of a head's columns and sums, moments, a table."""
    width, depth = rounded(D // H), rounded(G // H)
    return BLOCK * (2 * BLOCK + 3 * width + 2 * depth + max(width, depth) + 3) + LANES


@compiled
def factor_of(query, H, scale):
    """Scale of the scores."""
    return query.dtype.type(1) / math.sqrt(query.dtype.type(query.shape[1] // H)) if scale is None else scale


@compiled
def heads_of_keys(H, num_kv_heads):
    """Number of heads of keys and values."""
    return H if num_kv_heads is None else num_kv_heads


@compiled
def head_bounds(unit, heads, S_start, R_start):
    """The head of a unit, of so many per sequence, and the rows of its queries and of its keys."""
    s = unit // heads
    return unit % heads, S_start[s], S_start[s + 1], R_start[s], R_start[s + 1]


@compiled
def last_key(rows, begin, low, high, causal):
    """End of the keys that a block of queries attends to."""
    return min(high, low + rows[1] - begin) if causal else high


@compiled
def place_of(matrix, row, h, heads):
    """Address of the columns of a head in a row."""
    return matrix.ctypes.data + (row * matrix.shape[1] + h * (matrix.shape[1] // heads)) * matrix.itemsize


@compiled
def fetch_block(matrix, first, last, h, heads):
    """Prefetches the columns of a head of the next block: rows are far apart, so that the processor does not."""
    for row in range(first, min(first + BLOCK, last)):
        fetch_run(place_of(matrix, row, h, heads), matrix.shape[1] // heads, matrix.itemsize)


@compiled
def pack_transposed(block, matrix, rows, h, heads, factor):
    """The columns of a head, transposed and multiplied by a factor; missing rows of the last vector are zero."""
    width, count, one = matrix.shape[1] // heads, rows[1] - rows[0], matrix.dtype.type(1)
    lanes, size = rounded(count), matrix.itemsize
    if lanes > count:
        zeros(block.ctypes.data, width * lanes, size, one)
    place = place_of(matrix, rows[0], h, heads)
    transpose(block.ctypes.data, place, count, width, matrix.shape[1], lanes, 1, size, one)
    for k in range(width * lanes):
        block[k] *= factor


@compiled
def whole_vectors(matrix, rows, h, heads, spare):
    """Address and row stride of the columns of a head, copied to a scratch buffer unless they are whole vectors."""
    width, size, one = matrix.shape[1] // heads, matrix.itemsize, matrix.dtype.type(1)
    place, pitch = place_of(matrix, rows[0], h, heads), matrix.shape[1] * size
    if width * size % VECTOR == 0:
        return place, pitch
    # A vector over the end of the columns could be outside of the array.
    copies, line = spare.ctypes.data, rounded(width) * size
    for row in range(rows[1] - rows[0]):
        copy_run(copies + row * line, place + row * pitch, width, size, one)
    return copies, line


@compiled
def multiply(scores, matrix, others, h, heads, block, lanes, table, one):
    """Products of the rows `others` of a head with a transposed block: rows of `lanes` elements."""
    width, size = matrix.shape[1] // heads, matrix.itemsize
    place = place_of(matrix, others[0], h, heads)
    gemm_microkernel(
        others[1] - others[0], vectors_of(lanes, size), 0, width, lanes * size, size, 1, table.ctypes.data, place,
        matrix.shape[1] * size, block.ctypes.data, scores.ctypes.data, lanes * size, 0, one,
    )  # fmt: skip


@once
def add_product(target, rows, width, weights, right, depth, adding, sums, table, size, one):
    """Target (rows, width) += weights times right (depth, width).

    The target and `right` are an address and the stride of a row, the weights an address and two strides, all in bytes.
    """
    (to, pitch), (w, w_row, w_step), (x, x_row) = target, weights, right
    full, line = width * size % VECTOR == 0, rounded(width) * size
    gemm_microkernel(
        rows, vectors_of(width, size), 0, depth, x_row, w_step, 1, table, w, w_row, x, to if full else sums,
        pitch if full else line, adding and full, one,
    )  # fmt: skip
    for row in range(0 if full else rows):
        add_run(to + row * pitch, sums + row * line, width, size, one)


@compiled
def hide_future(scores, count, lanes, shift):
    """Masks scores of keys after the query; `shift` is the position of query 0 minus that of key 0."""
    for j in range(max(shift + 1, 0), count):
        for i in range(min(j - shift, lanes)):
            scores[j * lanes + i] = -math.inf


@contracted
def add_block(scores, best, total, change, count, lanes):
    """Replaces scores by their exponentials and adds these to the running sums of the columns (online softmax).

    `change` becomes the factor of earlier sums, which are relative to an earlier maximum (Milakov and Gimelshein 2018).
    """
    for i in range(lanes):
        change[i] = best[i]
    for j in range(count):
        line = scores[j * lanes : (j + 1) * lanes]
        for i in range(lanes):
            best[i] = line[i] if line[i] > best[i] else best[i]
    for i in range(lanes):
        # The first factor is exp(-inf) = 0.
        change[i] = exp_of_negative(change[i] - best[i])
        total[i] *= change[i]
    for j in range(count):
        line = scores[j * lanes : (j + 1) * lanes]
        for i in range(lanes):
            e = exp_of_negative(line[i] - best[i])
            line[i] = e
            total[i] += e


@contracted
def to_gradients(scores, dscores, best, norm, delta, count, lanes):
    """Replaces scores by probabilities, and gradients of probabilities by those of the scores."""
    for j in range(count):
        line, slopes = scores[j * lanes : (j + 1) * lanes], dscores[j * lanes : (j + 1) * lanes]
        for i in range(lanes):
            p = exp_of_negative(line[i] - best[i] - norm[i])
            line[i] = p
            # The Jacobian of softmax.
            slopes[i] = p * (slopes[i] - delta[i])


@compiled
def store(y, peak, norm, rows, h, sums, line, best, total):
    """Writes the outputs and moments of a block of queries."""
    depth = y.shape[1] // peak.shape[1]
    for i in range(rows[1] - rows[0]):
        row, own = y[rows[0] + i, h * depth : (h + 1) * depth], sums[i * line : i * line + depth]
        # A query without keys keeps the sum 0: its logarithm would be minus infinity.
        share = total[i] if total[i] == 0 else 1 / total[i]
        for g in range(depth):
            row[g] = own[g] * share
        peak[rows[0] + i, h] = best[i]
        norm[rows[0] + i, h] = math.log(total[i]) if total[i] > 0 else total[i]


@tuned(
    "multi_head_attention", "multi_head_attention_y", joint=("multi_head_attention_moments",), items=parts,
    scratch=forward_elements, scratch_per_chunk=True, work=multiplications, least=MIN_WORK,
)  # fmt: skip
@compiled
def attention(
    first, last, y, peak, norm, query, keys, values, S_start, R_start, scratch, H, num_kv_heads, causal, scale
):  # fmt: skip
    one, size, units = query.dtype.type(1), query.itemsize, (len(S_start) - 1) * H
    factor, kv_heads, count = factor_of(query, H, scale), heads_of_keys(H, num_kv_heads), min(units, PARTS)
    width, line = query.shape[1] // H, rounded(y.shape[1] // H)
    for item in range(first, last):
        memory = part(scratch, chunk_of(item, count), min(count, MAX_CHUNKS))
        scores, memory = memory[: BLOCK * BLOCK], memory[BLOCK * BLOCK :]
        block, memory = memory[: BLOCK * width], memory[BLOCK * rounded(width) :]
        sums, spare, memory = memory[: BLOCK * line], memory[BLOCK * line :], memory[2 * BLOCK * line :]
        best, total, change = memory[:BLOCK], memory[BLOCK : 2 * BLOCK], memory[2 * BLOCK : 3 * BLOCK]
        table = memory[3 * BLOCK :]
        set_entry(table.ctypes.data, 0, 0, 0)
        for unit in range(units * item // count, units * (item + 1) // count):
            h, begin, end, low, high = head_bounds(min(unit + 1, units - 1), H, S_start, R_start)
            fetch_block(query, begin, end, h, H)
            fetch_block(keys, low, high, h * kv_heads // H, kv_heads)
            fetch_block(values, low, high, h * kv_heads // H, kv_heads)
            h, begin, end, low, high = head_bounds(unit, H, S_start, R_start)
            shared = h * kv_heads // H
            for top in range(begin, end, BLOCK):
                rows = (top, min(top + BLOCK, end))
                lanes = rounded(rows[1] - top)
                fetch_block(query, rows[1], end, h, H)
                fetch_block(y, top, end, h, H)
                pack_transposed(block, query, rows, h, H, factor)
                for i in range(BLOCK):
                    best[i], total[i] = -math.inf, 0
                if low == high:
                    zeros(sums.ctypes.data, (rows[1] - top) * line, size, one)
                for left in range(low, last_key(rows, begin, low, high, causal), BLOCK):
                    others = (left, min(left + BLOCK, high))
                    many, shift = others[1] - left, (top - begin) - (left - low)
                    fetch_block(keys, others[1], high, shared, kv_heads)
                    fetch_block(values, others[1], high, shared, kv_heads)
                    multiply(scores, keys, others, shared, kv_heads, block, lanes, table, one)
                    if causal:
                        hide_future(scores, many, lanes, shift)
                    add_block(scores, best, total, change, many, lanes)
                    for i in range(rows[1] - top if left > low else 0):
                        own = sums[i * line : (i + 1) * line]
                        for g in range(line):
                            own[g] *= change[i]
                    add_product(
                        (sums.ctypes.data, line * size), rows[1] - top, line,
                        (scores.ctypes.data, size, lanes * size),
                        whole_vectors(values, others, shared, kv_heads, spare), many, left > low, 0,
                        table.ctypes.data, size, one,
                    )  # fmt: skip
                store(y, peak, norm, rows, h, sums, line, best, total)


@contracted
def gather_moments(best, total, delta, y, dy, peak, norm, rows, h, factor):
    """Moments of a block of queries, and the mean of the gradients of the probabilities, times a factor."""
    depth = y.shape[1] // peak.shape[1]
    for i in range(rows[1] - rows[0]):
        t, mean = rows[0] + i, y.dtype.type(0)
        own, slopes = y[t, h * depth : (h + 1) * depth], dy[t, h * depth : (h + 1) * depth]
        for g in range(depth):
            mean += own[g] * slopes[g]
        best[i], total[i], delta[i] = peak[t, h], norm[t, h], factor * mean


@tuned(
    "multi_head_attention", "multi_head_attention_dkeys",
    joint=("multi_head_attention_dvalues", "multi_head_attention_dquery"), items=kv_parts, scratch=backward_elements,
    scratch_per_chunk=True, work=multiplications, least=MIN_WORK,
)  # fmt: skip
@compiled
def attention_gradients(
    first, last, dkeys, dvalues, dquery, dy, y, query, keys, values, peak, norm, S_start, R_start, scratch, H,
    num_kv_heads, causal, scale,
):  # fmt: skip
    one, size, kv_heads = query.dtype.type(1), query.itemsize, heads_of_keys(H, num_kv_heads)
    factor, groups, units = factor_of(query, H, scale), H // kv_heads, (len(S_start) - 1) * kv_heads
    width, depth, count = query.shape[1] // H, y.shape[1] // H, min(units, PARTS)
    wide, deep = BLOCK * rounded(width), BLOCK * rounded(depth)
    for item in range(first, last):
        memory = part(scratch, chunk_of(item, count), min(count, MAX_CHUNKS))
        scores, dscores, memory = (
            memory[: BLOCK * BLOCK], memory[BLOCK * BLOCK : 2 * BLOCK * BLOCK], memory[2 * BLOCK * BLOCK :]
        )  # fmt: skip
        block, slopes, memory = memory[: BLOCK * width], memory[wide : wide + BLOCK * depth], memory[wide + deep :]
        rows_q, rows_k, rows_dy = memory[:wide], memory[wide : 2 * wide], memory[2 * wide : 2 * wide + deep]
        memory = memory[2 * wide + deep :]
        best, total, delta = memory[:BLOCK], memory[BLOCK : 2 * BLOCK], memory[2 * BLOCK : 3 * BLOCK]
        table = memory[3 * BLOCK :]
        sums = table[LANES:].ctypes.data
        set_entry(table.ctypes.data, 0, 0, 0)
        for unit in range(units * item // count, units * (item + 1) // count):
            shared, begin, end, low, high = head_bounds(min(unit + 1, units - 1), kv_heads, S_start, R_start)
            for matrix in (query, dy, y, dquery):
                fetch_block(matrix, begin, end, shared * groups, H)
            for matrix in (keys, values, dkeys, dvalues):
                fetch_block(matrix, low, high, shared, kv_heads)
            # A unit owns the keys and values of a head and all queries that share them: no sum has two writers.
            shared, begin, end, low, high = head_bounds(unit, kv_heads, S_start, R_start)
            for h in range(shared * groups, (shared + 1) * groups):
                for top in range(begin, end, BLOCK):
                    rows = (top, min(top + BLOCK, end))
                    lanes = rounded(rows[1] - top)
                    for matrix in (query, dy, y, dquery):
                        fetch_block(matrix, rows[1], end, h, H)
                    gather_moments(best, total, delta, y, dy, peak, norm, rows, h, factor)
                    pack_transposed(block, query, rows, h, H, factor)
                    pack_transposed(slopes, dy, rows, h, H, factor)
                    of_q = whole_vectors(query, rows, h, H, rows_q)
                    of_dy = whole_vectors(dy, rows, h, H, rows_dy)
                    for left in range(low, last_key(rows, begin, low, high, causal), BLOCK):
                        others = (left, min(left + BLOCK, high))
                        many, shift = others[1] - left, (top - begin) - (left - low)
                        for matrix in (keys, values, dkeys, dvalues):
                            fetch_block(matrix, others[1], high, shared, kv_heads)
                        # Scores once more: one product per block instead of memory for all probabilities.
                        multiply(scores, keys, others, shared, kv_heads, block, lanes, table, one)
                        multiply(dscores, values, others, shared, kv_heads, slopes, lanes, table, one)
                        if causal:
                            hide_future(scores, many, lanes, shift)
                        to_gradients(scores, dscores, best, total, delta, many, lanes)
                        by_key = (dscores.ctypes.data, lanes * size, size)
                        add_product(
                            (place_of(dvalues, left, shared, kv_heads), dvalues.shape[1] * size), many, depth,
                            (scores.ctypes.data, lanes * size, size), of_dy, rows[1] - top, True, sums,
                            table.ctypes.data, size, one,
                        )  # fmt: skip
                        add_product(
                            (place_of(dkeys, left, shared, kv_heads), dkeys.shape[1] * size), many, width, by_key,
                            of_q, rows[1] - top, True, sums, table.ctypes.data, size, one,
                        )  # fmt: skip
                        add_product(
                            (place_of(dquery, top, h, H), dquery.shape[1] * size), rows[1] - top, width,
                            (by_key[0], size, lanes * size), whole_vectors(keys, others, shared, kv_heads, rows_k),
                            many, True, sums, table.ctypes.data, size, one,
                        )  # fmt: skip
