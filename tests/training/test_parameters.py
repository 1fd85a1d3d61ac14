"""Settings of single parameters against NumPy: own penalties, own momentum, limits of norms, pruning."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config.training import ComponentSettings
from paddle_layers.define import registries
from paddle_layers.runtime.devices.cuda import simulated_device
from paddle_layers.runtime.optimise.limits import mask_of, units_of
from paddle_layers.runtime.optimise.updater import Updater

NETWORK = """
layer {{ name: "x" type: "data" data {{ shape: [4] }} }}
layer {{ name: "a" type: "fc" input: "x" fc {{ size: 3 }} param {{ of: "weight" {} }} }}
"""


def make(settings="", network=NETWORK, device="cpu"):
    return pl.Net(pl.loads(network.format(settings)), dtype="float64", seed=2, device=device)


def updater_of(net, optimizer="sgd", regularizer=None, **attributes):
    definition = registries["optimizer"][optimizer]
    penalty = None
    if regularizer is not None:
        own = registries["regularizer"][regularizer]
        penalty = ComponentSettings(own, own.bind({"rate": 0.5}))
    return Updater(definition, definition.bind(attributes), net, regularizer=penalty)


def steps(net, updater, count=4, rate=0.1):
    """Steps with random gradients; the values behind each, and the gradients."""
    rng, found = np.random.default_rng(0), []
    for step in range(1, count + 1):
        given = {name: rng.normal(size=one.shape) for name, one in net.parameters.items()}
        for name, one in net.parameters.items():
            one.blocks["gradient"].write(one.offset, given[name], net.dtype)
        updater.step(rate, step)
        found.append((given, {name: one.value.copy() for name, one in net.parameters.items()}))
    return found


@pytest.mark.parametrize(
    ("settings", "penalty"),
    [
        ("l1: 0.3", lambda w: 0.3 * np.sign(w)),
        ("l2: 0.3", lambda w: 0.3 * w),
        ("l1: 0.2 l2: 0.3 decay_mult: 7", lambda w: 0.2 * np.sign(w) + 0.3 * w),
        ("l1: 0 l2: 0", lambda w: 0 * w),
        ("decay_mult: 2", lambda w: 1.0 * w),
    ],
)
def test_penalties_of_a_parameter_of_its_own(settings, penalty):
    net = make(settings)
    w, bias = (net.parameters[f"a.{name}"].value.copy() for name in ("weight", "bias"))
    for given, found in steps(net, updater_of(net, momentum=0.0, regularizer="l2")):
        w = w - 0.1 * (given["a.weight"] + penalty(w))
        bias = bias - 0.1 * (given["a.bias"] + 0.5 * bias)  # that of the training
        np.testing.assert_allclose(found["a.weight"], w, rtol=1e-12)
        np.testing.assert_allclose(found["a.bias"], bias, rtol=1e-12)


def test_momentum_of_its_own():
    net = make("momentum: 0.5")
    w, v = net.parameters["a.weight"].value.copy(), 0
    bias, v_of_bias = net.parameters["a.bias"].value.copy(), 0
    for given, found in steps(net, updater_of(net, momentum=0.9)):
        v = 0.5 * v + 0.1 * given["a.weight"]
        v_of_bias = 0.9 * v_of_bias + 0.1 * given["a.bias"]
        w, bias = w - v, bias - v_of_bias
        np.testing.assert_allclose(found["a.weight"], w, rtol=1e-12)
        np.testing.assert_allclose(found["a.bias"], bias, rtol=1e-12)


def test_momentum_of_its_own_needs_an_optimizer_with_momentum():
    with pytest.raises(ValueError, match=r"`a.weight` sets `momentum`, but the optimizer `adam` has no momentum"):
        updater_of(make("momentum: 0.5"), "adam")


def test_gradients_are_clipped_by_the_norm_of_a_parameter():
    net = make("clip_norm: 0.7")
    w = net.parameters["a.weight"].value.copy()
    for given, found in steps(net, updater_of(net, momentum=0.0)):
        gradient = given["a.weight"]
        w = w - 0.1 * gradient * min(1, 0.7 / np.linalg.norm(gradient))
        np.testing.assert_allclose(found["a.weight"], w, rtol=1e-12)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_norms_of_units_stay_within_their_limit(device):
    net = make("max_norm: 0.9", device=device if device == "cpu" else simulated_device())
    w = net.parameters["a.weight"].value.copy()
    for given, found in steps(net, updater_of(net, momentum=0.0), rate=0.4):
        w = w - 0.4 * given["a.weight"]
        w = w * np.minimum(1, 0.9 / np.linalg.norm(w, axis=0))
        np.testing.assert_allclose(found["a.weight"], w, rtol=1e-12)
    assert np.linalg.norm(found["a.weight"], axis=0).max() == pytest.approx(0.9)


UNITS = """
layer { name: "x" type: "data" data { shape: [4, 5, 5] } }
layer { name: "id" type: "data" data { data_type: INT size: 7 } }
layer { name: "conv" type: "conv" input: "x" conv { num_filters: 3 filter_size: 2 } }
layer { name: "back" type: "conv_trans" input: "conv" conv_trans { num_filters: 2 filter_size: 2 } }
layer { name: "fc" type: "fc" input: "back" fc { size: 6 } }
layer { name: "row" type: "embedding" input: "id" embedding { size: 6 } }
"""


def test_what_a_unit_is():
    net = pl.Net(pl.loads(UNITS))
    found = {name: units_of(one) for name, one in net.parameters.items()}
    assert found == {
        "conv.weight": (1, 3, 16),
        "conv.bias": (1, 1, 3),
        "back.weight": (1, 1, 24),
        "back.bias": (1, 1, 2),
        "fc.weight": (50, 6, 1),
        "fc.bias": (1, 1, 6),
        "row.table": (1, 7, 6),
    }


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "lamb"])
def test_pruned_numbers_stay_zero(optimizer):
    net = make("prune: 0.6 l1: 0.1")
    first = net.parameters["a.weight"].value.copy()
    pruned = mask_of(first, 0.6) == 0
    assert pruned.sum() == 7
    assert np.abs(first[pruned]).max() < np.abs(first[~pruned]).min()
    updater = updater_of(net, optimizer)
    for _, found in steps(net, updater, 6):
        assert np.array_equal(found["a.weight"] == 0, pruned)
    mask = updater.saved()["mask/a.weight"].reshape(first.shape)
    assert np.array_equal(mask == 0, pruned)


def test_pruned_gradients_are_those_of_the_rest():
    net = make("prune: 0.6 clip_norm: 100")
    w = net.parameters["a.weight"].value.copy()
    mask = mask_of(w, 0.6)
    w, v = w * mask, 0
    for given, found in steps(net, updater_of(net, momentum=0.9)):
        v = 0.9 * v + 0.1 * given["a.weight"] * mask
        w = w - v
        np.testing.assert_allclose(found["a.weight"], w, rtol=1e-12)


TABLE = """
layer {{ name: "id" type: "data" data {{ data_type: INT size: 9 }} }}
layer {{ name: "y" type: "data" data {{ shape: [2] }} }}
layer {{ name: "row" type: "embedding" input: "id" embedding {{ size: 2 }} param {{ of: "table" {} }} }}
layer {{ name: "cost" type: "square_error" input: "row" input: "y" }}
"""


@pytest.mark.parametrize("settings", ["max_norm: 0.3", "prune: 0.5", "clip_norm: 0.2", "l2: 0.3", "momentum: 0.3"])
def test_tables_with_gradients_by_rows(settings, monkeypatch):
    found = []
    for dense in (False, True):
        if dense:
            monkeypatch.setattr("paddle_layers.runtime.net.mark_sparse_gradients", lambda _: None)
        net, rng = make(settings, TABLE), np.random.default_rng(3)
        assert net.parameters["row.table"].by_rows is not dense
        net.parameters["row.table"].value = np.random.default_rng(8).normal(size=(9, 2))
        updater = updater_of(net)
        for step in range(1, 6):
            net.forward({"id": rng.integers(0, 9, 3), "y": rng.normal(size=(3, 2))})
            net.backward()
            updater.step(0.2, step)
        found.append(net.parameters["row.table"].value.copy())
    np.testing.assert_allclose(*found, rtol=1e-10)


def test_to_go_on_from_what_was_saved_is_the_same_bits():
    whole, first, second = (make("prune: 0.5 max_norm: 1") for _ in range(3))
    expected = steps(whole, updater_of(whole), 6)[-1][1]
    before = updater_of(first)
    rng = np.random.default_rng(0)
    after = updater_of(second)
    for step in range(1, 7):
        if step == 4:
            saved = {name: array.copy() for name, array in before.saved().items()}
            for name, one in second.parameters.items():
                one.value = first.parameters[name].value
            after.restore(saved)
        net, updater = (first, before) if step < 4 else (second, after)
        for one in net.parameters.values():
            one.gradient[...] = rng.normal(size=one.shape)
        updater.step(0.1, step)
    for name, values in expected.items():
        np.testing.assert_array_equal(second.parameters[name].value, values)
