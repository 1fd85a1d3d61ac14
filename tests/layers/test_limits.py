"""Functions of one element at their ends: the limit at infinity, if there is one, NaN, and derivatives at corners."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import LayerDefinition
from paddle_layers.testing.cases.case import cases, network_text
from paddle_layers.testing.cases.trial import Trial, as_python

FAR = np.array([1e8, -1e8, 1e12, -1e12])
ENDS = np.array([np.inf, -np.inf, np.inf, -np.inf])


def pointwise() -> Iterator[pytest.param]:
    for definition in pl.registry.values():
        fields = [*definition.inputs.values(), *definition.outputs.values()]
        one_to_one = [field.text for field in fields if not field.repeatable] == ["...", "..."]
        dense = all("DENSE" in getattr(field, "kinds", (field.kind,)) for field in fields)
        if one_to_one and dense and "output_types" not in definition.hooks and not definition.facts.is_random:
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
    with (
        pl.Net(network, dtype="float64") as net,
        mock.patch("paddle_layers.runtime.batch.feeding.finite", np.ndarray.astype),
    ):
        as_python(lambda: (net.forward({"in0": x[None]}), net.backward(gradients={"y": np.ones((1, len(x)))})))
        return net.gradient("in0")[0]


INF, NAN = np.inf, np.nan
X = [-INF, -7.0, -3.0, -1.0, 0.0, 1.0, 3.0, 7.0, INF, NAN]
TENTHS = {"base": 0.1}
VALUES = [
    ("relu6", {}, X, [0, 0, 0, 0, 0, 1, 3, 6, 6, NAN]),
    ("clip", {"min": -1.0, "max": 3.0}, X, [-1, -1, -1, -1, 0, 1, 3, 3, 3, NAN]),
    ("clip", {"max": 3.0}, X, [-INF, -7, -3, -1, 0, 1, 3, 3, 3, NAN]),
    ("hard_sigmoid", {}, X, [0, 0, 0, 1 / 3, 1 / 2, 2 / 3, 1, 1, 1, NAN]),
    ("hard_swish", {}, X, [0, 0, 0, -1 / 3, 0, 2 / 3, 3, 7, INF, NAN]),
    ("abs", {}, X, [INF, 7, 3, 1, 0, 1, 3, 7, INF, NAN]),
    ("softsign", {}, X, [-1, -7 / 8, -3 / 4, -1 / 2, 0, 1 / 2, 3 / 4, 7 / 8, 1, NAN]),
    ("threshold", {}, X, [0, 0, 0, 0, 0, 1, 1, 1, 1, NAN]),
    (
        "selu",
        {},
        [-INF, -99, 0, 1, INF, NAN],
        [-1.7580993408473766, -1.7580993408473766, 0, 1.0507009873554805, INF, NAN],
    ),
    ("stanh", {}, [-INF, -100, 0, 100, INF, NAN], [-1.7159, -1.7159, 0, 1.7159, 1.7159, NAN]),
    ("swish", {}, [-INF, -1000, 0, 1000, INF, NAN], [0, 0, 0, 1000, INF, NAN]),
    ("softplus", {}, [-INF, -1000, 0, 1000, INF, NAN], [0, 0, np.log(2), 1000, INF, NAN]),
    ("softplus", {"beta": 4.0}, [-INF, 0, 1e30, INF, NAN], [0, np.log(2) / 4, 1e30, INF, NAN]),
    ("exp", {}, [-INF, -1e4, 0, 1e4, INF, NAN], [0, 0, 1, INF, INF, NAN]),
    ("exp", {"base": 2.0}, [-INF, -1e4, 0, 3, 1e4, INF, NAN], [0, 0, 1, 8, INF, INF, NAN]),
    ("log", {}, [-INF, -1, -0.0, 0.0, 1, INF, NAN], [NAN, NAN, -INF, -INF, 0, INF, NAN]),
    ("log", TENTHS, [-1, 0, 0.01, 1, INF, NAN], [NAN, INF, 2, 0, -INF, NAN]),
    ("log_softmax", {}, [1e4, 0, -1e4, -INF], [0, -1e4, -2e4, -INF]),
    ("log_softmax", {}, [0, NAN], [NAN, NAN]),
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
    ("hard_sigmoid", {"slope": 0.5}, [-2, -1, 0, 1, 2], [0, 0, 0.5, 0, 0]),
    ("hard_swish", {}, [-4, -3, 0, 3, 4], [0, 0, 0.5, 1, 1]),
    ("abs", {}, [-2, 0, 2], [-1, 0, 1]),
    ("selu", {}, [0, 1], [1.7580993408473766, 1.0507009873554805]),
]
"""Derivatives where the pieces of a function meet: a matter of definition, as the pages say."""
FLAT = [
    ("softplus", {}, [-1e4, 1e4], [0, 1]),
    ("swish", {}, [-INF, -1e4, 1e4, INF], [0, 0, 1, 1]),
    ("softsign", {}, [-1e200, 1e200], [0, 0]),
    ("stanh", {}, [-1e4, 1e4], [0, 0]),
    ("exp", {}, [-1e4, 0], [0, 1]),
    ("log", {}, [0, 0.5], [INF, 2]),
]
"""Derivatives of values that are far away, and at the end of what a function is defined for."""


@pytest.mark.parametrize(("layer", "settings", "x", "expected"), [*CORNERS, *FLAT])
def test_derivatives_at_corners_and_ends(
    layer: str, settings: dict[str, object], x: list[float], expected: list[float]
) -> None:
    np.testing.assert_allclose(slopes(layer, settings, np.array(x, np.float64)), expected, rtol=1e-15)


EXPONENTIATED = [definition for definition in pl.registry.values() if "peak" in definition.fields]


@pytest.mark.parametrize("definition", EXPONENTIATED, ids=lambda definition: definition.name)
def test_exponentials_of_large_scores_do_not_overflow(definition: LayerDefinition) -> None:
    """The largest score is taken off first."""
    for case in cases(definition):
        with Trial(case) as trial:
            for place, (wanted, type_, field) in enumerate(zip(case.wanted, case.types, case.inputs, strict=True)):
                if wanted and type_.kind == "DENSE" and field.within is None:
                    trial.arrays[place] = trial.arrays[place] * 1e4
            found = as_python(trial.forward)
        assert all(np.isfinite(found[name]).all() for name in case.outputs)


@pytest.mark.parametrize("name", ["mvn", "instance_norm", "layer_norm", "batch_norm"])
def test_moments_of_values_far_from_zero(name: str) -> None:
    """Squares of the differences from the mean: the difference of squares would have no digits left."""
    network = pl.loads(network_text(pl.registry[name], [pl.Type.dense(2, 3, 4)], {}, outputs=["y"]))
    x = np.random.default_rng(3).normal(size=(5, 2, 3, 4))

    def normalized(values: np.ndarray) -> np.ndarray:
        with pl.Net(network, dtype="float64") as net:
            return as_python(lambda: net.forward({"in0": values}, phase="train"))["y"].copy()

    np.testing.assert_allclose(normalized(x + 1e8), normalized(x), atol=1e-5)
