"""LSTM cell (`lstm_step`): vectorized gates."""

from __future__ import annotations

from paddle_layers.kernels.constants import MAX_TILES
from paddle_layers.kernels.primitives.compile_options import compiled
from paddle_layers.kernels.primitives.vector_functions import add_product, add_to, copy, multiply, sigmoid_all, tanh_all
from paddle_layers.kernels.tuned import tuned

from .gates import add_rows, pack_gates, sigmoid_gate_backward, tanh_gate_backward, tile_count
from .lstm import DELTAS, GATES, is_usual, output_gate_backward

# Low, since a recurrent group runs the cell in every step: the kernels reduced its time to a third and less.
MIN_WORK = 1 << 10
"""Minimum number of elements for the tuned kernel."""


def row_tiles_of(N: int) -> int:
    """Number of row tiles."""
    return tile_count(N)


def numbers(N: int, K: int) -> int:
    """Number of elements per row and gate."""
    return 4 * N * K


def row_of_each(K: int) -> int:
    """Scratch elements of an item: the pre-activations of a row, and activations."""
    return (GATES + 1) * K


@compiled
def tile_bounds(item, rows):
    """Rows of a slice; depends on the shape only."""
    count = min(rows, MAX_TILES)
    return rows * item // count, rows * (item + 1) // count


@tuned("lstm_step", "lstm_step_y", items=row_tiles_of, scratch=row_of_each, work=numbers, least=MIN_WORK, when=is_usual)
@compiled
def lstm_step_y(
    first, last, y, state, candidate, input_gate, forget_gate, output_gate, x, previous, bias, scratch, peepholes
):  # fmt: skip
    N, K = y.shape
    # One row of scratch memory per tile: the rows of a tile follow each other in the L1 cache.
    for item in range(first, last):
        own = scratch[item * (GATES + 1) * K :]
        gates, shown = own[: GATES * K], own[GATES * K : (GATES + 1) * K]
        begin, end = tile_bounds(item, N)
        for n in range(begin, end):
            copy(gates, x[n])
            add_to(gates, bias[: 4 * K])
            if peepholes:
                add_product(gates[K : 2 * K], previous[n], bias[4 * K : 5 * K])
                add_product(gates[2 * K : 3 * K], previous[n], bias[5 * K : 6 * K])
            tanh_all(gates[:K])
            sigmoid_all(gates[K : 3 * K])
            multiply(state[n], gates[:K], gates[K : 2 * K])
            add_product(state[n], previous[n], gates[2 * K : 3 * K])
            if peepholes:
                add_product(gates[3 * K :], state[n], bias[6 * K :])
            sigmoid_all(gates[3 * K :])
            copy(candidate[n], gates[:K])
            copy(input_gate[n], gates[K : 2 * K])
            copy(forget_gate[n], gates[2 * K : 3 * K])
            copy(output_gate[n], gates[3 * K :])
            copy(shown, state[n])
            tanh_all(shown)
            multiply(y[n], shown, output_gate[n])


@tuned(
    "lstm_step",
    "lstm_step_deltas",
    items=row_tiles_of,
    scratch=row_of_each,
    work=numbers,
    least=MIN_WORK,
    when=is_usual,
)
@compiled
def lstm_step_deltas(
    first, last, state_delta, candidate_delta, input_delta, forget_delta, output_delta,
    dy, dstate, previous, state, candidate, input_gate, forget_gate, output_gate, bias, scratch, peepholes,
):  # fmt: skip
    N, K = dy.shape
    for item in range(first, last):
        shown = scratch[item * (GATES + 1) * K :][:K]
        begin, end = tile_bounds(item, N)
        for n in range(begin, end):
            dc, do = state_delta[n], output_delta[n]
            copy(shown, state[n])
            tanh_all(shown)
            copy(dc, dstate[n])
            output_gate_backward(do, dc, dy[n], shown, output_gate[n])
            if peepholes:
                add_product(dc, do, bias[6 * K :])
            tanh_gate_backward(candidate_delta[n], dc, candidate[n], input_gate[n])
            sigmoid_gate_backward(input_delta[n], dc, input_gate[n], candidate[n])
            sigmoid_gate_backward(forget_delta[n], dc, forget_gate[n], previous[n])


tuned("lstm_step", "lstm_step_dx", items=row_tiles_of, work=numbers, least=MIN_WORK, arguments={"deltas": DELTAS})(
    pack_gates
)


@tuned("lstm_step", "lstm_step_dbias", items=lambda: GATES, work=numbers, least=MIN_WORK)
@compiled
def lstm_step_dbias(
    first, last, dbias, candidate_delta, input_delta, forget_delta, output_delta, previous, state, accumulate, peepholes
):  # fmt: skip
    """One item per gate: its bias, and its peephole if it has one."""
    N, K = state.shape
    for gate in range(first, last):
        delta = (candidate_delta, input_delta, forget_delta, output_delta)[gate]
        add_rows(dbias[gate * K : (gate + 1) * K], delta, accumulate)
        if peepholes and gate > 0:
            seen = state if gate == GATES - 1 else previous
            total = dbias[(gate + 3) * K : (gate + 4) * K]
            if not accumulate:
                total[:] = 0
            for n in range(N):
                add_product(total, delta[n], seen[n])
