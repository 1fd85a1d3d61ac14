"""Tuned gradients of a second input, on shapes that leave remainders, against the point functions."""

from functools import partial

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.kernels import tuned
from paddle_layers.kernels.selection import load_all_kernels
from paddle_layers.testing.cases.trial import as_python
from tests.selection import compiled_layers

load_all_kernels()
SHAPES = [([19, 5, 7], [19, 1, 1]), ([3, 31, 1], [1, 31, 1]), ([5, 3, 11], [1]), ([7, 5, 9], [7, 5, 9]), ([37], [37])]
LAYERS = ["mul", "div", "add", "sub"]
TOLERANCE = {"float64": 1e-12, "float32": 1e-5}


@pytest.fixture(autouse=True)
def for_every_size(monkeypatch):
    """Let tuned kernels run on small shapes too."""
    everywhere = {key: [entry._replace(least=0) for entry in found] for key, found in tuned._TUNED.items()}
    monkeypatch.setattr(tuned, "_TUNED", everywhere)


def run(layer, shape, other, rows, dtype):
    """The gradient of the second input, which two layers read, and the tuned functions that ran."""
    text = f"""
    layer {{ name: "x" type: "data" data {{ shape: {shape} }} }}
    layer {{ name: "other" type: "data" data {{ shape: {other} }} }}
    layer {{ name: "a" type: "{layer}" input: "x" input: "other" propagate_down: [true, true] }}
    layer {{ name: "b" type: "{layer}" input: "x" input: "other" propagate_down: [true, true] }}
    """
    rng = np.random.default_rng(rows)
    feeds = {"x": rng.standard_normal((rows, *shape)), "other": rng.uniform(0.5, 2, (rows, *other))}
    with pl.Net(pl.loads(text), dtype=dtype) as net:
        net.forward(feeds, phase="train")
        net.backward(gradients={name: rng.standard_normal((rows, *shape)) for name in ("a", "b")})
        return net.gradient("other").copy(), {
            launch.name for launch in net.plan("train").launches if launch.items is not None
        }


@pytest.mark.parametrize("dtype", [pytest.param("float64", marks=pytest.mark.slow), "float32"])
@pytest.mark.parametrize("layer", compiled_layers(LAYERS))
def test_equals_the_point_functions(layer, dtype):
    for shape, other in SHAPES:
        for rows in (1, 3):
            expected, none = as_python(partial(run, layer, shape, other, rows, dtype))
            found, used = run(layer, shape, other, rows, dtype)
            assert (used, none) == ({f"{layer}_dother"}, set())
            np.testing.assert_allclose(
                found, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * abs(expected).max()
            )
