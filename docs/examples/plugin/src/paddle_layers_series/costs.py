"""Costs of forecasts."""

import paddle_layers as pl


@pl.layer("series_pinball")
class Pinball:
    """Pinball cost: the forecast that has the least of it on average is the `quantile` of what may come.

    `cost = sum over c of max(quantile * e, (quantile - 1) * e)` with `e = target - x` (Koenker and Bassett 1978). With
    `quantile` 0.5 it is half of the absolute error, and the forecast is the median.
    """

    x = pl.Input("N C...", "forecast")
    target = pl.Input("N C...", "target: the outcome")
    cost = pl.Output("N", "per-sample loss", loss=True)
    quantile = pl.Float("quantile: fraction of the outcomes below the forecast", default=0.5, above=0, below=1)
    examples = (pl.Example(x="4", target="4"), pl.Example(x="2x3", target="2x3", quantile=0.9))


@pl.each(Pinball.cost)
def pinball_cost(n, x, target, quantile, C):
    total = 0.0
    for c in range(C):
        error = target[n, c] - x[n, c]
        total += max(quantile * error, (quantile - 1.0) * error)
    return total
