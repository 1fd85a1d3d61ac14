"""Rounding, sign and remainder."""

import math

from paddle_layers.define import (
    Choice,
    Example,
    Float,
    Input,
    Output,
    double,
    each,
    gradient,
    helper,
    infer,
    layer,
    onnx,
    real,
    require,
)

MAGIC = 1.5 * 2.0**52
"""Adding it to a float64 below 2 ** 51 leaves no fractional bits; the sum is rounded half to even."""


@helper
def nearest(v):
    """The nearest integer, half to even, with the sign of `v`; infinities and NaN are unchanged."""
    # Vectorized, unlike a conversion to an integer; a float64 of this size has no fraction.
    return math.copysign((v + MAGIC) - MAGIC, v) if abs(v) < 2.0**51 else v


@layer(
    "round",
    elsewhere={
        "ONNX": "Round, Floor, Ceil",
        "Keras": "round, floor, ceil",
        "PyTorch": "round, floor, ceil",
    },
    terms=("rounding", "floor", "ceiling", "nearest integer"),
    since=1,
)
class Round:
    """Rounding to integers: to the nearest one, half to even, or down (floor), or up (ceiling).

    `y = round(x)` with `round(0.5) = 0` and `round(1.5) = 2`, as in IEEE 754, NumPy and ONNX. There is no gradient: the
    derivative is 0 wherever it exists. Infinities and NaN are unchanged, and -0.4 becomes -0.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2), derivative=False)
    y = Output("...", "same shape as `x`: integers as floating-point values")
    mode = Choice(
        "rounding mode",
        options={
            "NEAREST": "the nearest integer, half to even",
            "FLOOR": "the largest integer not above `x`",
            "CEIL": "the smallest integer not below `x`",
        },
        default="NEAREST",
    )
    examples = (
        Example(x="5"),
        Example(x="2x3x3", mode="FLOOR"),
        Example(x="sequence of 3", mode="CEIL"),
    )


@each(Round.y)
def round_y(i, x, mode):
    v = double(x[i])
    whole = nearest(v)
    if mode == "FLOOR":
        return real(whole - 1.0 if whole > v else whole)
    if mode == "CEIL":
        return real(math.copysign(whole + 1.0, v) if whole < v else whole)
    return real(whole)


@onnx(Round)
def round_onnx(graph, x, mode):
    return graph.node({"NEAREST": "Round", "FLOOR": "Floor", "CEIL": "Ceil"}[mode], x)


@layer(
    "sign",
    elsewhere={"ONNX": "Sign", "Keras": "sign", "PyTorch": "sign"},
    terms=("sign function", "signum"),
    since=1,
)
class Sign:
    """Sign function: `y = 1` for `x > 0`, `y = -1` for `x < 0`, else 0.

    There is no gradient: the derivative is 0 wherever it exists.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2), kinks=(0.0,))
    y = Output("...", "same shape as `x`: -1, 0 or 1")
    examples = (Example(x="5"), Example(x="2x3x3"), Example(x="sequence of 3"))


@each(Sign.y)
def sign_y(i, x):
    # A comparison with NaN is false, which would turn it into 0.
    if math.isnan(x[i]):
        return math.nan
    if x[i] < 0.0:
        return -1.0
    return 1.0 if x[i] > 0.0 else 0.0


@onnx(Sign)
def sign_onnx(graph, x):
    return graph.Sign(x)


@layer(
    "mod",
    elsewhere={"ONNX": "Mod", "Keras": "mod", "PyTorch": "remainder, fmod"},
    terms=("remainder", "modulo", "fmod"),
    since=1,
)
class Mod:
    """Elementwise remainder of the division by a second input or by a number: `y = x - other * q` for an integer `q`.

    The quotient `q` is rounded down (`FLOOR`: the remainder has the sign of the divisor, as in Python) or towards zero
    (`TRUNCATE`: it has the sign of `x`, as C's fmod). Without `other`, the divisor is `value`. The remainder of a
    division by 0 is NaN. The derivative is 1 for `x` and `-q` for `other`, except where `q` changes.
    """

    x = Input("...", "dividend, of any shape", seq=(0, 1, 2), kinks=(0.0, "ties"))
    other = Input("...", "divisor, of the same shape", seq=(0, 1, 2), optional=True, within=(0.2, 2.0))
    y = Output("...", "same shape as `x`", nan="where the divisor is 0")
    rounding = Choice(
        "rounding of the quotient",
        options={
            "FLOOR": "down: the remainder has the sign of the divisor",
            "TRUNCATE": "towards zero: the remainder has the sign of `x`",
        },
        default="FLOOR",
    )
    value = Float("divisor without the input `other`", default=1.0)
    examples = (
        Example(x="5"),
        Example(x="2x3", other="2x3"),
        Example(x="sequence of 3", other="sequence of 3", rounding="TRUNCATE"),
        Example(x="4", value=-0.5, rounding="TRUNCATE"),
        Example(x="2x3", value=-0.5),
    )


@infer(Mod)
def mod_check(other, value):
    require(other is not None or value != 0.0, "value", "must not be 0: the remainder would be NaN")
    return {}


@each(Mod.y)
def mod_y(i, x, other, rounding, value):
    divisor = value if other is None else other[i]
    if divisor == 0.0 or not math.isfinite(x[i]):
        return math.nan
    # Of magnitudes, where the remainder is exact; that of `-1e-20 % 1.0` would be rounded to 1.
    rest = math.copysign(abs(x[i]) % abs(divisor), x[i])
    if rounding == "FLOOR" and rest != 0.0 and (rest < 0.0) != (divisor < 0.0):
        rest += divisor
    return rest


@gradient(Mod.x)
def mod_dx(i, dy):
    return dy[i]


@gradient(Mod.other)
def mod_dother(i, dy, x, y, other):
    return -dy[i] * ((x[i] - y[i]) / other[i])


@onnx(Mod)
def mod_onnx(graph, x, other, rounding, value):
    divisor = value if other is None else other
    rest = graph.Mod(x, divisor, fmod=1)
    if rounding == "TRUNCATE":
        return rest
    # ONNX has the other form for integers only.
    outside = graph.Less(graph.Mul(rest, divisor), 0.0)
    return graph.Where(outside, graph.Add(rest, divisor), rest)
