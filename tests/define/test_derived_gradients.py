"""Derived gradients equal formulas and central differences; what cannot be derived is an error with its reason."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import LayerDefinition, load_plugin
from paddle_layers.define.functions.derivatives import CONSTANT, RULES, partial_derivative

Number = Callable[..., float]

FORMULAS: dict[str, tuple[Number, ...]] = {
    "abs": (lambda u: math.copysign(1, u),),
    "acos": (lambda u: -((1 - u**2) ** -0.5),),
    "acosh": (lambda u: (u**2 - 1) ** -0.5,),
    "asin": (lambda u: (1 - u**2) ** -0.5,),
    "asinh": (lambda u: (1 + u**2) ** -0.5,),
    "atan": (lambda u: 1 / (1 + u**2),),
    "atan2": (lambda u, v: v / (u**2 + v**2), lambda u, v: -u / (u**2 + v**2)),
    "atanh": (lambda u: 1 / (1 - u**2),),
    "cos": (lambda u: -math.sin(u),),
    "cosh": (math.sinh,),
    "erf": (lambda u: 2 / math.sqrt(math.pi) * math.exp(-(u**2)),),
    "erfc": (lambda u: -2 / math.sqrt(math.pi) * math.exp(-(u**2)),),
    "exp": (math.exp,),
    "expm1": (math.exp,),
    "hypot": (lambda u, v: u / math.hypot(u, v), lambda u, v: v / math.hypot(u, v)),
    "log": (lambda u: 1 / u,),
    "log10": (lambda u: 1 / (u * math.log(10)),),
    "log1p": (lambda u: 1 / (1 + u),),
    "log2": (lambda u: 1 / (u * math.log(2)),),
    "max": (lambda u, v: float(u > v), lambda u, v: float(v > u)),
    "min": (lambda u, v: float(u < v), lambda u, v: float(v < u)),
    "pow": (lambda u, v: v * u ** (v - 1), lambda u, v: math.log(u) * u**v),
    "sin": (math.cos,),
    "sinh": (math.cosh,),
    "sqrt": (lambda u: u**-0.5 / 2,),
    "tan": (lambda u: math.cos(u) ** -2,),
    "tanh": (lambda u: math.cosh(u) ** -2,),
}
"""Textbook formulas of the partial derivatives."""
POINTS = {"acosh": (1.3, 2.7), "asin": (-0.6, 0.4), "acos": (-0.6, 0.4), "atanh": (-0.6, 0.4)}
POSITIVE = {"log", "log10", "log1p", "log2", "pow", "sqrt"}


def by_rule(name: str, place: int, *args: float) -> float:
    """The rule of the table as a number."""
    call = ast.Call(ast.Name(name), [ast.Name(one) for one in "uv"[: len(args)]], [])
    values = {"u": ast.Name("u"), "v": ast.Name("v"), "r": call, "d": ast.Name("d")}
    scope = {"math": math, "d": 1.0, **vars(math), **dict(zip("uv", args, strict=False))}
    return float(eval(ast.unparse(partial_derivative(name, place, values)), scope))


def test_every_rule_has_a_formula() -> None:
    assert FORMULAS.keys() == RULES.keys()
    assert all(len(FORMULAS[name]) == len(rules) for name, rules in RULES.items())


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_the_derivative(name: str) -> None:
    function = vars(math).get(name) or {"abs": abs, "max": max, "min": min}[name]
    for u in POINTS.get(name, (0.3, 1.7) if name in POSITIVE else (-1.2, 0.3, 1.7)):
        args = [u, 0.9][: len(RULES[name])]
        for place, formula in enumerate(FORMULAS[name]):
            above, below = list(args), list(args)
            above[place] += 1e-6
            below[place] -= 1e-6
            found = by_rule(name, place, *args)
            assert found == pytest.approx((function(*above) - function(*below)) / 2e-6, rel=1e-8, abs=1e-9)
            assert found == pytest.approx(formula(*args), rel=1e-14, abs=1e-15)


def test_every_function_of_math_that_has_a_derivative_has_a_rule() -> None:
    numbers = {name for name, value in vars(math).items() if callable(value) and not name.startswith("_")}
    integers = {"comb", "factorial", "gcd", "isqrt", "lcm", "perm"}
    sequences = {"dist", "fsum", "prod", "sumprod"}
    rest = {
        "cbrt",
        "copysign",
        "degrees",
        "exp2",
        "fabs",
        "fma",
        "fmod",
        "frexp",
        "gamma",
        "isclose",
        "ldexp",
        "lgamma",
    }
    rest |= {"modf", "nextafter", "radians", "remainder", "ulp"}
    assert numbers - integers - sequences - rest <= RULES.keys() | CONSTANT


@pytest.mark.parametrize(
    ("name", "place", "args", "expected"),
    [
        ("abs", 0, (0.0,), 0.0),
        ("max", 0, (2.0, 2.0), 0.5),
        ("max", 1, (2.0, 2.0), 0.5),
        ("min", 0, (2.0, 2.0), 0.5),
        ("min", 1, (2.0, 2.0), 0.5),
        ("pow", 0, (0.0, 0.0), 0.0),
        ("pow", 1, (0.0, 2.0), 0.0),
        ("hypot", 0, (0.0, 0.0), 0.0),
    ],
)
def test_points_without_a_derivative(name: str, place: int, args: tuple[float, ...], expected: float) -> None:
    assert by_rule(name, place, *args) == expected


# ---- functions

HEAD = '''import math

import paddle_layers as pl

FACTOR = 3.0


@pl.helper
def bent(v, width):
    size = abs(v)
    if size <= width:
        return 0.5 * v * v
    return width * (size - 0.5 * width)


@pl.helper
def logistic(v):
    e = math.exp(-abs(v))
    return (1.0 if v >= 0.0 else e) / (1.0 + e)


@pl.helper
def logistic_derivative(v):
    return logistic(v) * logistic(-v)


@pl.helper
def log(v):
    return v * v


@pl.helper
def some(v, width=1.0):
    return v * width


@pl.helper
def endless(v):
    return v if v > 9.0 else endless(v + v)


@pl.layer("derived")
class Derived:
    """A layer without gradient functions."""

    FIELDS
    examples = (pl.Example(EXAMPLE),)


'''
ELEMENTS = ('x = pl.Input("...", "values")\n    y = pl.Output("...", "values")', 'x="3"', "@pl.each(Derived.y)\n")
ROWS = (
    'x = pl.Input("N C", "rows")\n    w = pl.Input("N", "weights", optional=True)\n'
    '    g = pl.Param("C", "gain")\n    y = pl.Output("N", "sums")\n    z = pl.Temp("N", "unused")\n'
    '    id = pl.Input("N", "ids", kinds=("INT",), optional=True)\n    a = pl.Float("number", default=2.0)',
    'x="3"',
    "@pl.each(Derived.z)\ndef z(n, x):\n    return Z\n\n\n@pl.each(Derived.y)\n",
)


@pytest.fixture
def derived(tmp_path: Path) -> Iterator[Callable[..., LayerDefinition]]:
    """The layer with this function."""

    def define(body: str, fields: tuple[str, str, str] = ELEMENTS, z: str = "0.0") -> LayerDefinition:
        declared, example, lead = fields
        path = tmp_path / "derived.py"
        text = HEAD.replace("FIELDS", declared).replace("EXAMPLE", example) + lead.replace("Z\n", f"{z}\n") + body
        path.write_text(text, encoding="utf-8")
        load_plugin(path)
        found: LayerDefinition = pl.registry["derived"]
        return found

    yield define
    if "derived" in pl.registries["layer"]:
        pl.registries["layer"].remove("derived")


def gradient_of(layer: LayerDefinition, name: str = "x") -> Callable[..., Any]:
    """The derived gradient, with arguments by name."""
    (function,) = (f for f in layer.complete().functions if f.derived and f.target_names == (f"d{name}",))
    return lambda **given: function.call(**{one: given[one] for one in function.args})


def source_of(layer: LayerDefinition, name: str = "x") -> list[str]:
    """The lines of a derived gradient, without the comment."""
    (function,) = (f for f in layer.complete().functions if f.derived and f.target_names == (f"d{name}",))
    return [line.strip() for line in inspect.getsource(function.call).splitlines() if "#" not in line]


V = np.array([-2.5, -0.7, 0.0, 0.4, 3.0])
ACTIVATIONS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "products": ("return x[i] * x[i] * x[i] - 2.0 * x[i]", lambda v: 3 * v**2 - 2),
    "quotient": ("return x[i] / (1.0 + x[i] * x[i])", lambda v: (1 - v**2) / (1 + v**2) ** 2),
    "constant_power": ("return (1.0 + x[i] ** 2) ** 0.5 - x[i] ** 3", lambda v: v / np.sqrt(1 + v**2) - 3 * v**2),
    "power_of_a_constant": ("return FACTOR ** x[i]", lambda v: math.log(3) * 3**v),
    "chain": ("return math.exp(-math.sin(2.0 * x[i]))", lambda v: -2 * np.cos(2 * v) * np.exp(-np.sin(2 * v))),
    "relu": ("return x[i] if x[i] > 0.0 else 0.0", lambda v: v > 0),
    "relu_by_max": ("return max(0.0, x[i])", lambda v: np.heaviside(v, 0.5)),
    "softplus": ("return max(x[i], 0.0) + math.log1p(math.exp(-abs(x[i])))", lambda v: 1 / (1 + np.exp(-v))),
    "three": ("return max(-1.0, 0.5 * x[i], x[i] - 1.0)", lambda v: np.select([v < -2, v <= 2], [0, 0.5], 1)),
    "absolute": ("return abs(x[i])", np.sign),
    "branches": (
        "if x[i] > 1.0:\n        return x[i]\n    value = x[i]\n    if x[i] < 0.0:\n        value = value * x[i]\n"
        "    else:\n        value -= 4.0 * x[i]\n    value += 1.0\n    return FACTOR * value",
        lambda v: np.select([v > 1, v < 0], [1, 6 * v], -9),
    ),
    "reassigned": ("v = x[i]\n    v = v * v\n    v *= v\n    return v", lambda v: 4 * v**3),
    "retained_loop": (
        "v = 1.0\n    for _ in range(3):\n        v = v * x[i] + 1.0\n    return v",
        lambda v: 3 * v**2 + 2 * v + 1,
    ),
    "helper": ("return bent(2.0 * x[i], 1.5)", lambda v: 2 * np.clip(2 * v, -1.5, 1.5)),
    "two_arguments": (
        "return bent(1.0, x[i] * x[i] + 0.1)",
        lambda v: np.where(v**2 + 0.1 >= 1, 0, 0.9 - v**2) * 2 * v,
    ),
    "written_derivative": ("return logistic(x[i])", lambda v: 1 / (2 + np.exp(v) + np.exp(-v))),
    "helper_named_like_a_rule": ("return log(x[i])", lambda v: 2 * v),
    "floor": ("return math.floor(x[i]) * x[i]", np.floor),
    "constant_local": ("k = 2 if i > 2 else 3\n    return x[i] * k", lambda _: np.array([3, 3, 3, 2, 2])),
}  # fmt: skip


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(derived: Callable[..., LayerDefinition], name: str) -> None:
    body, expected = ACTIVATIONS[name]
    layer = derived(f"def derived_y(i, x):\n    {body}\n")
    y = [layer.functions[0].call(i, V) for i in range(len(V))]
    found = [gradient_of(layer)(i=i, dy=np.full(5, 2.0), x=V, y=y) for i in range(len(V))]
    np.testing.assert_allclose(found, 2 * expected(V), rtol=1e-13, atol=1e-15)
    assert layer.facts.differentiable == ("x",)


def test_the_output_replaces_what_was_computed(derived: Callable[..., LayerDefinition]) -> None:
    layer = derived("def derived_y(i, x):\n    return math.tanh(x[i]) if x[i] < 2.0 else math.exp(0.5 * x[i])\n")
    assert source_of(layer) == [
        "def derived_dx(i, dy, y, x):",
        "return dy[i] * (1.0 - y[i] * y[i]) if x[i] < 2.0 else dy[i] * 0.5 * y[i]",
    ]


def test_a_bias_is_no_part_of_the_result(derived: Callable[..., LayerDefinition]) -> None:
    fields = ('x = pl.Input("N C", "rows")\n    b = pl.Bias("C")\n    y = pl.Output("N C", "rows")', *ELEMENTS[1:])
    layer = derived("def derived_y(n, c, x):\n    return math.exp(x[n, c])\n", fields)
    assert source_of(layer)[-1] == "return dy[n, c] * math.exp(x[n, c])"


def test_an_untaken_branch_contributes_nothing(derived: Callable[..., LayerDefinition]) -> None:
    layer = derived(
        "def derived_y(i, x):\n    root = math.sqrt(abs(x[i])) if x[i] != 0.0 else 0.0\n"
        "    return root if math.isfinite(x[i]) else 1.0\n"
    )
    x = np.array([0.0, math.inf, 4.0])
    assert [gradient_of(layer)(i=i, dy=np.full(3, math.inf), x=x) for i in range(2)] == [0.0, 0.0]
    assert gradient_of(layer)(i=2, dy=np.ones(3), x=x) == 0.25


def test_nan_has_no_gradient_of_zero(derived: Callable[..., LayerDefinition]) -> None:
    layer = derived("def derived_y(i, x):\n    return math.nan if x[i] < 0.0 else x[i]\n")
    assert math.isnan(gradient_of(layer)(i=0, dy=np.ones(1), x=np.array([-1.0])))


@pytest.mark.parametrize(
    "body", ["return 1.0 if x[i] > 0.5 else 0.0", "return math.floor(x[i])", "return len(x) * 1.0"]
)
def test_a_constant_has_no_gradient(derived: Callable[..., LayerDefinition], body: str) -> None:
    layer = derived(f"def derived_y(i, x):\n    {body}\n")
    assert [function.name for function in layer.complete().functions] == ["derived_y"]
    assert not layer.facts.can_do_bp


# ---- rows, parameters, sums

X = np.random.default_rng(1).uniform(0.5, 2.0, (4, 3))
W, G, DY = np.array([1.0, 0.5, -2.0, 3.0]), np.array([0.3, -1.0, 2.0]), np.array([1.0, -0.5, 2.0, 0.25])
SUMS: dict[str, tuple[str, Callable[[Any, Any, Any], Any]]] = {
    "sum": (
        "total = 0.0\n    for c in range(C):\n        total += g[c] * x[n, c] * x[n, c]\n"
        "    return a * total if w is None else a * total * w[n]",
        lambda x, w, g: 2.0 * (g * x**2).sum(1) * w,
    ),
    "locals": (
        "total = 1.0\n    for c in range(x.shape[1]):\n        e = math.log(x[n, c]) - g[c]\n        if e > 0.0:\n"
        "            e *= e\n        total -= 0.5 * e\n    return total if w is None else total / w[n]",
        lambda x, w, g: (1 - 0.5 * np.where(np.log(x) > g, (np.log(x) - g) ** 2, np.log(x) - g).sum(1)) / w,
    ),
    "two_loops": (
        "one = 0.0\n    two = 0.0\n    for c in range(C):\n        one += x[n, c] * g[c]\n    for c in range(C):\n"
        "        two += a * g[c]\n    return one + two * (1.0 if w is None else w[n])",
        lambda x, w, g: (x * g).sum(1) + 2 * g.sum() * w,
    ),
    "a_loop_of_another_tensor": (
        "one = 0.0\n    for c in range(C):\n        one += x[n, c] * x[n, c] + g[c]\n    norm = 0.0\n"
        "    for c in range(C):\n        norm += 1.0 + math.exp(c)\n"
        "    return one * (1.0 if w is None else w[n]) / norm",
        lambda x, w, g: ((x**2).sum(1) + g.sum()) * w / (3 + np.exp(np.arange(3)).sum()),
    ),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_over_rows(derived: Callable[..., LayerDefinition], name: str) -> None:
    body, compute = SUMS[name]
    layer = derived(f"def derived_y(n, x, w, g, a, C):\n    {body}\n", ROWS)
    given = {"x": X, "w": W, "g": G, "a": 2.0, "C": 3, "dy": DY}
    found = {
        "x": [[gradient_of(layer)(n=n, c=c, **given) for c in range(3)] for n in range(4)],
        "w": [gradient_of(layer, "w")(n=n, **given) for n in range(4)],
        "g": [gradient_of(layer, "g")(c=c, **given) for c in range(3)],
    }
    for one, values in (("x", X), ("w", W), ("g", G)):
        expected = np.empty(values.shape)
        for place in np.ndindex(values.shape):
            sides = []
            for step in (1e-6, -1e-6):
                moved = {**{"x": X, "w": W, "g": G}, one: values.copy()}
                moved[one][place] += step
                sides.append(float(np.sum(DY * compute(**moved))))
            expected[place] = (sides[0] - sides[1]) / 2e-6
        np.testing.assert_allclose(found[one], expected, rtol=1e-7, atol=1e-8)


def test_axes_that_the_input_lacks_are_summed(derived: Callable[..., LayerDefinition]) -> None:
    fields = (
        'x = pl.Input("N C", "rows")\n    w = pl.Param("K C", "weights")\n    y = pl.Output("N K", "sums")\n'
        '    size = pl.Int("columns", axis="K", default=2)',
        'x="3"',
        "@pl.each(Derived.y)\n",
    )
    body = "total = 0.0\n    for c in range(C):\n        total += x[n, c] * w[k, c]\n    return total"
    layer = derived(f"def derived_y(n, k, x, w, C):\n    {body}\n", fields)
    w, dy = np.arange(6.0).reshape(2, 3), np.arange(8.0).reshape(4, 2)
    dx = [[gradient_of(layer)(n=n, c=c, dy=dy, x=X, w=w, C=3) for c in range(3)] for n in range(4)]
    dw = [[gradient_of(layer, "w")(k=k, c=c, dy=dy, x=X, w=w, C=3) for c in range(3)] for k in range(2)]
    np.testing.assert_allclose(dx, dy @ w, rtol=1e-14)
    np.testing.assert_allclose(dw, dy.T @ X, rtol=1e-14)


def test_returns_in_branches_are_summed(derived: Callable[..., LayerDefinition]) -> None:
    fields = (
        'x = pl.Input("N C", "rows")\n    g = pl.Param("C", "gain")\n    y = pl.Output("N C", "rows")',
        *ELEMENTS[1:],
    )
    body = "if x[n, c] > 1.0:\n        return x[n, c] * g[c]\n    v = g[c] * g[c]\n    return v"
    layer = derived(f"def derived_y(n, c, x, g):\n    {body}\n", fields)
    dy = np.arange(12.0).reshape(4, 3)
    found = [gradient_of(layer, "g")(c=c, dy=dy, x=X, g=G) for c in range(3)]
    np.testing.assert_allclose(found, (dy * np.where(X > 1, X, 2 * G)).sum(0), rtol=1e-14)


# ---- outside of the scope

OUTSIDE = {
    "return x[i + 1]": (1, "it reads `x[i + 1]`, where `i + 1` is neither an index of `y` along the same axis nor the"),
    "return x[i] + x[0]": (1, "it reads both `x[i]` and `x[0]`"),
    "other = x\n    return other[i]": (1, "it uses `x` other than by its elements, `x[i]`"),
    "return x[i:][0]": (1, "it uses `x` other than by its elements, `x[i]`"),
    "low, high = x[i], 1.0\n    return low * high": (1, "an assignment of several values at once"),
    "return math.gamma(x[i])": (1, "`math.gamma` has no derivative rule"),
    "return x[i] or 1.0": (1, "`x[i] or 1.0` has no derivative rule"),
    "return x[i] % 2.0": (1, "`x[i] % 2.0` has no derivative rule"),
    "v = [x[i], 1.0]\n    return v[0]": (1, "`[x[i], 1.0]` has no derivative rule"),
    "v = x[i]\n    while v > 1.0:\n        v = v / 2.0\n    return v": (2, "`while v > 1.0:` has no derivative"),
    "for v in [x[i], 0.0]:\n        return v\n    return 0.0": (1, "a loop over other values than a range"),
    "return some(x[i])": (1, "`some(x[i])` does not have all arguments"),
    "return endless(x[i])": (1, "in `endless`, in `endless`, which calls itself"),
    "i = i // 2\n    return x[i]": (2, "it reads `x[i]`, where `i` is neither an index of `y`"),
}


@pytest.mark.parametrize("body", OUTSIDE)
def test_elements_outside_of_the_scope(derived: Callable[..., LayerDefinition], body: str) -> None:
    line, reason = OUTSIDE[body]
    with pytest.raises(pl.DefinitionError) as error:
        derived(f"def derived_y(i, x):\n    {body}\n").complete()
    text = str(error.value)
    assert f"derived_y: input `x` needs a gradient, which cannot be derived: {reason}" in text
    assert text.endswith("; write @gradient(Derived.x), or declare `x` with `derivative=False` if it has no gradient")
    assert _line_of(text, body, line)


def _line_of(text: str, body: str, line: int) -> bool:
    """Whether the error is at this line of the body."""
    file, number = text.split(": ", 1)[0].rsplit(":", 1)
    return (
        Path(file).read_text(encoding="utf-8").splitlines()[int(number) - 1].strip()
        == body.splitlines()[line - 1].strip()
    )


SUM = "t = 0.0|for c in range(C):|    "
LOOPS = {
    SUM + "t += x[n, c]|return t * t": "the derivative requires `t`, the result of a loop over `x`: compute it in",
    "t = x[n, 0]|return t": "it reads `x[n, 0]`, where `0` is neither an index of `y`",
    "t = 0.0|for c in range(1, C):|    t += x[n, c]|return t": "it reads `x[n, c]`, where `c` is neither",
    SUM + "t = max(t, x[n, c])|return t": "`t` depends on earlier iterations of the loop",
    "s = 1.0|" + SUM + "t += s * x[n, c]|    s = -s|return t": "`s` depends on earlier iterations",
    SUM + "e = x[n, c]|    t += e|return t + e": "`e` occurs outside of the loop",
    SUM + "if c > 1:|        continue|    t += x[n, c]|return t": "a `continue` in the loop",
    SUM + "t += x[n, c]|return t + c": "`c` occurs outside of the loop over `x`, too",
}
"""Bodies, with `|` for the next line, and the reasons."""


@pytest.mark.parametrize("body", LOOPS)
def test_loops_outside_of_the_scope(derived: Callable[..., LayerDefinition], body: str) -> None:
    fields = ('x = pl.Input("N C", "rows")\n    y = pl.Output("N", "sums")', *ELEMENTS[1:])
    with pytest.raises(pl.DefinitionError) as error:
        derived(f"def derived_y(n, x, C):|{body}\n".replace("|", "\n    "), fields).complete()
    assert LOOPS[body] in str(error.value)


def test_temporaries_are_outside_of_the_scope(derived: Callable[..., LayerDefinition]) -> None:
    body = "total = 0.0\n    for c in range(C):\n        total += x[n, c] * g[c]\n    return total * z[n]"
    with pytest.raises(pl.DefinitionError, match="`z`, which it reads, depends on `x`, too; write"):
        derived(f"def derived_y(n, x, g, z, C):\n    {body}\n", ROWS, "x[n, 0]").complete()


def test_a_parameter_needs_a_gradient(derived: Callable[..., LayerDefinition]) -> None:
    fields = (
        'x = pl.Input("N C", "rows")\n    g = pl.Param("C", "gain")\n    y = pl.Output("N C", "rows")',
        *ELEMENTS[1:],
    )
    with pytest.raises(pl.DefinitionError) as error:
        derived("def derived_y(n, c, x, g, C):\n    return x[n, c] * g[C - 1 - c]\n", fields).complete()
    assert "parameter `g` needs a gradient, which cannot be derived: it reads `g[C - 1 - c]`" in str(error.value)
    assert str(error.value).endswith("; write @gradient(Derived.g)")


def test_an_unused_parameter_is_an_error(derived: Callable[..., LayerDefinition]) -> None:
    fields = (
        'x = pl.Input("N C", "rows")\n    g = pl.Param("C", "gain")\n    y = pl.Output("N C", "rows")',
        *ELEMENTS[1:],
    )
    with pytest.raises(pl.DefinitionError, match="parameter `g` has no gradient: no output depends on it"):
        derived("def derived_y(n, c, x, g):\n    return x[n, c]\n", fields).complete()


def test_inputs_without_a_derivative_get_none(derived: Callable[..., LayerDefinition]) -> None:
    fields = (ELEMENTS[0].replace('"values")\n', '"values", derivative=False)\n'), *ELEMENTS[1:])
    layer = derived("def derived_y(i, x):\n    return x[i - 1]\n", fields)
    assert layer.facts.differentiable == ()


def test_inputs_beside_a_written_gradient_get_none(derived: Callable[..., LayerDefinition]) -> None:
    layer = derived(
        "def derived_y(n, x, w, g, C):\n    total = 0.0\n    for c in range(C):\n        total += x[n, c] * g[c]\n"
        "    return total * w[n]\n\n\n@pl.gradient(Derived.x)\ndef derived_dx(n, c, dy, w, g):\n"
        "    return dy[n] * w[n] * g[c]\n",
        ROWS,
    )
    assert layer.facts.differentiable == ("x",)
    assert [function.name for function in layer.complete().functions if function.derived] == ["derived_dg"]


def test_the_page_shows_it(derived: Callable[..., LayerDefinition]) -> None:
    from paddle_layers.codegen.formulas import formula

    layer = derived("def derived_y(i, x):\n    return bent(x[i], 2.0)\n")
    function = layer.complete().functions[-1]
    found = formula(layer, function)
    assert found is not None
    assert found.lines[0].startswith(r"\mathrm{d}x_{i} = \mathrm{d}y_{i}")
    assert "# Derived from `derived_y`." in inspect.getsource(function.call)
    assert (function.file, function.line) == (layer.functions[0].file, layer.functions[0].line)
