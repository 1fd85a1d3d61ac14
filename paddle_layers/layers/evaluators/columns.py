"""Statistics of values: means over the rows of sums and of columns."""

from paddle_layers.define import Example, Input, Int, Stat, double, each, infer, layer, require, result

from .ratios import ratio


@layer("row_sum", elsewhere={"Paddle": "sum"}, since=1)
class RowSum:
    """Mean over the rows of the sum of their columns, for instance of a cost that another layer computes."""

    x = Input("N C...", "rows to be added up", seq=(0, 1, 2))
    weight = Input("N", "importance of every row", optional=True, seq=(0, 1, 2))
    total = Stat("N", "sum of the columns, weighted")
    rows = Stat("N", "weights of all rows")
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


@layer("column_sum", elsewhere={"Paddle": "last-column-sum, column_sum"}, since=1)
class ColumnSum:
    """Mean over the rows of one column, for instance of the probability of a class; the last column as in Paddle."""

    x = Input("N C...", "rows of numbers", seq=(0, 1, 2))
    weight = Input("N", "importance of every row", optional=True, seq=(0, 1, 2))
    column = Int("which column, from 0; the last when absent", min=0, optional=True)
    total = Stat("N", "the column, weighted")
    rows = Stat("N", "weights of all rows")
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
