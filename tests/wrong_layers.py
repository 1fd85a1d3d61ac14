"""Layers that are wrong on purpose, each in one way; see test_wrong_layers.py."""

import random

from paddle_layers.define import Example, Input, Output, Param, each, fill, gradient, infer, layer


@layer("wrong_factor")
class Factor:
    """Three times every value; the gradient says twice."""

    x = Input("...", "values")
    y = Output("...", "three times as much")
    examples = (Example(x="4"),)


@each(Factor.y)
def factor_y(i, x):
    return 3.0 * x[i]


@gradient(Factor.x)
def factor_dx(i, dy):
    return 2.0 * dy[i]


@layer("wrong_rows")
class Rows:
    """Scales columns; the gradient of the scale forgets the first row."""

    x = Input("N C", "rows")
    gain = Param("C", "scale of a column", init="one")
    y = Output("N C", "scaled rows")
    examples = (Example(x="4"),)


@each(Rows.y)
def rows_y(n, c, x, gain):
    return gain[c] * x[n, c]


@gradient(Rows.x)
def rows_dx(n, c, dy, gain):
    return gain[c] * dy[n, c]


@gradient(Rows.gain)
def rows_dgain(c, dy, x, N):
    total = 0.0
    for n in range(1, N):
        total += dy[n, c] * x[n, c]
    return total


@layer("wrong_bias")
class NoBias:
    """Adds an offset that does not learn."""

    x = Input("N C", "rows")
    offset = Param("C", "added", init="zero")
    y = Output("N C", "moved rows")
    examples = (Example(x="4"),)


@each(NoBias.y)
def no_bias_y(n, c, x, offset):
    return x[n, c] + offset[c]


@gradient(NoBias.x)
def no_bias_dx(n, c, dy):
    return dy[n, c]


@gradient(NoBias.offset)
def no_bias_doffset(c, dy):
    return 0.0


@layer("wrong_window")
class Window:
    """Sums of two neighbours; the gradient looks at the wrong one of them."""

    x = Input("N C", "rows")
    y = Output("N C", "sums")
    examples = (Example(x="5"),)


@each(Window.y)
def window_y(n, c, x, C):
    return x[n, c] + (x[n, c + 1] if c + 1 < C else 0.0)


@gradient(Window.x)
def window_dx(n, c, dy, C):
    return dy[n, c] + (dy[n, c + 1] if c + 1 < C else 0.0)


@layer("wrong_infinite")
class Infinite:
    """One over the distance to itself."""

    x = Input("N C", "rows")
    y = Output("N C", "infinity")
    examples = (Example(x="3"),)


@each(Infinite.y)
def infinite_y(n, c, x):
    return 1.0 / (x[n, c] - x[n, c])


@gradient(Infinite.x)
def infinite_dx(n, c, dy):
    return 0.0 * dy[n, c]


@layer("wrong_ids")
class Ids:
    """Gives an id that is one too large."""

    x = Input("N C", "scores")
    y = Output("N", "number of a column", kind="INT", size="C")
    examples = (Example(x="3"),)


@each(Ids.y)
def ids_y(n, x, C):
    return C if x[n, 0] > 0.0 else 0


@layer("wrong_impure")
class Impure:
    """Infers a size by the dice."""

    x = Input("N C", "rows")
    y = Output("N K", "some columns")
    examples = (Example(x="9"),)


@infer(Impure)
def impure_sizes(C):
    return {"K": 1 + DICE.randrange(1000)}


DICE = random.Random(0)


@each(Impure.y)
def impure_y(n, k, x):
    return x[n, 0]


@gradient(Impure.x)
def impure_dx(n, c, dy):
    return 0.0 * dy[n, 0]


@layer("wrong_border")
class Border:
    """Leaves the last column as it was found."""

    x = Input("N C", "rows")
    y = Output("N C", "the same rows, but for the last column")
    examples = (Example(x="4"),)


@fill(Border.y, per="N")
def border_y(n, x, y, C):
    for c in range(C - 1):
        y[n, c] = x[n, c]


@layer("wrong_race")
class Race:
    """Every row writes the places of all rows; the last one wins."""

    x = Input("N C", "rows")
    y = Output("N C", "the same")
    examples = (Example(x="3"),)


@fill(Race.y, per="N")
def race_y(n, x, y, C, N):
    for m in range(N):
        for c in range(C):
            y[m, c] = x[n, c]
