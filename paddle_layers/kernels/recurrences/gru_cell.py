"""GRU cell (`gru_step`): products by BLAS, vectorized gates."""

from __future__ import annotations

from paddle_layers.kernels.primitives.blas import matrix_product
from paddle_layers.kernels.primitives.compile_options import compiled, contracted
from paddle_layers.kernels.primitives.vector_functions import add_product, add_to, copy, multiply, sigmoid_all, tanh_all
from paddle_layers.kernels.tuned import tuned

from .gates import sigmoid_gate_backward, tile_count
from .gru import GATES, register_gradients

# Low, since a recurrent group runs the cell in every step: the kernels reduced its time to a third and less.
MIN_WORK = 1 << 12
"""Minimum number of multiplications for the tuned kernel."""
BLOCK = 64
"""Rows of a product: fewer do not repay packing the weights."""


def blocks(N: int) -> int:
    """Blocks of rows; depends on the shape only."""
    return max(1, N // BLOCK)


def multiplications(N: int, K: int) -> int:
    """Number of multiplications with the weight of a gate."""
    return N * K * K


def numbers(N: int, K: int) -> int:
    """Number of elements per row and gate."""
    return GATES * N * K


def row_tiles_of(N: int) -> int:
    """Number of row tiles."""
    return tile_count(N)


def logistic(gate_act: str) -> bool:
    """Whether gates have their default activation."""
    return gate_act == "sigmoid"


def hyperbolic(act: str) -> bool:
    """Whether units have their default activation."""
    return act == "tanh"


@compiled
def bounds(block, rows):
    """First row of a block and one past its last."""
    count = max(1, rows // BLOCK)
    return rows * block // count, rows * (block + 1) // count


@compiled
def add_gate(sums, values, weight, gate, transposed, begin, end):
    """Adds the product of some rows with a gate's weight, or with its transpose."""
    K, D = weight.shape
    size = weight.itemsize
    matrix_product(
        0, transposed, end - begin, K, K,
        values.ctypes.data + begin * K * size, K, weight.ctypes.data + gate * K * size, D,
        True, sums.ctypes.data + begin * K * size, K, weight.dtype.type(1),
    )  # fmt: skip


@tuned("gru_step", "gru_step_gates", items=blocks, work=multiplications, least=MIN_WORK, when=logistic)
@compiled
def gru_step_gates(first, last, update, reset, x, previous, weight, bias):
    N, K = update.shape
    for block in range(first, last):
        begin, end = bounds(block, N)
        for gate, sums in enumerate((update, reset)):
            for n in range(begin, end):
                # The target holds the input and the bias when the product is added to it: no temporary.
                copy(sums[n], x[n][gate * K : (gate + 1) * K])
                add_to(sums[n], bias[gate * K : (gate + 1) * K])
            add_gate(sums, previous, weight, gate, 0, begin, end)
            for n in range(begin, end):
                sigmoid_all(sums[n])


@tuned("gru_step", "gru_step_recalled", items=blocks, work=multiplications, least=MIN_WORK)
@compiled
def gru_step_recalled(first, last, recalled, previous, weight, bias, reset, reset_after):
    N, K = recalled.shape
    for block in range(first, last):
        begin, end = bounds(block, N)
        for n in range(begin, end):
            if reset_after:
                copy(recalled[n], bias[3 * K :])
            else:
                multiply(recalled[n], reset[n], previous[n])
        if reset_after:
            add_gate(recalled, previous, weight, 2, 0, begin, end)


@tuned("gru_step", "gru_step_y", items=blocks, work=multiplications, least=MIN_WORK, when=hyperbolic)
@compiled
def gru_step_y(first, last, y, candidate, x, previous, weight, bias, update, reset, recalled, reset_after):
    N, K = y.shape
    for block in range(first, last):
        begin, end = bounds(block, N)
        for n in range(begin, end):
            copy(candidate[n], x[n][2 * K :])
            add_to(candidate[n], bias[2 * K : 3 * K])
            if reset_after:
                add_product(candidate[n], reset[n], recalled[n])
        if not reset_after:
            add_gate(candidate, recalled, weight, 2, 0, begin, end)
        for n in range(begin, end):
            tanh_all(candidate[n])
            mix(y[n], update[n], previous[n], candidate[n])


@contracted
def mix(result, share, old, new):
    """`result = (1 - share) * old + share * new`."""
    one = share.dtype.type(1)
    for k in range(result.size):
        result[k] = (one - share[k]) * old[k] + share[k] * new[k]


@tuned("gru_step", "gru_step_reset_delta", items=blocks, work=multiplications, least=MIN_WORK, when=logistic)
@compiled
def gru_step_reset_delta(
    first, last, recalled_delta, reset_delta, candidate_delta, previous, reset, recalled, weight, reset_after
):  # fmt: skip
    N = reset_delta.shape[0]
    for block in range(first, last):
        begin, end = bounds(block, N)
        if not reset_after:
            recalled_delta[begin:end] = 0
            add_gate(recalled_delta, candidate_delta, weight, 2, 1, begin, end)
        for n in range(begin, end):
            if reset_after:
                multiply(recalled_delta[n], candidate_delta[n], reset[n])
                sigmoid_gate_backward(reset_delta[n], candidate_delta[n], reset[n], recalled[n])
            else:
                sigmoid_gate_backward(reset_delta[n], recalled_delta[n], reset[n], previous[n])


@tuned("gru_step", "gru_step_dprevious", items=blocks, work=multiplications, least=MIN_WORK)
@compiled
def gru_step_dprevious(
    first, last, dprevious, dy, update, reset, update_delta, reset_delta, recalled_delta, weight,
    accumulate, reset_after,
):  # fmt: skip
    N = dprevious.shape[0]
    for block in range(first, last):
        begin, end = bounds(block, N)
        for n in range(begin, end):
            if not accumulate:
                dprevious[n] = 0
            add_rest(dprevious[n], dy[n], update[n])
            if not reset_after:
                add_product(dprevious[n], recalled_delta[n], reset[n])
        # All weights are read as they are: the transposition is a flag of BLAS.
        add_gate(dprevious, update_delta, weight, 0, 1, begin, end)
        add_gate(dprevious, reset_delta, weight, 1, 1, begin, end)
        if reset_after:
            add_gate(dprevious, recalled_delta, weight, 2, 1, begin, end)


@contracted
def add_rest(result, values, share):
    """`result += values * (1 - share)`."""
    one = share.dtype.type(1)
    for k in range(result.size):
        result[k] += values[k] * (one - share[k])


register_gradients("gru_step", "previous", row_tiles_of, multiplications, numbers, MIN_WORK)
