"""Functions of one element at infinity: their limit, where they have one, and never NaN from 0 times infinity."""

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
