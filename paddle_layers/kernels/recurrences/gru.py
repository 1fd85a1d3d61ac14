"""GRU (`grumemory`) in blocks of sequences, with a packed weight.

If the reset gate is applied before the product, a step has two products, since the candidate depends on gates; if
after, one.
"""

from __future__ import annotations

from paddle_layers.kernels.primitives.compile_options import compiled, contracted
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
    add_products,
    add_rows,
    pack_gates,
    parts_of,
    sigmoid_gate_backward,
    take_before,
    tanh_gate_backward,
    tile_count,
)
from .packed_gemm import pack, padded, panel_product
from .sequence_batching import active_sequences, block, blocks, blocks_of, most_of, set_initial

MIN_WORK = 1 << 16
"""Minimum number of multiplications for the tuned kernel; below it, the gain does not repay the compile time."""
GATES = 3


def is_usual(act: str, gate_act: str, reset_after: bool) -> bool:
    """Whether units and gates have their default activations, and reset and product are in Paddle's order."""
    return (act, gate_act, reset_after) == ("tanh", "sigmoid", False)


def resets_first(reset_after: bool) -> bool:
    """Whether the output is reset before the product."""
    return not reset_after


def multiplications(T: int, K: int) -> int:
    """Number of multiplications with the weight."""
    return GATES * T * K * K


def numbers(T: int, K: int) -> int:
    """Number of elements per row and gate."""
    return GATES * T * K


def forward_scratch(S: int, K: int) -> int:
    """Scratch elements of an item: weights, pre-activations, outputs, reset outputs."""
    most = int(most_of(S))
    return (K + most) * int(padded(2 * K, 4) + padded(K, 4)) + 2 * most * K


def backward_scratch(S: int, K: int) -> int:
    """Scratch elements of an item: weights, previous outputs, deltas of outputs, reset outputs and pre-activations."""
    most = int(most_of(S))
    return (3 * K + 2 * most) * int(padded(K, 4)) + 5 * most * K


def tiles(K: int) -> int:
    """Number of tiles of the weight gradient."""
    return GATES * int(parts_of(K))


@contracted
def blend(output, share, new):
    """`output += share * (new - output)`, exact for a share of 1."""
    one = output.dtype.type(1)
    for k in range(output.size):
        # Not `output + share * (new - output)`, which for a share of 1 may miss `new` by a rounding error.
        output[k] = (one - share[k]) * output[k] + share[k] * new[k]


@tuned(
    "grumemory",
    "grumemory_y",
    items=blocks,
    scratch=forward_scratch,
    work=multiplications,
    least=MIN_WORK,
    when=is_usual,
)
@compiled
def grumemory_y(
    first, last, y, update, reset, recalled, candidate, x, initial, weight, bias, scratch, S_start, reverse
):  # fmt: skip
    K, size = y.shape[1], y.itemsize
    most = most_of(S_start.size - 1)
    for item in range(first, last):
        own = part(scratch, item, blocks_of(S_start.size - 1))
        # Packed once per block of sequences and read in every step. BLAS would pack the weight again in every step,
        # which for few rows costs more than the product.
        gate_panels, at = take(own, 0, K, padded(2 * K, size))
        new_panels, at = take(own, at, K, padded(K, size))
        gate_sums, at = take(own, at, most, padded(2 * K, size))
        new_sums, at = take(own, at, most, padded(K, size))
        outputs, at = take(own, at, most, K)
        recall, at = take(own, at, most, K)
        # The candidate's weight is packed separately: its product needs the reset gate of the same step.
        pack(gate_panels.ravel(), weight[:, : 2 * K], False)
        pack(new_panels.ravel(), weight[:, 2 * K :], False)
        chosen, begins, lengths, step = block(item, S_start, reverse)
        set_initial(outputs, initial, chosen)
        for q in range(lengths[0]):
            alive = active_sequences(lengths, q)
            panel_product(gate_sums, alive, outputs, gate_panels.ravel(), K)
            for r in range(alive):
                t = begins[r] + q * step
                gates = gate_sums[r][: 2 * K]
                add_to(gates, x[t][: 2 * K])
                add_to(gates, bias[: 2 * K])
                sigmoid_all(gates)
                copy(update[t], gates[:K])
                copy(reset[t], gates[K:])
                multiply(recall[r], outputs[r], reset[t])
                copy(recalled[t], recall[r])
            panel_product(new_sums, alive, recall, new_panels.ravel(), K)
            for r in range(alive):
                t = begins[r] + q * step
                new = new_sums[r][:K]
                add_to(new, x[t][2 * K :])
                add_to(new, bias[2 * K :])
                tanh_all(new)
                copy(candidate[t], new)
                blend(outputs[r], update[t], new)
                copy(y[t], outputs[r])


@tuned(
    "grumemory", "grumemory_deltas",
    items=blocks, scratch=backward_scratch, work=multiplications, least=MIN_WORK, when=is_usual,
)  # fmt: skip
@compiled
def grumemory_deltas(
    first, last, output_delta, recalled_delta, update_delta, reset_delta, candidate_delta,
    y, dy, initial, update, reset, candidate, weight, scratch, S_start, reverse,
):  # fmt: skip
    K, size = y.shape[1], y.itemsize
    most = most_of(S_start.size - 1)
    for item in range(first, last):
        own = part(scratch, item, blocks_of(S_start.size - 1))
        gate_panels, at = take(own, 0, 2 * K, padded(K, size))
        new_panels, at = take(own, at, K, padded(K, size))
        outputs, at = take(own, at, most, padded(K, size))
        recalls, at = take(own, at, most, padded(K, size))
        gate_deltas, at = take(own, at, most, 2 * K)
        new_deltas, at = take(own, at, most, K)
        carried, at = take(own, at, most, K)
        pasts, at = take(own, at, most, K)
        pack(gate_panels.ravel(), weight[:, : 2 * K], True)
        pack(new_panels.ravel(), weight[:, 2 * K :], True)
        chosen, begins, lengths, step = block(item, S_start, reverse)
        set_initial(pasts, initial, chosen)
        for q in range(lengths[0] - 1, -1, -1):
            alive = active_sequences(lengths, q)
            # The deltas of the following step; zeros at the last one, since `take` clears the buffer.
            panel_product(outputs, alive, gate_deltas, gate_panels.ravel(), 2 * K)
            for r in range(alive):
                t = begins[r] + q * step
                past = y[t - step] if q > 0 else pasts[r]
                dh = outputs[r][:K]
                add_to(dh, dy[t])
                # `carried` has the other paths to the previous output: through 1 - update, and through the reset gate.
                add_to(dh, carried[r])
                if initial is not None:  # not read by anything else
                    copy(output_delta[t], dh)
                update_gate_backward(gate_deltas[r][:K], carried[r], dh, update[t], candidate[t], past)
                tanh_gate_backward(new_deltas[r], dh, candidate[t], update[t])
                copy(update_delta[t], gate_deltas[r][:K])
                copy(candidate_delta[t], new_deltas[r])
            panel_product(recalls, alive, new_deltas, new_panels.ravel(), K)
            for r in range(alive):
                t = begins[r] + q * step
                past = y[t - step] if q > 0 else pasts[r]
                sigmoid_gate_backward(gate_deltas[r][K:], recalls[r][:K], reset[t], past)
                if initial is not None:
                    copy(recalled_delta[t], recalls[r][:K])
                add_product(carried[r], recalls[r][:K], reset[t])
                copy(reset_delta[t], gate_deltas[r][K:])


@contracted
def update_gate_backward(delta, carried, dh, gate, new, past):
    """Backward pass of the update gate: from the output's delta to the gate's and the previous output's."""
    one = gate.dtype.type(1)
    for k in range(delta.size):
        delta[k] = dh[k] * (new[k] - past[k]) * (gate[k] * (one - gate[k]))
        carried[k] = dh[k] * (one - gate[k])


@tuned("grumemory", "grumemory_past", items=tile_count, work=numbers, least=MIN_WORK)
@compiled
def grumemory_past(first, last, past, y, initial, before_of, S_start):
    take_before(first, last, past, y, initial, before_of, S_start)


@tuned("grumemory", "grumemory_dx", items=tile_count, work=numbers, least=MIN_WORK)
@compiled
def grumemory_dx(first, last, dx, update_delta, reset_delta, candidate_delta, accumulate):
    pack_gates(first, last, dx, (update_delta, reset_delta, candidate_delta), accumulate)


@tuned("grumemory", "grumemory_dweight", items=tiles, work=multiplications, least=MIN_WORK, when=resets_first)
@compiled
def grumemory_dweight(
    first, last, dweight, past, recalled, update_delta, reset_delta, candidate_delta, accumulate
):  # fmt: skip
    pairs = ((past, update_delta), (past, reset_delta), (recalled, candidate_delta))
    parts = parts_of(past.shape[1])
    for tile in range(first, last):
        left, delta = pairs[tile // parts]
        add_products(dweight, tile // parts, tile % parts, left, delta, accumulate)


@tuned("grumemory", "grumemory_dbias", items=lambda: GATES, work=numbers, least=MIN_WORK, when=resets_first)
@compiled
def grumemory_dbias(first, last, dbias, update_delta, reset_delta, candidate_delta, accumulate):
    K = update_delta.shape[1]
    for gate in range(first, last):
        delta = (update_delta, reset_delta, candidate_delta)[gate]
        add_rows(dbias[gate * K : (gate + 1) * K], delta, accumulate)


# ---- reset after the product


def is_usual_after(act: str, gate_act: str, reset_after: bool) -> bool:
    """Whether units and gates have their default activations, and reset and product are in PyTorch's order."""
    return (act, gate_act, reset_after) == ("tanh", "sigmoid", True)


def resets_last(reset_after: bool) -> bool:
    """Whether the output is reset after the product."""
    return reset_after


def forward_scratch_after(S: int, K: int) -> int:
    """Scratch elements of an item: weights, pre-activations, outputs."""
    most = int(most_of(S))
    return (K + most) * int(padded(GATES * K, 4)) + most * K


def backward_scratch_after(S: int, K: int) -> int:
    """Scratch elements of an item: weights, previous outputs, deltas (outputs, pre-activations, carried)."""
    most = int(most_of(S))
    return (GATES * K + most) * int(padded(K, 4)) + (GATES + 2) * most * K


@tuned(
    "grumemory",
    "grumemory_y",
    items=blocks,
    scratch=forward_scratch_after,
    work=multiplications,
    least=MIN_WORK,
    when=is_usual_after,
)
@compiled
def grumemory_y_after(
    first, last, y, update, reset, recalled, candidate, x, initial, weight, bias, scratch, S_start, reverse
):  # fmt: skip
    K, size = y.shape[1], y.itemsize
    most = most_of(S_start.size - 1)
    for item in range(first, last):
        own = part(scratch, item, blocks_of(S_start.size - 1))
        panels, at = take(own, 0, K, padded(3 * K, size))
        sums, at = take(own, at, most, padded(3 * K, size))
        outputs, at = take(own, at, most, K)
        pack(panels.ravel(), weight, False)
        chosen, begins, lengths, step = block(item, S_start, reverse)
        set_initial(outputs, initial, chosen)
        for q in range(lengths[0]):
            alive = active_sequences(lengths, q)
            panel_product(sums, alive, outputs, panels.ravel(), K)
            for r in range(alive):
                t = begins[r] + q * step
                gates, new = sums[r][: 2 * K], sums[r][2 * K : 3 * K]
                add_to(gates, x[t][: 2 * K])
                add_to(gates, bias[: 2 * K])
                sigmoid_all(gates)
                copy(update[t], gates[:K])
                copy(reset[t], gates[K:])
                # The candidate's recurrent bias is inside the reset, so that it needs a separate bias (as in cuDNN and
                # PyTorch).
                add_to(new, bias[3 * K :])
                copy(recalled[t], new)
                multiply_by(new, reset[t])
                add_to(new, x[t][2 * K :])
                add_to(new, bias[2 * K : 3 * K])
                tanh_all(new)
                copy(candidate[t], new)
                blend(outputs[r], update[t], new)
                copy(y[t], outputs[r])


@tuned(
    "grumemory", "grumemory_deltas",
    items=blocks, scratch=backward_scratch_after, work=multiplications, least=MIN_WORK, when=is_usual_after,
)  # fmt: skip
@compiled
def grumemory_deltas_after(
    first, last, output_delta, update_delta, reset_delta, recalled_delta, candidate_delta,
    y, dy, initial, update, reset, recalled, candidate, weight, scratch, S_start, reverse,
):  # fmt: skip
    K, size = y.shape[1], y.itemsize
    most = most_of(S_start.size - 1)
    for item in range(first, last):
        own = part(scratch, item, blocks_of(S_start.size - 1))
        panels, at = take(own, 0, 3 * K, padded(K, size))
        outputs, at = take(own, at, most, padded(K, size))
        deltas, at = take(own, at, most, 3 * K)
        carried, at = take(own, at, most, K)
        pasts, at = take(own, at, most, K)
        pack(panels.ravel(), weight, True)
        chosen, begins, lengths, step = block(item, S_start, reverse)
        set_initial(pasts, initial, chosen)
        for q in range(lengths[0] - 1, -1, -1):
            alive = active_sequences(lengths, q)
            panel_product(outputs, alive, deltas, panels.ravel(), 3 * K)
            for r in range(alive):
                t = begins[r] + q * step
                past = y[t - step] if q > 0 else pasts[r]
                dh, own_deltas, new = outputs[r][:K], deltas[r], candidate_delta[t]
                add_to(dh, dy[t])
                add_to(dh, carried[r])
                if initial is not None:  # not read by anything else
                    copy(output_delta[t], dh)
                update_gate_backward(own_deltas[:K], carried[r], dh, update[t], candidate[t], past)
                tanh_gate_backward(new, dh, candidate[t], update[t])
                sigmoid_gate_backward(own_deltas[K : 2 * K], new, reset[t], recalled[t])
                multiply(own_deltas[2 * K :], new, reset[t])
                copy(update_delta[t], own_deltas[:K])
                copy(reset_delta[t], own_deltas[K : 2 * K])
                copy(recalled_delta[t], own_deltas[2 * K :])


@tuned("grumemory", "grumemory_dweight", items=tiles, work=multiplications, least=MIN_WORK, when=resets_last)
@compiled
def grumemory_dweight_after(first, last, dweight, past, update_delta, reset_delta, recalled_delta, accumulate):
    parts = parts_of(past.shape[1])
    for tile in range(first, last):
        delta = (update_delta, reset_delta, recalled_delta)[tile // parts]
        add_products(dweight, tile // parts, tile % parts, past, delta, accumulate)


@tuned("grumemory", "grumemory_dbias", items=lambda: GATES + 1, work=numbers, least=MIN_WORK, when=resets_last)
@compiled
def grumemory_dbias_after(
    first, last, dbias, update_delta, reset_delta, recalled_delta, candidate_delta, accumulate
):  # fmt: skip
    K = update_delta.shape[1]
    for gate in range(first, last):
        delta = (update_delta, reset_delta, candidate_delta, recalled_delta)[gate]
        add_rows(dbias[gate * K : (gate + 1) * K], delta, accumulate)
