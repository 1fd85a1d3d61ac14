"""Layers that are wrong on purpose: what they do to memory, and which order they rely on."""

from paddle_layers.define import Example, Input, Output, Temp, each, fill, gradient, layer


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


@layer("wrong_outside")
class Outside:
    """Writes one column too many."""

    x = Input("N C", "rows")
    y = Output("N C", "the same rows")
    examples = (Example(x="16"),)


@fill(Outside.y, per="N")
def outside_y(n, x, y, C, N):
    for c in range(C):
        y[n, c] = x[n, c]
    if n + 1 == N:
        y[n, C] = 0.0


@layer("wrong_last_column")
class LastColumn:
    """Sums of neighbours; the last column has none but in the row below."""

    x = Input("N C", "rows")
    y = Output("N C", "sums")
    examples = (Example(x="16"),)


@each(LastColumn.y)
def last_column_y(n, c, x):
    return x[n, c] + x[n, c + 1]


@layer("wrong_wrapped")
class Wrapped:
    """Sums of neighbours; the first column takes a negative index, which NumPy counts from the end."""

    x = Input("N C", "rows")
    y = Output("N C", "sums")
    examples = (Example(x="16"),)


@each(Wrapped.y)
def wrapped_y(n, c, x):
    return x[n, c] + x[n, c - 1]


@gradient(Wrapped.x)
def wrapped_dx(n, c, dy, C):
    return dy[n, c] + dy[n, (c + 1) % C]


@layer("wrong_total")
class Total:
    """Adds rows to a temporary that was not set to zero."""

    x = Input("N C", "rows")
    y = Output("N", "sum of the row")
    total = Temp("N", "sum so far")
    examples = (Example(x="4"),)


@fill(Total.total, per="N")
def total_total(n, x, total, C):
    for c in range(C):
        total[n] = total[n] + x[n, c]


@each(Total.y)
def total_y(n, total):
    return total[n]


@gradient(Total.x)
def total_dx(n, c, dy):
    return dy[n]


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


@layer("wrong_order")
class Order:
    """Sums of rows so far: a row reads the one before it, which another thread may be about to write."""

    x = Input("N C", "rows")
    y = Output("N C", "sums")
    examples = (Example(x="3"),)


@fill(Order.y, per="N")
def order_y(n, x, y, C):
    for c in range(C):
        y[n, c] = x[n, c] + (y[n - 1, c] if n > 0 else 0.0)


@layer("wrong_tuned")
class TunedValues:
    """Twice every value; its tuned kernel gives three times as much."""

    x = Input("N C", "rows")
    y = Output("N C", "twice as much")
    examples = (Example(x="4"),)


@each(TunedValues.y)
def tuned_values_y(n, c, x):
    return 2.0 * x[n, c]


@gradient(TunedValues.x)
def tuned_values_dx(n, c, dy):
    return 2.0 * dy[n, c]


@layer("wrong_in_place")
class InPlace:
    """Rows from right to left; its tuned kernel promises to work in place, which is not so."""

    x = Input("N C", "rows")
    y = Output("N C", "rows from right to left")
    examples = (Example(x="4"),)


@each(InPlace.y)
def in_place_y(n, c, x, C):
    return x[n, C - 1 - c]


@gradient(InPlace.x)
def in_place_dx(n, c, dy, C):
    return dy[n, C - 1 - c]


@layer("wrong_tuned_border")
class TunedBorder:
    """Copies rows; its tuned kernel forgets the last column."""

    x = Input("N C", "rows")
    y = Output("N C", "the same rows")
    examples = (Example(x="4"),)


@each(TunedBorder.y)
def tuned_border_y(n, c, x):
    return x[n, c] * 0.0


@gradient(TunedBorder.x)
def tuned_border_dx(n, c, dy):
    return dy[n, c] * 0.0


@layer("wrong_batch")
class FirstRows:
    """Copies rows; its tuned kernel forgets the ninth row of a batch and all after it."""

    x = Input("N C", "rows")
    y = Output("N C", "the same rows")
    examples = (Example(x="4"),)


@each(FirstRows.y)
def first_rows_y(n, c, x):
    return x[n, c]


@gradient(FirstRows.x)
def first_rows_dx(n, c, dy):
    return dy[n, c]


@layer("wrong_runs")
class Runs:
    """Twice every value; its tuned kernel says that items write rows, and they write columns."""

    x = Input("N C", "rows")
    y = Output("N C", "twice as much")
    examples = (Example(x="4"),)


@each(Runs.y)
def runs_y(n, c, x):
    return 2.0 * x[n, c]


@gradient(Runs.x)
def runs_dx(n, c, dy):
    return 2.0 * dy[n, c]
