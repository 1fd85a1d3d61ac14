"""Layers whose numbers are wrong at the edges: no rows, NaN, another cut into batches, scores far from zero."""

import math

from paddle_layers.define import Example, Input, Output, State, Temp, each, gradient, layer, real, update


@layer("wrong_without_rows")
class WithoutRows:
    """Running mean of every column; an empty batch sets it to NaN."""

    x = Input("N C", "rows")
    middle = State("C", "running mean", init="zero")
    y = Output("N C", "the same rows")
    examples = (Example(x="4"),)


@each(WithoutRows.y)
def without_rows_y(n, c, x):
    return x[n, c]


@update(WithoutRows.middle)
def without_rows_middle(c, x, middle, N):
    total = 0.0
    for n in range(N):
        total += x[n, c]
    return 0.9 * middle[c] + 0.1 * (total / real(N))


@gradient(WithoutRows.x)
def without_rows_dx(n, c, dy):
    return dy[n, c]


@layer("wrong_deaf")
class Deaf:
    """Keeps positive values; NaN becomes zero."""

    x = Input("...", "values", kinks=(0.0,))
    y = Output("...", "the positive ones, and zeros")
    examples = (Example(x="4"),)


@each(Deaf.y)
def deaf_y(i, x):
    return x[i] if x[i] > 0.0 else 0.0


@gradient(Deaf.x)
def deaf_dx(i, dy, x):
    return dy[i] if x[i] > 0.0 else 0.0


@layer("wrong_mean")
class Mean:
    """Squared norm of every row, divided by the batch size, which the network does again."""

    x = Input("N C", "rows")
    cost = Output("N", "cost of every row", loss=True)
    examples = (Example(x="4"),)


@each(Mean.cost)
def mean_cost(n, x, N, C):
    total = 0.0
    for c in range(C):
        total += x[n, c] * x[n, c]
    return total / real(N)


@gradient(Mean.x)
def mean_dx(n, c, dcost, x, N):
    return 2.0 * x[n, c] * dcost[n] / real(N)


@layer("wrong_digits")
class Digits:
    """Cross-entropy from a log-sum-exp minus the first score, which cancels for large scores."""

    x = Input("N C", "scores")
    cost = Output("N", "cost of every row", loss=True)
    logsum = Temp("N", "log-sum of the exponentials")
    examples = (Example(x="4"),)


@each(Digits.logsum)
def digits_logsum(n, x, C):
    peak = x[n, 0]
    for c in range(1, C):
        peak = max(peak, x[n, c])
    total = 0.0
    for c in range(C):
        total += math.exp(x[n, c] - peak)
    return math.log(total) + peak


@each(Digits.cost)
def digits_cost(n, x, logsum):
    return logsum[n] - x[n, 0]


@gradient(Digits.x)
def digits_dx(n, c, dcost, x, logsum):
    return dcost[n] * (math.exp(x[n, c] - logsum[n]) - (1.0 if c == 0 else 0.0))


@layer("wrong_rounded")
class Rounded:
    """Exponential whose gradient is wrong by less than central differences show."""

    x = Input("...", "values")
    y = Output("...", "exponentials")
    examples = (Example(x="4"),)


@each(Rounded.y)
def rounded_y(i, x):
    return math.exp(0.5 * x[i])


@gradient(Rounded.x)
def rounded_dx(i, dy, y):
    return dy[i] * y[i] * 0.50000000005
