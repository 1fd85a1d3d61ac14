"""grumemory that resets after the product: one product a step, as the candidate does not wait for the gates."""

from __future__ import annotations

from numba import njit

from .gate_gradients import add_products, add_rows, parts_of
from .gated_units import GATES, WORTH_IT, blend, numbers, products, through_update, tiles
from .gates import add_to, copy, multiply, multiply_by, sigmoid_all, tanh_all, through_gate, through_tanh
from .panels import pack, padded, panel_product
from .sequences import block, blocks, blocks_of, most_of, part, still_there, take
from .tuned import tuned


def is_usual(act: str, gate_act: str, reset_after: bool) -> bool:
    """The functions that units and gates have by default, and PyTorch's order of reset and product."""
    return (act, gate_act, reset_after) == ("tanh", "sigmoid", True)


def resets_last(reset_after: bool) -> bool:
    """Whether the output is reset after the product."""
    return reset_after


def forward_scratch(S: int, K: int) -> int:
    """Numbers that an item needs: weights, sums, outputs."""
    most = int(most_of.py_func(S))
    return (K + most) * int(padded.py_func(GATES * K, 4)) + most * K


def backward_scratch(S: int, K: int) -> int:
    """Numbers that an item needs: weights, slopes of outputs and of the sums, what is carried, a row of zeros."""
    most = int(most_of.py_func(S))
    return (GATES * K + most) * int(padded.py_func(K, 4)) + ((GATES + 1) * most + 1) * K


@tuned("grumemory", "grumemory_y", items=blocks, scratch=forward_scratch, work=products, least=WORTH_IT, when=is_usual)
@njit(error_model="numpy")
def grumemory_y(
    first, last, y, update, reset, recalled, candidate, x, weight, bias, scratch, S_start, reverse
):  # fmt: skip
    K, size = y.shape[1], y.itemsize
    most = most_of(S_start.size - 1)
    for item in range(first, last):
        own = part(scratch, item, blocks_of(S_start.size - 1))
        panels, at = take(own, 0, K, padded(3 * K, size))
        sums, at = take(own, at, most, padded(3 * K, size))
        outputs, at = take(own, at, most, K)
        pack(panels.ravel(), weight, False)
        begins, lengths, step = block(item, S_start, reverse)
        for q in range(lengths[0]):
            alive = still_there(lengths, q)
            panel_product(sums, alive, outputs, panels.ravel(), K)
            for r in range(alive):
                t = begins[r] + q * step
                gates, new = sums[r][: 2 * K], sums[r][2 * K : 3 * K]
                add_to(gates, x[t][: 2 * K])
                add_to(gates, bias[: 2 * K])
                sigmoid_all(gates)
                copy(update[t], gates[:K])
                copy(reset[t], gates[K:])
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
    "grumemory", "grumemory_slopes",
    items=blocks, scratch=backward_scratch, work=products, least=WORTH_IT, when=is_usual,
)  # fmt: skip
@njit(error_model="numpy")
def grumemory_slopes(
    first, last, update_slope, reset_slope, recalled_slope, candidate_slope,
    y, dy, update, reset, recalled, candidate, weight, scratch, S_start, reverse,
):  # fmt: skip
    K, size = y.shape[1], y.itemsize
    most = most_of(S_start.size - 1)
    for item in range(first, last):
        own = part(scratch, item, blocks_of(S_start.size - 1))
        panels, at = take(own, 0, 3 * K, padded(K, size))
        outputs, at = take(own, at, most, padded(K, size))
        slopes, at = take(own, at, most, 3 * K)
        carried, at = take(own, at, most, K)
        nothing, at = take(own, at, 1, K)
        pack(panels.ravel(), weight, True)
        begins, lengths, step = block(item, S_start, reverse)
        for q in range(lengths[0] - 1, -1, -1):
            alive = still_there(lengths, q)
            panel_product(outputs, alive, slopes, panels.ravel(), 3 * K)
            for r in range(alive):
                t = begins[r] + q * step
                past = y[t - step] if q > 0 else nothing[0]
                dh, own_slopes, new = outputs[r][:K], slopes[r], candidate_slope[t]
                add_to(dh, dy[t])
                add_to(dh, carried[r])
                through_update(own_slopes[:K], carried[r], dh, update[t], candidate[t], past)
                through_tanh(new, dh, candidate[t], update[t])
                through_gate(own_slopes[K : 2 * K], new, reset[t], recalled[t])
                multiply(own_slopes[2 * K :], new, reset[t])
                copy(update_slope[t], own_slopes[:K])
                copy(reset_slope[t], own_slopes[K : 2 * K])
                copy(recalled_slope[t], own_slopes[2 * K :])


@tuned("grumemory", "grumemory_dweight", items=tiles, work=products, least=WORTH_IT, when=resets_last)
@njit(error_model="numpy")
def grumemory_dweight(first, last, dweight, past, update_slope, reset_slope, recalled_slope, accumulate):
    parts = parts_of(past.shape[1])
    for tile in range(first, last):
        slope = (update_slope, reset_slope, recalled_slope)[tile // parts]
        add_products(dweight, tile // parts, tile % parts, past, slope, accumulate)


@tuned("grumemory", "grumemory_dbias", items=lambda: GATES + 1, work=numbers, least=WORTH_IT, when=resets_last)
@njit(error_model="numpy")
def grumemory_dbias(
    first, last, dbias, update_slope, reset_slope, recalled_slope, candidate_slope, accumulate
):  # fmt: skip
    K = update_slope.shape[1]
    for gate in range(first, last):
        slope = (update_slope, reset_slope, candidate_slope, recalled_slope)[gate]
        add_rows(dbias[gate * K : (gate + 1) * K], slope, accumulate)
