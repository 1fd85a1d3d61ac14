"""Tuned kernels: equal to the point functions on every example, the same bits at any number of threads."""

import contextlib

import numba
import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import DefinitionError
from paddle_layers.kernels import tuned
from paddle_layers.testing.cases import cases

tuned.tuned_digest()  # imports the kernels
LAYERS = sorted({layer for layer, _, _ in tuned._TUNED})
TOLERANCE = {"float64": 1e-12, "float32": 2e-5}


@pytest.fixture
def for_every_size(monkeypatch):
    """Let tuned kernels run on the small shapes of the examples too."""
    everywhere = {key: [entry._replace(least=0) for entry in found] for key, found in tuned._TUNED.items()}
    monkeypatch.setattr(tuned, "_TUNED", everywhere)


def run(case, dtype):
    """Outputs and gradients of a training step by name, and the names of the tuned functions that ran."""
    with case.net(dtype) as net:
        feeds = case.feeds(case.arrays())
        outputs = net.forward(feeds, step=0)
        arrays = {name: np.asarray(v if isinstance(v, np.ndarray) else v.data) for name, v in outputs.items()}
        rng = np.random.default_rng(1)
        net.backward(gradients={name: rng.uniform(0.5, 1.5, v.shape) for name, v in arrays.items()})
        found = dict(arrays)
        found |= {p.name: p.gradient.copy() for p in net.parameters.values() if p.gradient is not None}
        for place, type_ in enumerate(case.types):
            if type_.kind == "DENSE":
                found[f"in{place}"] = net.gradient(f"in{place}")
        return found, {launch.name for launch in net.plan("train").launches if launch.items is not None}


def training_cases():
    for layer in LAYERS:
        for case in cases(pl.registry[layer]):
            if case.phase == "train":
                yield pytest.param(case, id=f"{layer}-{case.example!r}"[:80])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", list(training_cases()))
@pytest.mark.usefixtures("for_every_size")
def test_equals_the_point_functions(case, dtype):
    with tuned.point_functions_only():
        expected, none = run(case, dtype)
    found, used = run(case, dtype)
    assert not none
    assert (
        used
        or not any(
            entry.when is None or tuned.call_by_name(entry.when, dict(case.attributes))
            for (layer, _, _), found in tuned._TUNED.items()
            if layer == case.definition.name
            for entry in found
        )
        or all(type_.kind != "DENSE" for type_ in case.types)
    )
    for name, values in expected.items():
        scale = max(float(np.abs(values).max(initial=0.0)), 1e-30)
        np.testing.assert_allclose(found[name], values, rtol=0, atol=TOLERANCE[dtype] * scale, err_msg=name)


@pytest.mark.usefixtures("for_every_size")
def test_same_bits_at_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("paddle_layers.runtime.table.SERIAL_WORK", 0)
    text = """
    layer { name: "x" type: "data" data { shape: [6, 14, 14] } }
    layer { name: "c" type: "conv" input: "x" propagate_down: true
            conv { num_filters: 12 filter_size: 3 padding: 1 groups: 2 act: "relu" } }
    layer { name: "p" type: "pool" input: "c" pool { pool_size: 2 stride: 2 } }
    layer { name: "n" type: "batch_norm" input: "p" }
    layer { name: "m" type: "pool" input: "n" pool { pool_type: AVERAGE pool_size: 3 stride: 2 padding: 1 } }
    layer { name: "f" type: "fc" input: "m" fc { size: 33 } }
    layer { name: "g" type: "batch_norm" input: "f" }
    """
    network = pl.loads(text)
    x = np.random.default_rng(0).standard_normal((37, 6, 14, 14))
    results = []
    for threads in (1, 2, 2):
        with contextlib.ExitStack() as stack:
            stack.callback(numba.set_num_threads, numba.get_num_threads())
            numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
            net = stack.enter_context(pl.Net(network, seed=3))
            y = net.forward({"x": x})["g"]
            net.backward(gradients={"g": np.cos(y)})
            assert {"conv_y", "conv_dx", "conv_dweight", "fc_y", "pool_y", "batch_norm_sums", "batch_norm_dx"} <= {
                launch.name for launch in net.plan("train").launches if launch.items is not None
            }
            results.append([y, net.gradient("x"), net.arena.gradients.copy()])
    for again in results[1:]:
        for one, two in zip(results[0], again, strict=True):
            np.testing.assert_array_equal(one, two)


def test_a_kernel_for_a_function_that_does_not_exist_is_refused(monkeypatch):
    entry = tuned._TUNED["fc", "fc_y", "cpu"]
    monkeypatch.setattr(tuned, "_TUNED", {("fc", "fc_yy", "cpu"): entry})
    with pytest.raises(DefinitionError, match="`fc_yy` of layer `fc`, which does not exist"):
        tuned.check_names({"fc": {"fc_y"}})
