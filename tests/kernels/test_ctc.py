"""What ctc's kernels are made of, and that they stay right where probabilities are beyond the range of float32."""

from unittest import mock

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.kernels.losses.ctc import add_logs, exp_below_zero, log_near_one
from paddle_layers.kernels.tuned import point_functions_only
from paddle_layers.runtime import Sequences
from tests.kernels.helpers import from_python

NETWORK = """
layer { name: "x" type: "data" data { shape: 9 seq_nested_level: 1 } }
layer { name: "label" type: "data" data { data_type: INT size: 9 seq_nested_level: 1 } }
layer { name: "cost" type: "ctc" input: "x" propagate_down: true input: "label" propagate_down: false
        ctc { max_labels: 40 } }
"""


def test_vector_functions_are_right_to_the_last_places():
    values = np.linspace(1, 3, 20001, dtype=np.float32)
    found = np.array(list(map(from_python(log_near_one), values)))
    np.testing.assert_allclose(found, np.log(values.astype(np.float64)), rtol=0, atol=2e-7)
    values = -np.linspace(0, 87, 20001, dtype=np.float32)
    found = np.array(list(map(from_python(exp_below_zero), values)))
    np.testing.assert_allclose(found, np.exp(values.astype(np.float64)), rtol=3e-7)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 3e-7), (np.float64, 1e-15)])
def test_sums_of_logarithms(dtype, tolerance):
    one, two = [-np.inf, 0.0, -3.0, -np.inf, -900.0, 5.0], [-np.inf, 0.0, -4.0, 2.0, -901.0, -np.inf]
    three = [-np.inf, 0.0, 1.0, -np.inf, -700.0, 4.0]
    gates = np.array([0, 0, 0, 0, -np.inf, 0], dtype)
    row, given = np.empty(6, dtype), [np.array(part, dtype) for part in (one, two, three)]
    from_python(add_logs)(row, *given, gates)
    with np.errstate(invalid="ignore"):
        expected = np.logaddexp(np.logaddexp(one, two), three + gates.astype(np.float64))
    np.testing.assert_allclose(row, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("scale", [1.0, 60.0])
@pytest.mark.slow
def test_long_sequences_and_large_scores(scale):
    rng = np.random.default_rng(0)
    counts, wanted = np.array([400, 3, 81, 40]), np.array([40, 2, 40, 0])
    x = scale * rng.standard_normal((counts.sum(), 9))
    label = np.resize(np.arange(1, 9), wanted.sum())
    feeds = {"x": Sequences(x, np.cumsum([0, *counts])), "label": Sequences(label, np.cumsum([0, *wanted]))}

    def run(dtype):
        with pl.Net(pl.loads(NETWORK), dtype=dtype) as net:
            cost = net.forward(feeds)["cost"]
            assert "ctc_alpha_tuned" in {getattr(launch.code, "name", "") for launch in net.plan("train").launches}
            net.backward(gradients={"cost": np.ones(4)})
            return cost, net.gradient("x")

    with point_functions_only(), pl.Net(pl.loads(NETWORK), dtype="float64") as net:
        cost = net.forward(feeds)["cost"]
        net.backward(gradients={"cost": np.ones(4)})
        slope = net.gradient("x")
    for dtype in ("float64", "float32"):
        found, its_slope = run(dtype)
        np.testing.assert_allclose(found, cost, rtol=8 * np.finfo(dtype).eps)
        np.testing.assert_allclose(its_slope, slope, atol=8 * np.finfo(dtype).eps * cost.max())  # of a logarithm


@pytest.mark.slow
def test_classes_that_score_minus_infinity_have_no_gradient():
    """As `log` of a probability 0 gives: the tuned kernels give what the point functions give, and no NaN."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 9))
    x[rng.random(x.shape) < 0.1] = -np.inf
    feeds = {"x": Sequences(x, [0, 200]), "label": Sequences(np.resize(np.arange(1, 9), 40), [0, 40])}

    def run(dtype):
        with pl.Net(pl.loads(NETWORK), dtype=dtype) as net:
            cost = net.forward(feeds)["cost"]
            net.backward(gradients={"cost": np.ones(1)})
            return cost, net.gradient("x")

    with mock.patch("paddle_layers.runtime.batch.feeding.finite", lambda array, dtype: array.astype(dtype)):
        with point_functions_only():
            cost, slope = run("float64")
        assert np.isfinite(slope).all()
        for dtype in ("float64", "float32"):
            found, its_slope = run(dtype)
            np.testing.assert_allclose(found, cost, rtol=8 * np.finfo(dtype).eps)
            np.testing.assert_allclose(its_slope, slope, atol=8 * np.finfo(dtype).eps * cost.max())
