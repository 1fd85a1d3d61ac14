"""Layers that are wrong on purpose, each in one way: what they compute. See test_wrong_layers.py."""

from paddle_layers.define import Example, Input, Output, Param, Type, each, gradient, layer, output_types, real


@layer("wrong_factor")
class Factor:
    """Multiplies by three; the gradient multiplies by two."""

    x = Input("...", "values")
    y = Output("...", "three times as much")
    examples = (Example(x="4"),)


@each(Factor.y)
def factor_y(i, x):
    return 3.0 * x[i]


@gradient(Factor.x)
def factor_dx(i, dy):
    return 2.0 * dy[i]


@layer("wrong_missed_row")
class MissedRow:
    """Scales columns; the gradient of the scale omits the first row."""

    x = Input("N C", "rows")
    gain = Param("C", "scale of a column", init="one")
    y = Output("N C", "scaled rows")
    examples = (Example(x="4"),)


@each(MissedRow.y)
def missed_row_y(n, c, x, gain):
    return gain[c] * x[n, c]


@gradient(MissedRow.x)
def missed_row_dx(n, c, dy, gain):
    return gain[c] * dy[n, c]


@gradient(MissedRow.gain)
def missed_row_dgain(c, dy, x, N):
    total = 0.0
    for n in range(1, N):
        total += dy[n, c] * x[n, c]
    return total


@layer("wrong_bias")
class ForgottenBias:
    """Adds a bias whose gradient is zero."""

    x = Input("N C", "rows")
    offset = Param("C", "number added to a column", init="zero")
    y = Output("N C", "moved rows")
    examples = (Example(x="4"),)


@each(ForgottenBias.y)
def forgotten_bias_y(n, c, x, offset):
    return x[n, c] + offset[c]


@gradient(ForgottenBias.x)
def forgotten_bias_dx(n, c, dy):
    return dy[n, c]


@gradient(ForgottenBias.offset)
def forgotten_bias_doffset(c, dy):
    return 0.0


@layer("wrong_window")
class Window:
    """Sums of two adjacent columns; the gradient reads the wrong one."""

    x = Input("N C", "rows")
    y = Output("N C", "sums")
    examples = (Example(x="5"),)


@each(Window.y)
def window_y(n, c, x, C):
    return x[n, c] + (x[n, c + 1] if c + 1 < C else 0.0)


@gradient(Window.x)
def window_dx(n, c, dy, C):
    return dy[n, c] + (dy[n, c + 1] if c + 1 < C else 0.0)


@layer("wrong_exchanged")
class Exchanged:
    """Product of two inputs; their gradients are swapped."""

    x = Input("...", "values")
    z = Input("...", "factors")
    y = Output("...", "products")
    examples = (Example(x="3", z="3"),)


@each(Exchanged.y)
def exchanged_y(i, x, z):
    return x[i] * z[i]


@gradient(Exchanged.x)
def exchanged_dx(i, dy, x):
    return dy[i] * x[i]


@gradient(Exchanged.z)
def exchanged_dz(i, dy, z):
    return dy[i] * z[i]


@layer("wrong_infinite")
class Infinite:
    """Reciprocal of the distance of a value to itself, which is infinite."""

    x = Input("N C", "rows")
    y = Output("N C", "infinity")
    examples = (Example(x="3"),)


@each(Infinite.y)
def infinite_y(n, c, x):
    return 1.0 / (x[n, c] - x[n, c])


@gradient(Infinite.x)
def infinite_dx(n, c, dy):
    return 0.0 * dy[n, c]


@layer("wrong_id")
class TooLargeId:
    """Returns an id that is out of range by one."""

    x = Input("N C", "scores")
    y = Output("N", "number of a column", kind="INT", size="C")
    examples = (Example(x="3"),)


@each(TooLargeId.y)
def too_large_id_y(n, x, C):
    return C if x[n, 0] > 0.0 else 0


@layer("wrong_level")
class WrongLevel:
    """Copies rows of sequences; it infers an output without sequences."""

    x = Input("N C", "rows of sequences", seq=(1,))
    y = Output("N C", "the same rows")
    examples = (Example(x="sequence of 3"),)


@output_types(WrongLevel)
def wrong_level_types(x):
    return [Type.dense(*x.dims)]


@each(WrongLevel.y)
def wrong_level_y(n, c, x):
    return x[n, c]


@gradient(WrongLevel.x)
def wrong_level_dx(n, c, dy):
    return dy[n, c]


@layer("wrong_shape")
class WrongShape:
    """Copies rows; the inferred shape has one column too many."""

    x = Input("N C", "rows")
    y = Output("N C", "the same rows")
    examples = (Example(x="3"),)


@output_types(WrongShape)
def wrong_shape_types(C):
    return [Type.dense(C + 1)]


@each(WrongShape.y)
def wrong_shape_y(n, c, x):
    return x[n, c]


@gradient(WrongShape.x)
def wrong_shape_dx(n, c, dy):
    return dy[n, c]


@layer("wrong_first_row")
class FirstRow:
    """Doubles the first row of the batch."""

    x = Input("N C", "rows")
    y = Output("N C", "rows")
    examples = (Example(x="3"),)


@each(FirstRow.y)
def first_row_y(n, c, x):
    return x[n, c] * 2.0 if n == 0 else x[n, c]


@gradient(FirstRow.x)
def first_row_dx(n, c, dy):
    return dy[n, c] * 2.0 if n == 0 else dy[n, c]


@layer("wrong_empty")
class EmptySequence:
    """Mean over each sequence; it is NaN for an empty sequence."""

    x = Input("T:S C", "rows of sequences", seq=(1, 2))
    y = Output("S C", "their mean")
    examples = (Example(x="sequence of 3"),)


@each(EmptySequence.y)
def empty_sequence_y(s, c, x, S_start):
    total = 0.0
    for t in range(S_start[s], S_start[s + 1]):
        total += x[t, c]
    return total / real(S_start[s + 1] - S_start[s])


@gradient(EmptySequence.x)
def empty_sequence_dx(t, c, s, dy, S_start):
    return dy[s, c] / real(S_start[s + 1] - S_start[s])
