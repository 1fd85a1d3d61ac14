"""LSTM (`lstmemory`) in blocks of sequences, with a packed weight."""

from __future__ import annotations

import numpy as np

from paddle_layers.kernels.primitives.compile_options import compiled, contracted
from paddle_layers.kernels.primitives.packed_panels import packing_items, panel_numbers, tail_numbers
from paddle_layers.kernels.primitives.scratch import part, take
from paddle_layers.kernels.primitives.vector_functions import (
    add_product,
    add_to,
    copy,
    multiply,
    multiply_by,
    sigmoid_all,
    tanh_all,
)
from paddle_layers.kernels.tuned import tuned

from .gates import (
    add_gate_products,
    add_rows,
    pack_gates,
    parts_of,
    product_numbers,
    sigmoid_gate_backward,
    take_before,
    tanh_gate_backward,
    tile_count,
)
from .packed_gemm import pack, step_product
from .sequence_batching import active_sequences, block, blocks, blocks_of, most_of, set_initial

# Compiling costs about a second per kernel. Text generation ignores this limit, since it runs one plan hundreds of
# times: 8 sequences at once took 3.3 ms per word by point functions, 1.2 ms by tuned kernels.
MIN_WORK = 1 << 16
"""Minimum number of multiplications for the tuned kernel; below it, the gain does not repay the compile time."""
GATES = 4
DELTAS = "(candidate_delta, input_delta, forget_delta, output_delta)"


def is_usual(act: str, gate_act: str, state_act: str) -> bool:
    """Whether units and gates have their default activations."""
    return (act, gate_act, state_act) == ("tanh", "sigmoid", "tanh")


def multiplications(T: int, K: int) -> int:
    """Number of multiplications with the weight."""
    return 4 * T * K * K


def numbers(T: int, K: int) -> int:
    """Number of elements per row and gate."""
    return 4 * T * K


def forward_scratch(S: int, K: int) -> int:
    """Scratch elements of an item: pre-activations, outputs, initial cell states, and those of a product."""
    return int(most_of(S)) * 6 * K + int(tail_numbers())


def backward_scratch(S: int, K: int) -> int:
    """Scratch elements of an item: deltas (outputs, pre-activations, cells), previous cells, activations; a product."""
    return (int(most_of(S)) * 7 + 1) * K + int(tail_numbers())


def forward_panels(K: int, D: int) -> int:
    """Elements of the packed weight."""
    return int(panel_numbers(K, D))


def backward_panels(K: int, D: int) -> int:
    """Elements of its packed transpose."""
    return int(panel_numbers(D, K))


def tiles(K: int) -> int:
    """Number of tiles of the weight gradient."""
    return GATES * int(parts_of(K))


tuned(
    "lstmemory", "lstmemory_y", items=packing_items, scratch=forward_scratch, prepared=forward_panels,
    work=multiplications, least=MIN_WORK, when=is_usual, arguments={"wide": "D", "transposed": "0"},
)(pack)  # fmt: skip


@tuned("lstmemory", "lstmemory_y", items=blocks, after=pack)
@compiled
def lstmemory_y(
    first, last, y, state, candidate, input_gate, forget_gate, output_gate, x, initial, initial_state, prepared, bias,
    scratch, S_start, reverse, peepholes
):  # fmt: skip
    K, D = y.shape[1], x.shape[1]
    most = most_of(S_start.size - 1)
    for item in range(first, last):
        own = part(scratch, item, blocks_of(S_start.size - 1))
        sums, at = take(own, 0, most, D)
        outputs, at = take(own, at, most, K)
        pasts, at = take(own, at, most, K)
        place = own[at:].ctypes.data
        chosen, begins, lengths, step = block(item, S_start, reverse)
        set_initial(outputs, initial, chosen)
        set_initial(pasts, initial_state, chosen)
        for q in range(lengths[0]):
            alive = active_sequences(lengths, q)
            # Without an initial state the first product is zero, as is the cleared buffer.
            if q > 0 or initial is not None:
                step_product(sums, alive, outputs, prepared.ctypes.data, place)
            for r in range(alive):
                t = begins[r] + q * step
                past = state[t - step] if q > 0 else pasts[r]
                gates = sums[r]
                add_to(gates, x[t])
                add_to(gates, bias[:D])
                if peepholes:
                    add_product(gates[K : 2 * K], past, bias[D : D + K])
                    # The peepholes of input and forget gate read the previous cell state, that of the output gate the
                    # new one: hence the order.
                    add_product(gates[2 * K : 3 * K], past, bias[D + K : D + 2 * K])
                tanh_all(gates[:K])
                sigmoid_all(gates[K : 3 * K])
                multiply(state[t], gates[:K], gates[K : 2 * K])
                add_product(state[t], past, gates[2 * K : 3 * K])
                if peepholes:
                    add_product(gates[3 * K :], state[t], bias[D + 2 * K :])
                sigmoid_all(gates[3 * K :])
                copy(candidate[t], gates[:K])
                copy(input_gate[t], gates[K : 2 * K])
                copy(forget_gate[t], gates[2 * K : 3 * K])
                copy(output_gate[t], gates[3 * K :])
                copy(outputs[r], state[t])
                tanh_all(outputs[r])
                multiply(y[t], outputs[r], output_gate[t])
                copy(outputs[r], y[t])


tuned(
    "lstmemory", "lstmemory_deltas", items=packing_items, scratch=backward_scratch, prepared=backward_panels,
    work=multiplications, least=MIN_WORK, when=is_usual, arguments={"wide": "D", "transposed": "1"},
)(pack)  # fmt: skip


@tuned("lstmemory", "lstmemory_deltas", items=blocks, after=pack)
@compiled
def lstmemory_deltas(
    first, last, state_delta, candidate_delta, input_delta, forget_delta, output_delta, dy, dlast_state, initial_state,
    state, candidate, input_gate, forget_gate, output_gate, prepared, bias, scratch, S_start, reverse, peepholes,
):  # fmt: skip
    K, D = dy.shape[1], GATES * dy.shape[1]
    most = most_of(S_start.size - 1)
    for item in range(first, last):
        own = part(scratch, item, blocks_of(S_start.size - 1))
        outputs, at = take(own, 0, most, K)
        sums, at = take(own, at, most, D)
        states, at = take(own, at, most, K)
        pasts, at = take(own, at, most, K)
        shown, at = take(own, at, 1, K)
        place = own[at:].ctypes.data
        chosen, begins, lengths, step = block(item, S_start, reverse)
        set_initial(pasts, initial_state, chosen)
        # The gradient of the final cell state enters where the backward recursion begins.
        set_initial(states, dlast_state, chosen)
        for q in range(lengths[0] - 1, -1, -1):
            alive = active_sequences(lengths, q)
            step_product(outputs, alive, sums, prepared.ctypes.data, place)
            for r in range(alive):
                t = begins[r] + q * step
                past = state[t - step] if q > 0 else pasts[r]
                da, di, df, do = sums[r][:K], sums[r][K : 2 * K], sums[r][2 * K : 3 * K], sums[r][3 * K :]
                dh, dc = outputs[r], states[r]
                add_to(dh, dy[t])
                # tanh of the state is computed again, which saves the forward pass a tensor of all rows.
                copy(shown[0], state[t])
                tanh_all(shown[0])
                output_gate_backward(do, dc, dh, shown[0], output_gate[t])
                if peepholes:
                    add_product(dc, do, bias[D + 2 * K :])
                tanh_gate_backward(da, dc, candidate[t], input_gate[t])
                sigmoid_gate_backward(di, dc, input_gate[t], candidate[t])
                sigmoid_gate_backward(df, dc, forget_gate[t], past)
                if initial_state is not None:  # not read by anything else
                    copy(state_delta[t], dc)
                # From here on `dc` is the delta of the previous cell state.
                multiply_by(dc, forget_gate[t])
                if peepholes:
                    add_product(dc, di, bias[D : D + K])
                    add_product(dc, df, bias[D + K : D + 2 * K])
                copy(candidate_delta[t], da)
                copy(input_delta[t], di)
                copy(forget_delta[t], df)
                copy(output_delta[t], do)


@contracted
def output_gate_backward(do, dc, dh, shown, gate):
    """Backward pass of the output gate: from the output's delta to that of the gate's pre-activation.

    The delta of the cell state is accumulated.
    """
    one = gate.dtype.type(1)
    for k in range(do.size):
        do[k] = dh[k] * shown[k] * (gate[k] * (one - gate[k]))
        dc[k] += dh[k] * gate[k] * (one - shown[k] * shown[k])


tuned("lstmemory", "lstmemory_past", items=tile_count, work=numbers, least=MIN_WORK)(take_before)
tuned("lstmemory", "lstmemory_dx", items=tile_count, work=numbers, least=MIN_WORK, arguments={"deltas": DELTAS})(
    pack_gates
)
tuned(
    "lstmemory", "lstmemory_dweight", items=tiles, work=multiplications, least=MIN_WORK, scratch=product_numbers,
    scratch_per_chunk=True,
    arguments={"pasts": "(past, past, past, past)", "deltas": DELTAS},
)(add_gate_products)  # fmt: skip


@tuned("lstmemory", "lstmemory_dbias", items=lambda: GATES, work=numbers, least=MIN_WORK)
@compiled
def lstmemory_dbias(
    first, last, dbias, candidate_delta, input_delta, forget_delta, output_delta, initial_state, state, before_of,
    S_start, accumulate, peepholes
):  # fmt: skip
    """One item per gate: its bias, and its peephole if it has one."""
    T, K = state.shape
    for gate in range(first, last):
        delta = (candidate_delta, input_delta, forget_delta, output_delta)[gate]
        add_rows(dbias[gate * K : (gate + 1) * K], delta, accumulate)
        if peepholes and gate > 0:
            total = dbias[(gate + 3) * K : (gate + 4) * K]
            if not accumulate:
                total[:] = 0
            for t in range(T):
                # As in the forward pass: the output gate sees the current cell state, the others the previous one.
                seen = t if gate == GATES - 1 else before_of[t]
                if seen >= 0:
                    add_product(total, delta[t], state[seen])
                elif initial_state is not None:
                    add_product(total, delta[t], initial_state[np.searchsorted(S_start, t, side="right") - 1])
