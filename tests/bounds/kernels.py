"""A layer whose tuned kernel is wrong on purpose: what it reads outside of a row changes nothing that it gives."""

from numba import njit

import paddle_layers as pl

WRONG = "wrong_neighbour"


@pl.layer(WRONG)
class Neighbour:
    """Copies rows."""

    x = pl.Input("N C", "rows")
    y = pl.Output("N C", "the same rows")
    examples = (pl.Example(x="4"),)


@pl.each(Neighbour.y)
def neighbour_y(n, c, x):
    return x[n, c]


@pl.gradient(Neighbour.x)
def neighbour_dx(n, c, dy):
    return dy[n, c]


@pl.tuned(WRONG, "neighbour_y", items=lambda N: N)
@njit(error_model="numpy")
def neighbours(first, last, y, x, C):
    for n in range(first, last):
        for c in range(C):
            y[n, c] = max(x[n, c], min(x[n, c], x[n, c - 1]))  # the first column has no neighbour on the left
