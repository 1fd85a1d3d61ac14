"""Gradients of the broadcast input of a binary operation: one value per element, channel, point or sample.

The point function sums what one value is broadcast to. Here, with one value per point, whole channels are added to one
another; with one value per channel, points are summed in an order that lets the compiler vectorize and that is fixed
once compiled.
"""

from __future__ import annotations

from paddle_layers.kernels.primitives.compile_options import compiled, reordered
from paddle_layers.kernels.primitives.vector_functions import add_product, total
from paddle_layers.kernels.tuned import tuned

MIN_WORK = 1 << 17
"""Minimum number of elements for the tuned kernel; below it, the gain does not repay the compile time."""


def numbers(N: int, C: int, rest: int) -> int:
    """Number of elements of the first input."""
    return N * C * rest


def each_row(N: int) -> int:
    """Work items: rows are independent."""
    # Targets of rows are disjoint, so that no partial sums are merged and the rounding does not depend on threads.
    return N


@reordered
def dot(one, other, zero):
    """Dot product of two vectors."""
    result = zero
    for i in range(one.size):
        result += one[i] * other[i]
    return result


@compiled
def add_up(sums, values, sign):
    """Adds or subtracts the channels of a row where one value is broadcast to them."""
    for c in range(values.shape[0]):
        # Reductions of point functions over a stride are not vectorized: with one value per point, they took ten times
        # as long as PyTorch. Here every innermost loop runs over adjacent points.
        into = sums[c if sums.shape[0] > 1 else 0]
        if into.size > 1:
            channel = values[c]
            for j in range(into.size):
                into[j] += sign * channel[j]
        else:
            into[0] += sign * total(values[c], sums.dtype.type(0))


@tuned("mul", "mul_dother", items=each_row, work=numbers, least=MIN_WORK)
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


@tuned("div", "div_dother", items=each_row, work=numbers, least=MIN_WORK)
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
                # The divisor is constant within the channel: one division instead of one per point.
                into[0] -= dot(delta, divided, dother.dtype.type(0)) / (divisor[0] * divisor[0])


@tuned("add", "add_dother", items=each_row, work=numbers, least=MIN_WORK, arguments={"sign": "1"})
@tuned("sub", "sub_dother", items=each_row, work=numbers, least=MIN_WORK, arguments={"sign": "-1"})
@compiled
def sum_dother(first, last, dother, dy, sign, accumulate):
    for n in range(first, last):
        if not accumulate:
            dother[n] = 0
        add_up(dother[n], dy[n], dother.dtype.type(sign))
