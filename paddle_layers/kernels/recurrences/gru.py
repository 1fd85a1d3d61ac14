"""GRU (`grumemory`) in blocks of sequences, with a packed weight.

If the reset gate is applied before the product, a step has two products, since the candidate depends on gates; if
after, one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled, contracted
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
    add_gate_rows,
    pack_gates,
    parts_of,
    product_numbers,
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


def is_usual(act: str, gate_act: str) -> bool:
    """Whether units and gates have their default activations."""
    return (act, gate_act) == ("tanh", "sigmoid")


def resets_first(reset_after: bool) -> bool:
    """Whether the output is reset before the product."""
    return not reset_after


def resets_last(reset_after: bool) -> bool:
    """Whether the output is reset after the product."""
    return reset_after


def multiplications(T: int, K: int) -> int:
    """Number of multiplications with the weight."""
    return GATES * T * K * K


def numbers(T: int, K: int) -> int:
    """Number of elements per row and gate."""
    return GATES * T * K


@also_in_python
def candidate_units(units, reset_after):
    """Columns of the candidate's own product; it is part of that of the gates if the reset follows it."""
    return 0 if reset_after else units


def forward_scratch(S: int, K: int, reset_after: bool) -> int:
    """Scratch elements of an item: weights, pre-activations, outputs, reset outputs."""
    most, new = int(most_of(S)), int(candidate_units(K, reset_after))
    return (K + most) * int(padded(GATES * K - new, 4) + padded(new, 4)) + 2 * most * K


def backward_scratch(S: int, K: int, reset_after: bool) -> int:
    """Scratch elements of an item: weights, previous outputs, deltas of outputs, reset outputs and pre-activations."""
    most = int(most_of(S))
    return (GATES * K + 2 * most) * int(padded(K, 4)) + 5 * most * K


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
    "grumemory", "grumemory_y",
    items=blocks, scratch=forward_scratch, work=multiplications, least=MIN_WORK, when=is_usual,
)  # fmt: skip
@compiled
def grumemory_y(
    first, last, y, update, reset, recalled, candidate, x, initial, weight, bias, scratch, S_start, reverse,
    reset_after,
):  # fmt: skip
    K, size = y.shape[1], y.itemsize
    most, new_units = most_of(S_start.size - 1), candidate_units(K, reset_after)
    wide = GATES * K - new_units
    for item in range(first, last):
        own = part(scratch, item, blocks_of(S_start.size - 1))
        # Packed once per block of sequences and read in every step. BLAS would pack the weight again in every step,
        # which for few rows costs more than the product.
        gate_panels, at = take(own, 0, K, padded(wide, size))
        new_panels, at = take(own, at, K, padded(new_units, size))
        gate_sums, at = take(own, at, most, padded(wide, size))
        new_sums, at = take(own, at, most, padded(new_units, size))
        outputs, at = take(own, at, most, K)
        recall, at = take(own, at, most, K)
        # If the reset precedes the product, the candidate's weight is packed separately: its product needs the reset
        # gate of the same step.
        pack(gate_panels.ravel(), weight, 0, wide, False)
        pack(new_panels.ravel(), weight, wide, GATES * K, False)
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
                if reset_after:
                    # The candidate's recurrent bias is inside the reset, so that it needs a separate bias (as in cuDNN
                    # and PyTorch).
                    new = gate_sums[r][2 * K : 3 * K]
                    add_to(new, bias[3 * K :])
                    copy(recalled[t], new)
                    multiply_by(new, reset[t])
                    new_output(y[t], candidate[t], outputs[r], new, x[t][2 * K :], bias[2 * K : 3 * K], update[t])
                else:
                    multiply(recall[r], outputs[r], reset[t])
                    copy(recalled[t], recall[r])
            if not reset_after:
                panel_product(new_sums, alive, recall, new_panels.ravel(), K)
                for r in range(alive):
                    t = begins[r] + q * step
                    new = new_sums[r][:K]
                    new_output(y[t], candidate[t], outputs[r], new, x[t][2 * K :], bias[2 * K : 3 * K], update[t])


@compiled
def new_output(y, candidate, output, new, x, bias, update):
    """Candidate and output of a step, of which `new` is the recurrent part."""
    add_to(new, x)
    add_to(new, bias)
    tanh_all(new)
    copy(candidate, new)
    blend(output, update, new)
    copy(y, output)


@tuned(
    "grumemory", "grumemory_deltas",
    items=blocks, scratch=backward_scratch, work=multiplications, least=MIN_WORK, when=is_usual,
)  # fmt: skip
@compiled
def grumemory_deltas(
    first, last, output_delta, recalled_delta, update_delta, reset_delta, candidate_delta,
    y, dy, initial, update, reset, recalled, candidate, weight, scratch, S_start, reverse, reset_after,
):  # fmt: skip
    K, size = y.shape[1], y.itemsize
    most, new_units = most_of(S_start.size - 1), candidate_units(K, reset_after)
    wide = GATES * K - new_units
    for item in range(first, last):
        own = part(scratch, item, blocks_of(S_start.size - 1))
        gate_panels, at = take(own, 0, wide, padded(K, size))
        new_panels, at = take(own, at, new_units, padded(K, size))
        outputs, at = take(own, at, most, padded(K, size))
        recalls, at = take(own, at, most, padded(K, size))
        deltas, at = take(own, at, most, wide)
        new_deltas, at = take(own, at, most, new_units)
        carried, at = take(own, at, most, K)
        pasts, at = take(own, at, most, K)
        pack(gate_panels.ravel(), weight, 0, wide, True)
        pack(new_panels.ravel(), weight, wide, GATES * K, True)
        chosen, begins, lengths, step = block(item, S_start, reverse)
        set_initial(pasts, initial, chosen)
        for q in range(lengths[0] - 1, -1, -1):
            alive = active_sequences(lengths, q)
            # The deltas of the following step; zeros at the last one, since `take` clears the buffer.
            panel_product(outputs, alive, deltas, gate_panels.ravel(), wide)
            for r in range(alive):
                t = begins[r] + q * step
                past = y[t - step] if q > 0 else pasts[r]
                dh, new = outputs[r][:K], candidate_delta[t]
                add_to(dh, dy[t])
                # `carried` has the other paths to the previous output: through 1 - update, and through the reset gate.
                add_to(dh, carried[r])
                if initial is not None:  # not read by anything else
                    copy(output_delta[t], dh)
                update_gate_backward(deltas[r][:K], carried[r], dh, update[t], candidate[t], past)
                tanh_gate_backward(new, dh, candidate[t], update[t])
                copy(update_delta[t], deltas[r][:K])
                if reset_after:
                    sigmoid_gate_backward(deltas[r][K : 2 * K], new, reset[t], recalled[t])
                    multiply(deltas[r][2 * K :], new, reset[t])
                    copy(recalled_delta[t], deltas[r][2 * K :])
                    copy(reset_delta[t], deltas[r][K : 2 * K])
                else:
                    copy(new_deltas[r], new)
            if not reset_after:
                panel_product(recalls, alive, new_deltas, new_panels.ravel(), K)
                for r in range(alive):
                    t = begins[r] + q * step
                    past = y[t - step] if q > 0 else pasts[r]
                    sigmoid_gate_backward(deltas[r][K:], recalls[r][:K], reset[t], past)
                    if initial is not None:
                        copy(recalled_delta[t], recalls[r][:K])
                    add_product(carried[r], recalls[r][:K], reset[t])
                    copy(reset_delta[t], deltas[r][K:])


@contracted
def update_gate_backward(delta, carried, dh, gate, new, past):
    """Backward pass of the update gate: from the output's delta to the gate's and the previous output's."""
    one = gate.dtype.type(1)
    for k in range(delta.size):
        delta[k] = dh[k] * (new[k] - past[k]) * (gate[k] * (one - gate[k]))
        carried[k] = dh[k] * (one - gate[k])


def register_gradients(
    layer: str,
    past: str,
    row_tiles: Callable[..., int],
    multiplications: Callable[..., int],
    numbers: Callable[..., int],
    least: int,
) -> None:
    """Registers the gradients of the inputs and parameters of a GRU, of which `past` is the previous output."""
    candidate, recalled = "update_delta, reset_delta, candidate_delta", "update_delta, reset_delta, recalled_delta"
    inputs: dict[str, Any] = {"items": row_tiles, "work": numbers, "least": least}
    tuned(layer, f"{layer}_dx", **inputs, arguments={"deltas": f"({candidate})"})(pack_gates)
    # The candidate's product reads the reset output, or its result is reset and has its own delta and bias.
    for when, pasts, deltas, biases in (
        (resets_first, f"({past}, {past}, recalled)", f"({candidate})", f"({candidate})"),
        (resets_last, f"({past}, {past}, {past})", f"({recalled})", f"({candidate}, recalled_delta)"),
    ):
        weights: dict[str, Any] = {"items": tiles, "work": multiplications, "least": least, "when": when}
        weights |= {"scratch": product_numbers, "scratch_per_chunk": True}
        tuned(layer, f"{layer}_dweight", **weights, arguments={"pasts": pasts, "deltas": deltas})(add_gate_products)
        bias: dict[str, Any] = {"items": lambda B, K: B // K, "work": numbers, "least": least, "when": when}
        tuned(layer, f"{layer}_dbias", **bias, arguments={"deltas": biases})(add_gate_rows)


tuned("grumemory", "grumemory_past", items=tile_count, work=numbers, least=MIN_WORK)(take_before)
register_gradients("grumemory", "past", tile_count, multiplications, numbers, MIN_WORK)
