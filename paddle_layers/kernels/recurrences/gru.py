"""GRU (`grumemory`) in blocks of sequences, with a packed weight.

If the reset gate is applied before the product, a step has two products, since the candidate depends on gates; if
after, one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled, contracted
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
    add_gate_rows,
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


def forward_scratch(S: int, K: int) -> int:
    """Scratch elements of an item: pre-activations, outputs, reset outputs, and those of a product."""
    return int(most_of(S)) * (GATES + 2) * K + int(tail_numbers())


def backward_scratch(S: int, K: int) -> int:
    """Scratch elements of an item: previous outputs, deltas (outputs, reset outputs, pre-activations); a product."""
    return int(most_of(S)) * (GATES + 4) * K + int(tail_numbers())


def forward_panels(K: int, reset_after: bool) -> int:
    """Elements of the packed weight: the candidate's part is separate if it has its own product."""
    new = int(candidate_units(K, reset_after))
    return int(panel_numbers(K, GATES * K - new) + panel_numbers(K, new))


def backward_panels(K: int) -> int:
    """Elements of its packed transpose."""
    return int(panel_numbers(GATES * K, K))


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


# If the reset precedes the product, the candidate's weight is packed separately: its product needs the reset gate of
# the same step.
PACKED: dict[str, Any] = {"items": packing_items, "work": multiplications, "least": MIN_WORK, "when": is_usual}
COLUMNS = {"wide": "(2 + reset_after) * K"}

tuned(
    "grumemory", "grumemory_y", **PACKED, scratch=forward_scratch, prepared=forward_panels,
    arguments={**COLUMNS, "transposed": "0"},
)(pack)  # fmt: skip


@tuned("grumemory", "grumemory_y", items=blocks, after=pack)
@compiled
def grumemory_y(
    first, last, y, update, reset, recalled, candidate, x, initial, prepared, bias, scratch, S_start, reverse,
    reset_after,
):  # fmt: skip
    K = y.shape[1]
    most, new_units = most_of(S_start.size - 1), candidate_units(K, reset_after)
    wide = GATES * K - new_units
    for item in range(first, last):
        own = part(scratch, item, blocks_of(S_start.size - 1))
        gate_sums, at = take(own, 0, most, wide)
        new_sums, at = take(own, at, most, new_units)
        outputs, at = take(own, at, most, K)
        recall, at = take(own, at, most, K)
        place = own[at:].ctypes.data
        chosen, begins, lengths, step = block(item, S_start, reverse)
        set_initial(outputs, initial, chosen)
        for q in range(lengths[0]):
            alive = active_sequences(lengths, q)
            new_panels = step_product(gate_sums, alive, outputs, prepared.ctypes.data, place)
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
                    new = gate_sums[r][2 * K :]
                    add_to(new, bias[3 * K :])
                    copy(recalled[t], new)
                    multiply_by(new, reset[t])
                    new_output(y[t], candidate[t], outputs[r], new, x[t][2 * K :], bias[2 * K : 3 * K], update[t])
                else:
                    multiply(recall[r], outputs[r], reset[t])
                    copy(recalled[t], recall[r])
            if not reset_after:
                step_product(new_sums, alive, recall, new_panels, place)
                for r in range(alive):
                    t = begins[r] + q * step
                    new = new_sums[r]
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


tuned(
    "grumemory", "grumemory_deltas", **PACKED, scratch=backward_scratch, prepared=backward_panels,
    arguments={**COLUMNS, "transposed": "1"},
)(pack)  # fmt: skip


@tuned("grumemory", "grumemory_deltas", items=blocks, after=pack)
@compiled
def grumemory_deltas(
    first, last, output_delta, recalled_delta, update_delta, reset_delta, candidate_delta,
    y, dy, initial, update, reset, recalled, candidate, prepared, scratch, S_start, reverse, reset_after,
):  # fmt: skip
    K = y.shape[1]
    most, new_units = most_of(S_start.size - 1), candidate_units(K, reset_after)
    wide = GATES * K - new_units
    for item in range(first, last):
        own = part(scratch, item, blocks_of(S_start.size - 1))
        outputs, at = take(own, 0, most, K)
        recalls, at = take(own, at, most, K)
        deltas, at = take(own, at, most, wide)
        new_deltas, at = take(own, at, most, new_units)
        carried, at = take(own, at, most, K)
        pasts, at = take(own, at, most, K)
        place = own[at:].ctypes.data
        chosen, begins, lengths, step = block(item, S_start, reverse)
        set_initial(pasts, initial, chosen)
        for q in range(lengths[0] - 1, -1, -1):
            alive = active_sequences(lengths, q)
            # The deltas of the following step; zeros at the last one, since `take` clears the buffer.
            new_panels = step_product(outputs, alive, deltas, prepared.ctypes.data, place)
            for r in range(alive):
                t = begins[r] + q * step
                past = y[t - step] if q > 0 else pasts[r]
                dh, new = outputs[r], candidate_delta[t]
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
                step_product(recalls, alive, new_deltas, new_panels, place)
                for r in range(alive):
                    t = begins[r] + q * step
                    past = y[t - step] if q > 0 else pasts[r]
                    sigmoid_gate_backward(deltas[r][K:], recalls[r], reset[t], past)
                    if initial is not None:
                        copy(recalled_delta[t], recalls[r])
                    add_product(carried[r], recalls[r], reset[t])
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
