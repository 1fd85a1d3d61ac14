"""Gradients of the second of two inputs, of which a number stands for one place, or for all channels, points or both.

The point function adds up what one number stands for. Here, where every point has its number, whole channels are added
to one another; where a channel has one number only, its points are summed in an order that lets the compiler use
vectors, and that is fixed once compiled.
"""

from __future__ import annotations

from paddle_layers.kernels.primitives.compiling import compiled, reordered
from paddle_layers.kernels.primitives.vectors import add_product, total
from paddle_layers.kernels.tuned import tuned

WORTH_IT = 1 << 17
"""Numbers below which the point function stays: what a step gains does not pay the compiler."""


def numbers(N: int, C: int, rest: int) -> int:
    """Numbers in the first input."""
    return N * C * rest


def each_row(N: int) -> int:
    """Rows are independent."""
    return N


@reordered
def dot(one, other, zero):
    """Sum of the products of two vectors."""
    result = zero
    for i in range(one.size):
        result += one[i] * other[i]
    return result


@compiled
def add_up(sums, values, sign):
    """Adds a row's channels, or takes them away, where one number stands for them."""
    for c in range(values.shape[0]):
        into = sums[c if sums.shape[0] > 1 else 0]
        if into.size > 1:
            channel = values[c]
            for j in range(into.size):
                into[j] += sign * channel[j]
        else:
            into[0] += sign * total(values[c], sums.dtype.type(0))


@tuned("mul", "mul_dother", items=each_row, work=numbers, least=WORTH_IT)
@compiled
def mul_dother(first, last, dother, dy, x, accumulate):
    for n in range(first, last):
        if not accumulate:
            dother[n] = 0
        for c in range(x.shape[1]):
            into = dother[n, c if dother.shape[1] > 1 else 0]
            if into.size > 1:
                add_product(into, dy[n, c], x[n, c])
            else:
                into[0] += dot(dy[n, c], x[n, c], dother.dtype.type(0))


@tuned("div", "div_dother", items=each_row, work=numbers, least=WORTH_IT)
@compiled
def div_dother(first, last, dother, dy, x, other, accumulate):
    for n in range(first, last):
        if not accumulate:
            dother[n] = 0
        for c in range(x.shape[1]):
            b = c if dother.shape[1] > 1 else 0
            into, divisor, delta, divided = dother[n, b], other[n, b], dy[n, c], x[n, c]
            if into.size > 1:
                for j in range(into.size):
                    into[j] -= delta[j] * divided[j] / (divisor[j] * divisor[j])
            else:
                into[0] -= dot(delta, divided, dother.dtype.type(0)) / (divisor[0] * divisor[0])


@tuned("add", "add_dother", items=each_row, work=numbers, least=WORTH_IT)
@compiled
def add_dother(first, last, dother, dy, accumulate):
    for n in range(first, last):
        if not accumulate:
            dother[n] = 0
        add_up(dother[n], dy[n], dother.dtype.type(1))


@tuned("sub", "sub_dother", items=each_row, work=numbers, least=WORTH_IT)
@compiled
def sub_dother(first, last, dother, dy, accumulate):
    for n in range(first, last):
        if not accumulate:
            dother[n] = 0
        add_up(dother[n], dy[n], dother.dtype.type(-1))
