"""Shared gradient kernels of recurrent layers: deltas of the gate pre-activations.

A delta is the gradient of the loss with respect to the pre-activation of a gate or unit.
"""

from __future__ import annotations

import numpy as np

from paddle_layers.kernels.constants import MAX_TILES
from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled, contracted
from paddle_layers.kernels.primitives.packed_panels import transposed_product, transposed_product_numbers
from paddle_layers.kernels.primitives.scratch import scratch_of_chunk
from paddle_layers.kernels.primitives.vector_functions import add_to, copy


def tile_count(T: int) -> int:
    """Number of row tiles; depends on the shape only."""
    return min(T, MAX_TILES)


@also_in_python
def parts_of(units):
    """Parts of the columns of a gate; depends on the shape only."""
    # At least 128 columns, as `past` is packed again for every part.
    return max(1, min(MAX_TILES, units // 128))


def product_numbers(K: int) -> int:
    """Scratch elements of a chunk of the weight gradient."""
    return int(transposed_product_numbers(-(-K // int(parts_of(K)))))


@compiled
def take_before(first, last, past, y, initial, before_of, S_start):
    """The previous row of each row of some tiles; at the first step the initial state of the sequence, or zeros."""
    T = y.shape[0]
    # The same division as in `tile_count`, repeated because a compiled kernel only gets the range of its tiles.
    count = min(T, MAX_TILES)
    for t in range(T * first // count, T * last // count):
        if before_of[t] >= 0:
            copy(past[t], y[before_of[t]])
        elif initial is None:
            past[t] = 0
        else:
            copy(past[t], initial[np.searchsorted(S_start, t, side="right") - 1])


@compiled
def pack_gates(first, last, dx, deltas, accumulate):
    """Gradient of the pre-activations: concatenates the rows of the gates of some tiles."""
    T, K = deltas[0].shape
    count = min(T, MAX_TILES)
    for t in range(T * first // count, T * last // count):
        for gate, values in enumerate(deltas):
            into = dx[t][gate * K : (gate + 1) * K]
            if accumulate:
                add_to(into, values[t])
            else:
                copy(into, values[t])


@compiled
def add_gate_products(first, last, dweight, pasts, deltas, scratch, adding):
    """Weight gradient of all gates; an item is a part of a gate's columns."""
    T, K = pasts[0].shape
    parts, size, one = parts_of(K), scratch.itemsize, scratch.dtype.type(1)
    for item in range(first, last):
        gate, part = item // parts, item % parts
        left, right = K * part // parts, K * (part + 1) // parts
        # One product over all time steps after the recursion: a long reduction instead of one small product per step.
        transposed_product(
            (dweight.ctypes.data + (gate * K + left) * size, dweight.shape[1]), (pasts[gate].ctypes.data, K),
            (deltas[gate].ctypes.data + left * size, K), K, T, right - left, adding,
            scratch_of_chunk(scratch, item, parts * len(deltas)), size, one,
        )  # fmt: skip


@compiled
def add_rows(total, rows, accumulate):
    """The sum of all rows."""
    if not accumulate:
        total[:] = 0
    for t in range(rows.shape[0]):
        add_to(total, rows[t])


@compiled
def add_gate_rows(first, last, dbias, deltas, accumulate):
    """Bias gradient of all gates, one item each."""
    K = deltas[0].shape[1]
    for gate in range(first, last):
        add_rows(dbias[gate * K : (gate + 1) * K], deltas[gate], accumulate)


@contracted
def sigmoid_gate_backward(delta, behind, gate, other):
    """Backward pass of a logistic gate: delta of its pre-activation, from that of the gate's product with `other`."""
    one = gate.dtype.type(1)
    for k in range(delta.size):
        # Derivatives of the logistic function and of tanh are polynomials of their outputs, so that pre-activations
        # need not be kept for the backward pass.
        delta[k] = behind[k] * other[k] * (gate[k] * (one - gate[k]))


@contracted
def tanh_gate_backward(delta, behind, value, gate):
    """Backward pass of tanh: delta of its pre-activation, from that of its product with `gate`."""
    one = gate.dtype.type(1)
    for k in range(delta.size):
        delta[k] = behind[k] * gate[k] * (one - value[k] * value[k])
