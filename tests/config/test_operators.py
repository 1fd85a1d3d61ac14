"""Operators on values of helpers, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers import nn

RNG = np.random.default_rng(0)
SHAPES = {"a": (2, 3, 4), "b": (2, 3, 4), "c": (2, 1, 1), "m": (2, 4, 5)}
EXPRESSIONS = (
    *(
        "a + b",
        "a - b",
        "a * b",
        "a / b",
        "a + 2",
        "2 + a",
        "a - 2",
        "2 - a",
        "3 * a",
        "a / 4",
        "2 / a",
        "-a",
        "a ** 2",
    ),
    *("a + c", "c + a", "c - a", "a / c", "c / a", "c * a", "a @ m", "2 * a + b / (a + 3) - 1"),
    *("a[:, 1]", "a[:, -1:]", "a[:, :, 1:3]", "a[..., 0]", "a[:, 0, 1:, ::2]", "a[:, 0, 1, 2]", "a[:]", "a[:, 1:, -2]"),
)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_operators_are_those_of_numpy(expression: str) -> None:
    values = {name: nn.data(shape=list(shape), name=name) for name, shape in SHAPES.items()}
    used = {name for name in SHAPES if name in expression}
    found = nn.slope_intercept(eval(expression, {}, values), name="y")  # the expressions above
    feeds = {name: RNG.uniform(0.5, 2, (2, *SHAPES[name])) for name in used}
    with pl.Net(pl.Network(outputs=[found]), dtype="float64") as net:
        result = net.forward(feeds, phase="test")["y"]
    expected = np.asarray(eval(expression, {}, feeds))
    np.testing.assert_allclose(result.reshape(expected.shape), expected, rtol=1e-12)


def test_a_sequence_is_indexed_behind_its_steps() -> None:
    x = nn.data(shape=[4], seq_nested_level=1, name="x")
    net = pl.Net(pl.Network(outputs=[nn.slope_intercept(x[:, :, 1:3] * 2, name="y")]))
    found = net.forward({"x": [np.arange(8.0).reshape(2, 4), np.ones((1, 4))]}, phase="test")["y"]
    np.testing.assert_array_equal(found.data, [[2, 4], [10, 12], [2, 2]])


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (0, IndexError, r"the first axis is the batch, which cannot be indexed: write x\[:, \.\.\.\]"),
        ((slice(None), 5), IndexError, "index 5 is out of range for axis 1 with 3 elements"),
        ((slice(None), slice(None, None, -1)), IndexError, "negative step"),
        ((slice(None), slice(2, 2)), IndexError, "is empty"),
        ((slice(None),) * 5, IndexError, "5 indices for 3 axes"),
        ((..., ...), IndexError, "at most one"),
        ((slice(None), "a"), TypeError, "an integer, a slice"),
    ],
)
def test_wrong_indices_say_what_to_write(key: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        nn.data(shape=[3, 4], name="x")[key]


def test_values_are_no_iterables_and_do_not_add_to_arrays() -> None:
    x = nn.data(shape=[3], name="x")
    with pytest.raises(TypeError, match="iter"):
        _, _ = x
    for other, message in (("a", "unsupported operand"), (np.ones(3), "an array cannot be an operand"), (None, None)):
        with pytest.raises(TypeError, match=message):
            _ = x + other
        with pytest.raises(TypeError, match=message if other is not None and len(other) > 1 else None):
            _ = other * x


def test_scalars_of_numpy_are_numbers() -> None:
    x = nn.data(shape=[3], name="x")
    net = pl.Net(pl.Network(outputs=[nn.slope_intercept(np.float32(2) * x + np.int64(1), name="y")]))
    np.testing.assert_array_equal(net.forward({"x": [[1, 2, 3]]}, phase="test")["y"], [[3, 5, 7]])


def test_a_vector_beside_an_image_is_ambiguous() -> None:
    image, vector = nn.data(shape=[3, 3, 3], name="image"), nn.data(shape=[3], name="vector")
    with pytest.raises(TypeError, match=r"the same number of axes.*dims=\[3, 1, 1\]"):
        _ = image + vector


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("bool(x)", r"a value has no truth value.*nn\.compare compares elements"),
        ("x.relu()", r"no attribute `relu`; write nn\.relu\(\.\.\.\)"),
        ("x.shape", "no attribute `shape`; `type` is its type, `type.dims` has the axes of a sample"),
        ("x.colour", "^a value has no attribute `colour`$"),
        ("nn.fc(x, size=2, act=nn.relu)", r"^nn\.fc: `act` is a function; write act='relu'$"),
        ("nn.fc('x', size=2)", "found 'x'; pass the value itself instead of its name"),
        ("pl.Adam", r"""write `Optimizer\(net, "adam"\)`, or `optimizer={"type": "adam", ...}` in `make_training`"""),
        ("pl.Conv2D", r"write `nn\.conv\(\.\.\.\)`"),
        ("pl.EarlyStopping", "the callback `early_stop` is a block of a training"),
        ("pl.evalute", "did you mean `evaluate`"),
    ],
)
def test_habits_of_other_frameworks(code: str, message: str) -> None:
    with pytest.raises((AttributeError, TypeError), match=message):
        eval(code, {"pl": pl, "nn": nn, "x": nn.data(shape=[3])})
