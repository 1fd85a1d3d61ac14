"""Arguments of passes: names, reserved rows, gradients that there are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.data.dataset import Dataset
from paddle_layers.data.problems import DataError
from paddle_layers.runtime import FeedError
from paddle_layers.runtime.devices.cpu import compiler

pytestmark = pytest.mark.usefixtures("as_python")

NAMED = """
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "target" type: "data" data { shape: 4 } }
layer { name: "y" type: "fc" input: "x" fc { size: 4 } }
layer { name: "cost" type: "square_error" input: "y" input: "target" }
"""
NAMES: dict[str, tuple[Callable[[pl.Net], object], type[Exception], str]] = {
    "feeds": (
        lambda net: net.forward({1: 2}),
        FeedError,
        r"the keys of feeds must be names of data layers \(`x`, `target`\), not 1",
    ),
    "gradients": (
        lambda net: net.backward({None: 2}),
        TypeError,
        "gradients must be a dict of arrays by output, with strings as keys",
    ),
    "no dict": (lambda net: net.backward([1]), TypeError, "gradients must be a dict of arrays by output, not a list"),
    "divisors": (lambda net: net.backward(divisors={"y": 2}), ValueError, "the network has no loss `y`"),
    "a divisor": (
        lambda net: net.backward(divisors={"cost": "2"}),
        TypeError,
        "the divisor of `cost` must be a number",
    ),
    "value": (lambda net: net.value([1]), KeyError, r"no output `\[1\]`"),
    "gradient": (lambda net: net.gradient(1), KeyError, "`1` has no gradient"),
    "gradient of an input": (
        lambda net: net.gradient("x"),
        KeyError,
        "no gradient is computed for `x`, which depends on no parameters: set `propagate_down: true` in the layer that",
    ),
    "rename": (
        lambda net: net.save("w", rename={1: "a"}),
        TypeError,
        "rename must be a dict from old to new names, with strings as keys",
    ),
    "renamed": (lambda net: net.save("w", rename={"a": 1}), TypeError, "with strings as values, not 1"),
    "fields": (lambda _: Dataset({1: [2]}), DataError, "names of fields must be strings, got 1"),
}


def test_reserved_rows_have_memory_in_plans_that_are_there_already() -> None:
    net = pl.Net(pl.loads(NAMED), seed=1)
    feeds = {"x": np.ones((60, 3)), "target": np.ones((60, 4))}
    expected = net.forward(feeds)["cost"]
    other = pl.Net(pl.loads(NAMED), seed=1)
    other.forward({name: array[:2] for name, array in feeds.items()})
    other.plan_for(100)
    np.testing.assert_array_equal(other.forward(feeds)["cost"], expected)
    for wrong, error in ((0, ValueError), ("9", TypeError)):
        with pytest.raises(error, match="batch_size must be an integer"):
            other.plan_for(wrong)


def test_all_kernels_of_both_phases_are_compiled_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the number of kernels is known when the first one is compiled."""
    compiled: list[set[str]] = []

    def compile_all(drivers: Sequence[compiler.Driver], progress: object) -> list[int]:
        compiled.append({driver.text for driver in drivers})
        return compiler.compile_all(drivers, None)

    monkeypatch.setattr("paddle_layers.runtime.devices.cpu.device.compile_all", compile_all)
    text = NAMED + 'layer { name: "error" type: "regression_error" input: "y" input: "target" }'
    pl.Net(pl.loads(text)).plan_for(4)
    first, *others = compiled
    assert len(others) >= 2
    assert set().union(*others) == first


@pytest.mark.parametrize("argument", NAMES)
def test_names_are_strings(argument: str) -> None:
    call, error, message = NAMES[argument]
    net = pl.Net(pl.loads(NAMED))
    net.forward({"x": np.ones((2, 3)), "target": np.ones((2, 4))})
    with pytest.raises(error, match=message):
        call(net)


def test_gradients_of_values_are_those_of_the_last_forward_pass() -> None:
    net = pl.Net(pl.loads(NAMED), keep=["y"])
    feeds = {"x": np.ones((2, 3)), "target": np.ones((2, 4))}
    for _ in range(2):
        net.forward(feeds)
        with pytest.raises(RuntimeError, match="no gradients: call backward after the last forward pass"):
            net.gradient("y")
        net.backward()
        assert net.gradient("y").any()
