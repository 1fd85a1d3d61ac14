"""Layers that are wrong on purpose: what they do to memory, and which order they rely on."""

from paddle_layers.define import Example, Input, Output, Temp, each, fill, gradient, layer


@layer("wrong_border")
class Border:
    """Leaves the last column uninitialized."""

    x = Input("N C", "rows", derivative=False)
    y = Output("N C", "the same rows, but for the last column")
    examples = (Example(x="4"),)


@fill(Border.y, per="N")
def border_y(n, x, y, C):
    for c in range(C - 1):
        y[n, c] = x[n, c]


@layer("wrong_outside")
class Outside:
    """Writes one column beyond the end."""

    x = Input("N C", "rows", derivative=False)
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
    """Sums of adjacent columns; the last column reads the next row."""

    x = Input("N C", "rows", derivative=False)
    y = Output("N C", "sums")
    examples = (Example(x="16"),)


@each(LastColumn.y)
def last_column_y(n, c, x):
    return x[n, c] + x[n, c + 1]


@layer("wrong_wrapped")
class Wrapped:
    """Sums of adjacent columns; the first column uses a negative index, which NumPy counts from the end."""

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
    """Accumulates rows in an uninitialized temporary."""

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
    """Every row writes the elements of all rows; the last write wins (data race)."""

    x = Input("N C", "rows", derivative=False)
    y = Output("N C", "the same")
    examples = (Example(x="3"),)


@fill(Race.y, per="N")
def race_y(n, x, y, C, N):
    for m in range(N):
        for c in range(C):
            y[m, c] = x[n, c]


@layer("wrong_order")
class Order:
    """Cumulative sum without a scan: a row reads the previous row, which another thread may not have written yet."""

    x = Input("N C", "rows", derivative=False)
    y = Output("N C", "sums")
    examples = (Example(x="3"),)


@fill(Order.y, per="N")
def order_y(n, x, y, C):
    for c in range(C):
        y[n, c] = x[n, c] + (y[n - 1, c] if n > 0 else 0.0)


@layer("wrong_tuned")
class TunedValues:
    """Multiplies by two; its tuned kernel multiplies by three."""

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
    """Reverses rows; its tuned kernel is wrongly declared to work in place."""

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
    """Copies rows; its tuned kernel omits the last column."""

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
    """Copies rows; its tuned kernel stops after eight rows."""

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
    """Multiplies by two; its tuned kernel declares that items write rows, but they write columns."""

    x = Input("N C", "rows")
    y = Output("N C", "twice as much")
    examples = (Example(x="4"),)


@each(Runs.y)
def runs_y(n, c, x):
    return 2.0 * x[n, c]


@gradient(Runs.x)
def runs_dx(n, c, dy):
    return 2.0 * dy[n, c]
