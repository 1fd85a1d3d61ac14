"""The tuned softmax_with_loss: ties, weights, labels that are ignored, against the point functions."""

from functools import partial

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.kernels import tuned
from paddle_layers.testing.cases.trial import as_python
from tests.selection import marks_of

TOLERANCE = {"float64": 1e-13, "float32": 2e-6}


def run(x, label, settings, weight, dtype):
    """Losses, gradient of the scores that two costs read, and the tuned functions that ran."""
    data = 'layer { name: "w" type: "data" data { shape: [] } }' if weight is not None else ""
    given = 'input: "w" propagate_down: [true, false, false]' if weight is not None else "propagate_down: [true, false]"
    block = f'type: "softmax_with_loss" input: "x" input: "label" {given} softmax_with_loss {{ {settings} }}'
    text = f"""
    layer {{ name: "x" type: "data" data {{ shape: [{x.shape[1]}] }} }}
    layer {{ name: "label" type: "data" data {{ data_type: INT size: {x.shape[1]} }} }} {data}
    layer {{ name: "a" {block} }}
    layer {{ name: "b" {block} }}
    """
    feeds = {"x": x, "label": label} | ({"w": weight} if weight is not None else {})
    with pl.Net(pl.loads(text), dtype=dtype) as net:
        found = dict(net.forward(feeds))
        net.backward()
        used = {launch.name for launch in net.plan("train").launches if launch.items is not None}
        return {name: np.array(y) for name, y in found.items()} | {"dx": net.gradient("x").copy()}, used


@pytest.mark.parametrize("dtype", [pytest.param("float64", marks=pytest.mark.slow), "float32"])
@pytest.mark.parametrize(
    ("settings", "weighted"),
    [pytest.param("", False, marks=marks_of("softmax_with_loss")), ("ignore_label: 3 normalization: BATCH_SIZE", True)],
)
def test_equals_the_point_functions(settings, weighted, dtype):
    rng = np.random.default_rng(4)
    for rows, classes in ((1, 5), (3, 37), (19, 130)):
        x = 6 * rng.standard_normal((rows, classes))
        x[0, :2] = x[0].max() + 1  # two largest scores
        x[-1, 4] += 200  # others far below, the probability of one near 1
        label = rng.integers(0, classes, rows)
        label[-1] = 4
        weight = rng.uniform(0.5, 2, rows) if weighted else None
        expected, none = as_python(partial(run, x, label, settings, weight, dtype))
        with tuned.tuned_at_every_size():
            found, used = run(x, label, settings, weight, dtype)
        assert {"softmax_with_loss_moments", "softmax_with_loss_dx"} <= used
        assert not none
        for name, values in expected.items():
            np.testing.assert_allclose(
                found[name], values, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * abs(values).max(), err_msg=name
            )
