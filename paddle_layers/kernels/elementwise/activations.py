"""softmax of rows: a row stays in the first cache from its largest score to its last probability."""

from __future__ import annotations

from paddle_layers.kernels.primitives.compiling import compiled, reordered
from paddle_layers.kernels.primitives.elementary import exp, maximum
from paddle_layers.kernels.primitives.vectors import total
from paddle_layers.kernels.tuned import tuned

WORTH_IT = 1 << 15
"""Numbers below which the point function stays: what a step gains does not pay the compiler."""
SLICES = 8


def slices(N: int) -> int:
    """Slices of the rows; by shape only."""
    return min(N, SLICES)


def numbers(N: int, C: int) -> int:
    """Numbers in all."""
    return N * C


def plain(rest: int) -> bool:
    """Rows without pixels."""
    return rest == 1


@reordered
def dot(left, right, zero):
    """Sum of the products of two vectors."""
    result = zero
    for c in range(left.size):
        result += left[c] * right[c]
    return result


@tuned("softmax", "softmax_y", items=slices, work=numbers, least=WORTH_IT, when=plain, in_place=True)
@compiled
def softmax_y(first, last, y, x):
    N, C = x.shape[0], x.shape[1]
    parts, values, result = min(N, SLICES), x.ravel(), y.ravel()
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for n in range(N * first // parts, N * last // parts):
        row, into = values[n * C : n * C + C], result[n * C : n * C + C]
        peak = row[0]
        for c in range(C):
            peak = maximum(peak, row[c])
        for c in range(C):
            into[c] = exp(row[c] - peak)
        share = one / total(into, zero)
        for c in range(C):
            into[c] *= share


@tuned("softmax", "softmax_dx", items=slices, work=numbers, least=WORTH_IT, when=plain)
@compiled
def softmax_dx(first, last, dx, y, dy, accumulate):
    N, C = y.shape[0], y.shape[1]
    parts, values, deltas, target = min(N, SLICES), y.ravel(), dy.ravel(), dx.ravel()
    zero = y.dtype.type(0)
    for n in range(N * first // parts, N * last // parts):
        row, delta, into = values[n * C : n * C + C], deltas[n * C : n * C + C], target[n * C : n * C + C]
        mean = dot(row, delta, zero)
        for c in range(C):
            found = row[c] * (delta[c] - mean)
            into[c] = into[c] + found if accumulate else found
