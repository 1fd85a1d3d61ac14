"""Means of sums and of columns."""

import math

from paddle_layers.define import Example, Input, Int, Stat, double, each, infer, layer, require, result


def ratio(part: float, whole: float) -> float:
    """Share of the whole; of nothing there is no share (NaN)."""
    return part / whole if whole else math.nan


def f_measures(correct: float, found: float, wanted: float) -> tuple[float, float, float]:
    """Precision, recall and their harmonic mean F1."""
    return ratio(correct, found), ratio(correct, wanted), ratio(2 * correct, found + wanted)


@layer(
    "row_sum",
    elsewhere={"Paddle": "sum"},
    terms=("mean of sums", "mean over the samples"),
    since=1,
)
class RowSum:
    """Mean over the samples of the sum of their columns, for example of a loss that another layer computes."""

    x = Input("N C...", "values to sum", seq=(0, 1, 2))
    weight = Input("N", "sample weight", optional=True, seq=(0, 1, 2))
    total = Stat("N", "weighted sum of the columns")
    rows = Stat("N", "sum of the sample weights")
    examples = (
        Example(x="scalar"),
        Example(x="2x3", weight="scalar"),
        Example(x="sequence of 2", weight="sequence of scalar"),
    )


@each(RowSum.total)
def row_sum_total(n, x, weight, C):
    total = double(0.0)  # long rows of both signs would lose digits
    for c in range(C):
        total += x[n, c]
    return total if weight is None else total * weight[n]


@each(RowSum.rows)
def row_sum_rows(n, weight):
    return 1.0 if weight is None else weight[n]


@result(RowSum)
def row_sum_mean(total, rows):
    return ratio(total, rows)


@layer(
    "column_sum",
    elsewhere={"Paddle": "last-column-sum, column_sum"},
    terms=("mean of a column", "mean over the samples"),
    since=1,
)
class ColumnSum:
    """Mean over the samples of one column, such as the probability of a class; by default the last column."""

    x = Input("N C...", "values", seq=(0, 1, 2))
    weight = Input("N", "sample weight", optional=True, seq=(0, 1, 2))
    column = Int("column index, from 0; if absent, the last", min=0, optional=True)
    total = Stat("N", "weighted column")
    rows = Stat("N", "sum of the sample weights")
    examples = (
        Example(x="3"),
        Example(x="2x3", weight="scalar", column=0),
        Example(x="sequence of 2", column=1),
    )


@infer(ColumnSum)
def column_sum_column(C, column):
    require(column is None or column < C, "column", f"`column` is {column}, but there are {C}, counted from 0")
    return {}


@each(ColumnSum.total, ColumnSum.rows)
def column_sum_total(n, x, weight, C, column):
    share = 1.0 if weight is None else weight[n]
    return share * x[n, C - 1 if column is None else column], share


@result(ColumnSum)
def column_sum_mean(total, rows):
    return ratio(total, rows)
