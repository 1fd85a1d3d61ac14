"""Simple RNN (`recurrent`) in blocks of sequences, with a packed weight."""

from __future__ import annotations

from typing import Any

from paddle_layers.kernels.primitives.compile_options import compiled, contracted
from paddle_layers.kernels.primitives.packed_panels import packing_items, panel_numbers, tail_numbers
from paddle_layers.kernels.primitives.scratch import part, take
from paddle_layers.kernels.primitives.vector_functions import add_to, copy, tanh_all
from paddle_layers.kernels.tuned import tuned

from .gates import add_gate_products, add_gate_rows, parts_of, product_numbers, take_before, tile_count
from .packed_gemm import pack, step_product
from .sequence_batching import active_sequences, block, blocks, blocks_of, most_of, set_initial

MIN_WORK = 1 << 16
"""Minimum number of multiplications for the tuned kernel; below it, the gain does not repay the compile time."""


def is_tanh(act: str) -> bool:
    """Whether units have their default activation."""
    return act == "tanh"


def multiplications(T: int, K: int) -> int:
    """Number of multiplications with the weight."""
    return T * K * K


def numbers(T: int, K: int) -> int:
    """Number of elements of the output."""
    return T * K


def scratch_numbers(S: int, K: int) -> int:
    """Scratch elements of an item: pre-activations, rows of the previous step, and those of a product."""
    return int(most_of(S)) * 2 * K + int(tail_numbers())


def weight_numbers(K: int) -> int:
    """Elements of the packed weight, and of its packed transpose."""
    return int(panel_numbers(K, K))


def tiles(K: int) -> int:
    """Number of tiles of the weight gradient."""
    return int(parts_of(K))


PACKED: dict[str, Any] = {
    "items": packing_items, "scratch": scratch_numbers, "prepared": weight_numbers,
    "work": multiplications, "least": MIN_WORK, "when": is_tanh,
}  # fmt: skip

tuned("recurrent", "recurrent_y", **PACKED, arguments={"wide": "K", "transposed": "0"})(pack)


@tuned("recurrent", "recurrent_y", items=blocks, after=pack)
@compiled
def recurrent_y(first, last, y, x, initial, prepared, bias, scratch, S_start, reverse):
    K = y.shape[1]
    most = most_of(S_start.size - 1)
    for item in range(first, last):
        own = part(scratch, item, blocks_of(S_start.size - 1))
        sums, at = take(own, 0, most, K)
        outputs, at = take(own, at, most, K)
        place = own[at:].ctypes.data
        chosen, begins, lengths, step = block(item, S_start, reverse)
        set_initial(outputs, initial, chosen)
        for q in range(lengths[0]):
            alive = active_sequences(lengths, q)
            step_product(sums, alive, outputs, prepared.ctypes.data, place)
            for r in range(alive):
                t = begins[r] + q * step
                output = outputs[r]
                copy(output, sums[r])
                add_to(output, x[t])
                add_to(output, bias)
                tanh_all(output)
                copy(y[t], output)


tuned("recurrent", "recurrent_delta", **PACKED, arguments={"wide": "K", "transposed": "1"})(pack)


@tuned("recurrent", "recurrent_delta", items=blocks, after=pack)
@compiled
def recurrent_delta(first, last, delta, y, dy, prepared, scratch, S_start, reverse):
    K = y.shape[1]
    most = most_of(S_start.size - 1)
    for item in range(first, last):
        own = part(scratch, item, blocks_of(S_start.size - 1))
        outputs, at = take(own, 0, most, K)
        sums, at = take(own, at, most, K)
        place = own[at:].ctypes.data
        _, begins, lengths, step = block(item, S_start, reverse)
        for q in range(lengths[0] - 1, -1, -1):
            alive = active_sequences(lengths, q)
            step_product(outputs, alive, sums, prepared.ctypes.data, place)
            for r in range(alive):
                t = begins[r] + q * step
                tanh_backward(sums[r], outputs[r], dy[t], y[t])
                copy(delta[t], sums[r])


@contracted
def tanh_backward(delta, later, dy, y):
    """Delta of a unit's pre-activation, from those of its output in this row and in later ones."""
    one = y.dtype.type(1)
    for k in range(delta.size):
        # The derivative of tanh from its output, so that pre-activations need not be kept.
        delta[k] = (dy[k] + later[k]) * (one - y[k] * y[k])


tuned("recurrent", "recurrent_past", items=tile_count, work=numbers, least=MIN_WORK)(take_before)
tuned(
    "recurrent", "recurrent_dweight", items=tiles, work=multiplications, least=MIN_WORK, scratch=product_numbers,
    scratch_per_chunk=True,
    arguments={"pasts": "(past,)", "deltas": "(delta,)"},
)(add_gate_products)  # fmt: skip
tuned("recurrent", "recurrent_dbias", items=lambda: 1, work=numbers, least=MIN_WORK, arguments={"deltas": "(delta,)"})(
    add_gate_rows
)
