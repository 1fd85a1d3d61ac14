"""Layers whose forward and backward passes read a state that every pass in the phase train moves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import Example, Input, Output, State, each, gradient, layer, real, update
from paddle_layers.testing import check_layer

pytestmark = pytest.mark.usefixtures("as_python")

X = np.array([[1.0, -2.0], [3.0, 6.0]])
FIRST = np.array([0.5, 2.0])
MOVED = FIRST / 2 + X.mean(0) / 2
TEXT = """
layer { name: "x" type: "data" data { shape: 2 } }
layer { name: "y" type: "test_swelling" input: "x" propagate_down: true }
layer { name: "cost" type: "sum_cost" input: "y" }
"""


@pytest.fixture(scope="module", autouse=True)
def swelling() -> Iterator[None]:
    @layer("test_swelling")
    class Swelling:
        """Every column times a running mean, `y = x * mean`, which then moves on by half the way."""

        x = Input("N C", "rows")
        mean = State("C", "running mean of the columns", init="one")
        y = Output("N C", "same shape as `x`")
        examples = (Example(x="3"), Example(x="1"))

    @each(Swelling.y)
    def swelling_y(n, c, x, mean):
        return x[n, c] * mean[c]

    @gradient(Swelling.x)
    def swelling_dx(n, c, dy, mean):
        return dy[n, c] * mean[c]

    @update(Swelling.mean)
    def swelling_mean(c, x, mean, N):
        total = 0.0
        for n in range(N):
            total += x[n, c]
        return mean[c] / 2.0 + total / real(N) / 2.0 if N > 0 else mean[c]

    yield
    pl.registry.remove("test_swelling")


@pytest.fixture
def net() -> Iterator[pl.Net]:
    with pl.Net(pl.loads(TEXT), dtype="float64", keep=["y"]) as net:
        net.states["y.mean"].value = FIRST
        yield net


def gradient_of(net: pl.Net, **options: object) -> np.ndarray:
    net.backward(**options)
    return net.gradient("x")


def test_the_backward_pass_reads_what_the_forward_pass_has_read(net: pl.Net) -> None:
    net.forward({"x": X})
    np.testing.assert_array_equal(net.value("y"), X * FIRST)
    np.testing.assert_array_equal(net.states["y.mean"].value, MOVED)
    np.testing.assert_array_equal(gradient_of(net) * len(X), np.broadcast_to(FIRST, X.shape))


def test_so_it_does_where_the_forward_pass_has_to_run_again(net: pl.Net) -> None:
    net.forward({"x": X})
    for _ in range(2):  # other seeds than planned for, then values that the first time has used up
        given = gradient_of(net, gradients={"y": np.ones(X.shape)})
        np.testing.assert_array_equal(given, np.broadcast_to(FIRST, X.shape))
        np.testing.assert_array_equal(net.states["y.mean"].value, MOVED)
        np.testing.assert_array_equal(net.value("y"), X * FIRST)


def test_the_next_pass_takes_the_state_that_was_left(net: pl.Net) -> None:
    net.forward({"x": X})
    net.forward({"x": X})
    np.testing.assert_array_equal(net.value("y"), X * MOVED)
    np.testing.assert_array_equal(gradient_of(net) * len(X), np.broadcast_to(MOVED, X.shape))


def test_looking_for_a_number_that_is_none_moves_no_state(net: pl.Net) -> None:
    net.forward({"x": X})
    assert net.find_non_finite() is None
    np.testing.assert_array_equal(net.states["y.mean"].value, MOVED)
    net.states["y.mean"].value = np.array([np.inf, 1.0])
    net.forward({"x": X})
    net.states["y.mean"].value = FIRST  # what the pass has found counts, not what is there now
    assert net.find_non_finite() == "y"


def test_the_kit_takes_gradients_and_rows_at_one_state() -> None:
    report = check_layer("test_swelling", compiled=False, configs=6)
    assert report.checked["gradients"] > 1
    assert report.checked["rows"] > 1
    assert report.checked["NaN"] > 1
