"""Regression metrics: MAE, RMSE, R2."""

import math

from paddle_layers.define import Example, Input, Stat, double, each, layer, real, result

from .sums import ratio

EQUAL = 1e-12
"""Targets whose variance is at most this share of their mean square count as equal: the rest is rounding."""


@layer(
    "regression_error",
    terms=("mean absolute error", "RMSE", "R2", "coefficient of determination", "MAE"),
    since=1,
)
class RegressionError:
    """Mean absolute error (MAE), root mean squared error (RMSE) and coefficient of determination (R2).

    `MAE = mean of |x - target|` and `RMSE = sqrt(mean of (x - target) ** 2)` over all values of all samples.
    `R2 = 1 - sum of (x - target) ** 2 / sum of (target - mean) ** 2` is 1 for exact predictions, 0 for those no better
    than the mean of the targets, and negative for worse ones; for several columns it is the mean of each column's R2. A
    column with constant targets has none. Samples may have weights. All three are computed over all samples since the
    last reset: neither RMSE nor R2 is the mean over the batches.
    """

    x = Input("N C...", "predictions", seq=(0, 1, 2))
    target = Input("N C...", "targets", seq=(0, 1, 2))
    weight = Input("N", "sample weight", optional=True, seq=(0, 1, 2))
    rows = Stat("N", "sum of the sample weights")
    absolute = Stat("N C", "absolute errors, weighted")
    squared = Stat("N C", "squared errors, weighted")
    # The variance of targets far from zero is a small difference of large sums: what float32 rounds off is kept, too.
    targets = Stat("N C", "targets, weighted")
    targets_rest = Stat("N C", "rounding error of `targets`")
    squares = Stat("N C", "squared targets, weighted")
    squares_rest = Stat("N C", "rounding error of `squares`")
    examples = (
        Example(x="3", target="3"),
        Example(x="2x3", target="2x3", weight="scalar"),
        Example(x="sequence of scalar", target="sequence of scalar"),
    )


@each(RegressionError.rows)
def regression_error_rows(n, weight):
    return 1.0 if weight is None else weight[n]


@each(RegressionError.absolute, RegressionError.squared)
def regression_error_errors(n, c, x, target, weight):
    share = 1.0 if weight is None else weight[n]
    error = x[n, c] - target[n, c]
    return share * abs(error), share * error * error


@each(RegressionError.targets, RegressionError.targets_rest, RegressionError.squares, RegressionError.squares_rest)
def regression_error_targets(n, c, target, weight):
    value = double(target[n, c])
    share = double(1.0) if weight is None else double(weight[n])
    total = share * value
    square = total * value
    return real(total), real(total - double(real(total))), real(square), real(square - double(real(square)))


@result(RegressionError, "MAE", "RMSE", "R2", best=("min", "min", "max"))
def regression_error_measures(rows, absolute, squared, targets, targets_rest, squares, squares_rest):
    numbers = rows * len(squared)
    explained = []
    for c, errors in enumerate(squared):
        total, square = targets[c] + targets_rest[c], squares[c] + squares_rest[c]
        # The sum of squared deviations from sums that can be added up over batches.
        spread = square - total * ratio(total, rows)
        if spread > EQUAL * abs(square):
            explained.append(1.0 - errors / spread)
    mean_square = ratio(sum(squared), numbers)
    root = math.nan if mean_square < 0 else math.sqrt(mean_square)  # weights may be negative
    return ratio(sum(absolute), numbers), root, ratio(sum(explained), len(explained))
