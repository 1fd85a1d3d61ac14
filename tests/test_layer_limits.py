"""Functions of one element at their ends: the limit at infinity, if there is one, NaN, and derivatives at corners."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import LayerDefinition
from paddle_layers.testing.engines import as_python
from paddle_layers.testing.networks import network_text

FAR = np.array([1e8, -1e8, 1e12, -1e12])
ENDS = np.array([np.inf, -np.inf, np.inf, -np.inf])


def pointwise() -> Iterator[pytest.param]:
    for definition in pl.registry.values():
        fields = [*definition.inputs.values(), *definition.outputs.values()]
        one_to_one = [field.text for field in fields if not field.repeatable] == ["...", "..."]
        if one_to_one and "output_types" not in definition.hooks and not definition.facts.is_random:
            for number, example in enumerate(definition.examples):
                yield pytest.param(definition, example.settings, id=f"{definition.name}-{number}")


def outputs(definition: LayerDefinition, settings: dict[str, object], x: np.ndarray, dtype: str) -> np.ndarray:
    network = pl.loads(network_text(definition, [pl.Type.dense(len(x))], settings, outputs=["y"]))
    with (
        pl.Net(network, dtype=dtype) as net,
        mock.patch("paddle_layers.runtime.batch.feeding.finite", np.ndarray.astype),
    ):
        return as_python(lambda: net.forward({"in0": x[None]}))["y"][0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("definition", "settings"), list(pointwise()))
def test_a_limit_is_reached(definition: LayerDefinition, settings: dict[str, object], dtype: str) -> None:
    far, ends = (outputs(definition, settings, x, dtype) for x in (FAR, ENDS))
    settled = np.isclose(far[:2], far[2:], rtol=1e-6, atol=1e-6)
    constant = np.ptp(far) == 0  # 0 times infinity is nobody's limit where the input does not matter
    if not constant:
        np.testing.assert_allclose(ends[:2][settled], far[:2][settled], rtol=1e-6, atol=1e-6)


def test_relu_keeps_nan_and_drops_minus_infinity() -> None:
    x = np.array([-np.inf, np.inf, np.nan, -1.0, 2.0])
    np.testing.assert_array_equal(outputs(pl.registry["relu"], {}, x, "float32"), [0, np.inf, np.nan, 0, 2])


def slopes(layer: str, settings: dict[str, object], x: np.ndarray) -> np.ndarray:
    """The derivative at every value, in float64."""
    types = [pl.Type.dense(len(x))]
    network = pl.loads(network_text(pl.registry[layer], types, settings, outputs=["y"], propagate=[True]))
    with pl.Net(network, dtype="float64") as net:
        as_python(lambda: (net.forward({"in0": x[None]}), net.backward(gradients={"y": np.ones((1, len(x)))})))
        return net.gradient("in0")[0]


X = [-np.inf, -7.0, -3.0, -1.0, 0.0, 1.0, 3.0, 7.0, np.inf, np.nan]
VALUES = [
    ("relu6", {}, X, [0, 0, 0, 0, 0, 1, 3, 6, 6, np.nan]),
    ("clip", {"min": -1.0, "max": 3.0}, X, [-1, -1, -1, -1, 0, 1, 3, 3, 3, np.nan]),
    ("clip", {"max": 3.0}, X, [-np.inf, -7, -3, -1, 0, 1, 3, 3, 3, np.nan]),
]
"""What comes of ends, far values and NaN."""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("layer", "settings", "x", "expected"), VALUES)
def test_values_at_the_ends(
    layer: str, settings: dict[str, object], x: list[float], expected: list[float], dtype: str
) -> None:
    found = outputs(pl.registry[layer], settings, np.array(x), dtype)
    np.testing.assert_allclose(found, expected, rtol=1e-6 if dtype == "float32" else 1e-15)


CORNERS = [
    ("relu6", {}, [-1, 0, 1, 5, 6, 7], [0, 0, 1, 1, 0, 0]),
    ("clip", {"min": -1.0, "max": 1.0}, [-2, -1, 0, 1, 2], [0, 1, 1, 1, 0]),
]
"""Derivatives where the pieces of a function meet: a matter of definition, as the pages say."""


@pytest.mark.parametrize(("layer", "settings", "x", "expected"), CORNERS)
def test_derivatives_at_the_corners(
    layer: str, settings: dict[str, object], x: list[float], expected: list[float]
) -> None:
    np.testing.assert_array_equal(slopes(layer, settings, np.array(x, np.float64)), expected)
