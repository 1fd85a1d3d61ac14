"""Optimizers, regularizers and clipping against NumPy, written down from the published formulas."""

import math

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config.training import ClipSettings, ComponentSettings
from paddle_layers.define import registries
from paddle_layers.define.functions.point_functions import Function
from paddle_layers.runtime.optimise.updater import Updater
from paddle_layers.runtime.optimise.updates import Rules

NETWORK = """
layer { name: "x" type: "data" data { shape: [3] } }
layer { name: "label" type: "data" data { data_type: INT size: 4 } }
layer { name: "a" type: "fc" input: "x" fc { size: 5 act: "tanh" }
        param { of: "weight" lr_mult: 0.5 decay_mult: 2 } param { of: "bias" decay_mult: 0 } }
layer { name: "b" type: "fc" input: "a" fc { size: 4 } PARAM }
layer { name: "cost" type: "softmax_with_loss" input: "b" input: "label" }
"""


def sgd(w, g, rate, t, s, momentum=0.9):
    s["v"] = momentum * s.get("v", 0) + rate * g
    return w - s["v"]


def nesterov(w, g, rate, t, s, momentum=0.9):
    old = s.get("v", 0)
    s["v"] = momentum * old + rate * g
    return w - ((1 + momentum) * s["v"] - momentum * old)


def adagrad(w, g, rate, t, s, epsilon=1e-8):
    s["h"] = s.get("h", 0) + g**2
    return w - rate * g / (np.sqrt(s["h"]) + epsilon)


def rmsprop(w, g, rate, t, s, decay=0.99, epsilon=1e-8):
    s["h"] = decay * s.get("h", 0) + (1 - decay) * g**2
    return w - rate * g / (np.sqrt(s["h"]) + epsilon)


def adadelta(w, g, rate, t, s, decay=0.95, epsilon=1e-6):
    s["g"] = decay * s.get("g", 0) + (1 - decay) * g**2
    step = np.sqrt(s.get("d", 0) + epsilon) / np.sqrt(s["g"] + epsilon) * g
    s["d"] = decay * s.get("d", 0) + (1 - decay) * step**2
    return w - rate * step


def adam(w, g, rate, t, s, beta1=0.9, beta2=0.999, epsilon=1e-8):
    s["m"] = beta1 * s.get("m", 0) + (1 - beta1) * g
    s["v"] = beta2 * s.get("v", 0) + (1 - beta2) * g**2
    return w - rate * math.sqrt(1 - beta2**t) / (1 - beta1**t) * s["m"] / (np.sqrt(s["v"]) + epsilon)


def adamw(w, g, rate, t, s, beta1=0.9, beta2=0.999, epsilon=1e-8, weight_decay=0.01):
    s["m"] = beta1 * s.get("m", 0) + (1 - beta1) * g
    s["v"] = beta2 * s.get("v", 0) + (1 - beta2) * g**2
    mean, square = s["m"] / (1 - beta1**t), s["v"] / (1 - beta2**t)
    return w * (1 - rate * weight_decay) - rate * mean / (np.sqrt(square) + epsilon)


def torch_momentum(w, g, rate, t, s, momentum=0.9, dampening=0.0):
    s["v"] = g if t == 1 else momentum * s["v"] + (1 - dampening) * g
    return w - rate * s["v"]


def decayed_adagrad(w, g, rate, t, s, decay=0.95, epsilon=1e-6):
    s["h"] = decay * s.get("h", 0) + (1 - decay) * g**2
    return w - rate * g / np.sqrt(s["h"] + epsilon)


def centered_rmsprop(w, g, rate, t, s, decay=0.95, epsilon=1e-6):
    s["h"] = decay * s.get("h", 0) + (1 - decay) * g**2
    s["m"] = decay * s.get("m", 0) + (1 - decay) * g
    return w - rate * g / (np.sqrt(s["h"] - s["m"] ** 2) + epsilon)


def adamax(w, g, rate, t, s, beta1=0.9, beta2=0.999, epsilon=1e-8):
    s["m"] = beta1 * s.get("m", 0) + (1 - beta1) * g
    s["u"] = np.maximum(beta2 * s.get("u", 0), abs(g))
    return w - rate / (1 - beta1**t) * s["m"] / (s["u"] + epsilon)


def lion(w, g, rate, t, s, beta1=0.9, beta2=0.99, weight_decay=0.0):
    moved = np.sign(beta1 * s.get("m", 0) + (1 - beta1) * g)
    s["m"] = beta2 * s.get("m", 0) + (1 - beta2) * g
    return w - rate * (moved + weight_decay * w)


def lamb(w, g, rate, t, s, beta1=0.9, beta2=0.999, epsilon=1e-6, weight_decay=0.01):
    s["m"] = beta1 * s.get("m", 0) + (1 - beta1) * g
    s["v"] = beta2 * s.get("v", 0) + (1 - beta2) * g**2
    r = s["m"] / (1 - beta1**t) / (np.sqrt(s["v"] / (1 - beta2**t)) + epsilon) + weight_decay * w
    ratio = np.linalg.norm(w) / np.linalg.norm(r) if w.any() and r.any() else 1.0
    return w - rate * ratio * r


OPTIMIZERS = {
    "sgd": (sgd, {"momentum": 0.8}),
    "nesterov": (nesterov, {"momentum": 0.7}),
    "adagrad": (adagrad, {"epsilon": 1e-3}),
    "rmsprop": (rmsprop, {"decay": 0.9, "epsilon": 1e-4}),
    "adadelta": (adadelta, {"decay": 0.8, "epsilon": 1e-3}),
    "adam": (adam, {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-4}),
    "adamw": (adamw, {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-4, "weight_decay": 0.2}),
    "torch_momentum": (torch_momentum, {"momentum": 0.7, "dampening": 0.4}),
    "decayed_adagrad": (decayed_adagrad, {"decay": 0.9, "epsilon": 1e-3}),
    "centered_rmsprop": (centered_rmsprop, {"decay": 0.9, "epsilon": 1e-3}),
    "adamax": (adamax, {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3}),
    "lion": (lion, {"beta1": 0.8, "beta2": 0.95, "weight_decay": 0.2}),
    "lamb": (lamb, {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3, "weight_decay": 0.2}),
}
PENALTIES = {
    "l2": lambda w: 0.3 * w,
    "l1": lambda w: 0.3 * np.sign(w),
    "l1_l2": lambda w: 0.3 * np.sign(w) + 0.5 * w,
}
TOLERANCE = {"float64": 1e-12, "float32": 2e-5}


def net(dtype="float64", param=""):
    made = pl.Net(pl.loads(NETWORK.replace("PARAM", param)), dtype=dtype, seed=3)
    made.parameters["b.bias"].value[:2] = 0  # the sign of zero is zero
    return made


def gradients(made, rng):
    for parameter in made.parameters.values():
        parameter.gradient[...] = rng.normal(size=parameter.shape)


def settings(kind, name, **attributes):
    definition = registries[kind][name]
    if name == "l1_l2":
        attributes = {"l1": attributes["rate"], "l2": 0.5}
    return ComponentSettings(definition, definition.bind(attributes))


def compare(made, updater, formula, *, steps=6, penalty=None, change=None, **attributes):
    rng, states = np.random.default_rng(0), {name: {} for name in made.parameters}
    for step in range(1, steps + 1):
        rate = 0.1 / step
        gradients(made, rng)
        raw = {name: p.gradient.astype(np.float64) for name, p in made.parameters.items()}
        raw = change(raw) if change else raw
        expected = {}
        for name, parameter in made.parameters.items():
            own = parameter.settings
            g, w = raw[name], parameter.value.astype(np.float64)
            if penalty is not None:
                g = g + (own.decay_mult if own else 1.0) * penalty(w)
            times = own.lr_mult if own else 1.0
            expected[name] = formula(w, g, rate * times, step, states[name], **attributes)
        updater.step(rate, step)
        for name, parameter in made.parameters.items():
            np.testing.assert_allclose(
                parameter.value, expected[name], rtol=0, atol=TOLERANCE[made.dtype], err_msg=name
            )


def test_every_optimizer_and_regularizer_has_a_reference():
    assert set(OPTIMIZERS) == set(registries["optimizer"])
    assert set(PENALTIES) == set(registries["regularizer"])


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer(name, dtype):
    formula, attributes = OPTIMIZERS[name]
    definition = registries["optimizer"][name]
    made = net(dtype)
    compare(made, Updater(definition, definition.bind({}), made), formula)
    made = net(dtype)
    compare(made, Updater(definition, definition.bind(attributes), made), formula, **attributes)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_without_a_gradient_nothing_changes(name):
    definition, made = registries["optimizer"][name], net()
    decay = {"weight_decay": 0.0} if "weight_decay" in definition.attributes else {}
    updater = Updater(definition, definition.bind(decay), made)
    before = {one: parameter.value.copy() for one, parameter in made.parameters.items()}
    for step in (1, 2):
        for parameter in made.parameters.values():
            parameter.gradient[...] = 0.0
        updater.step(0.1, step)
    for one, parameter in made.parameters.items():
        np.testing.assert_array_equal(parameter.value, before[one])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_fifty_steps_by_themselves(name):
    """The formula goes its own way: nothing is given to it but the gradients, which depend on where it stands."""
    formula, attributes = OPTIMIZERS[name]
    definition, made, rng = registries["optimizer"][name], net(), np.random.default_rng(2)
    updater = Updater(definition, definition.bind(attributes), made)
    trained = made.parameters
    own = {one: parameter.value.copy() for one, parameter in trained.items()}
    states = {one: {} for one in own}
    for step in range(1, 51):
        rate = 0.05 * (1 - step / 60)
        for one, parameter in trained.items():
            noise = rng.normal(size=parameter.shape)
            times = parameter.settings.lr_mult if parameter.settings else 1.0
            parameter.gradient[...] = parameter.value + noise
            own[one] = formula(own[one], own[one] + noise, rate * times, step, states[one], **attributes)
        updater.step(rate, step)
    for one, parameter in trained.items():
        np.testing.assert_allclose(parameter.value, own[one], rtol=1e-9, atol=1e-11, err_msg=one)


def test_lamb_moves_parameters_and_gradients_of_zero():
    definition, made = registries["optimizer"]["lamb"], net()
    updater = Updater(definition, definition.bind({}), made)
    made.parameters["b.weight"].value = 0
    for parameter in made.parameters.values():
        parameter.gradient[...] = 0 if parameter.name == "a.weight" else 1
    made.parameters["a.weight"].value = before = made.parameters["a.weight"].value.copy()
    updater.step(0.1, 1)
    np.testing.assert_allclose(made.parameters["b.weight"].value, -0.1 / (1 + 1e-6), rtol=1e-12)
    np.testing.assert_allclose(made.parameters["a.weight"].value, before * (1 - 0.05), rtol=1e-12)  # by its decay


@pytest.mark.parametrize("name", PENALTIES)
def test_regularizer_with_multipliers(name):
    definition, made = registries["optimizer"]["sgd"], net()
    updater = Updater(definition, definition.bind({}), made, regularizer=settings("regularizer", name, rate=0.3))
    compare(made, updater, sgd, penalty=PENALTIES[name])


def test_clipping_by_the_norm_of_all_gradients():
    definition, made = registries["optimizer"]["sgd"], net()
    updater = Updater(definition, definition.bind({}), made, clip=ClipSettings(norm=0.5))

    def change(raw):
        norm = math.sqrt(sum(float((g**2).sum()) for g in raw.values()))
        return {name: g * min(1, 0.5 / norm) for name, g in raw.items()}

    compare(made, updater, sgd, change=change)


def test_clipping_by_value_and_of_one_parameter():
    definition, made = registries["optimizer"]["sgd"], net(param='param { of: "weight" clip: 0.1 }')
    updater = Updater(definition, definition.bind({}), made, clip=ClipSettings(value=0.7))

    def change(raw):
        clipped = {name: np.clip(g, -0.7, 0.7) for name, g in raw.items()}
        return {**clipped, "b.weight": np.clip(clipped["b.weight"], -0.1, 0.1)}

    compare(made, updater, sgd, change=change)


def test_frozen_parameters_stay():
    made = net(param='param { of: "weight" frozen: true }')
    before = made.parameters["b.weight"].value.copy()
    definition = registries["optimizer"]["adam"]
    updater = Updater(definition, definition.bind({}), made)
    rng = np.random.default_rng(0)
    made.forward({"x": rng.normal(size=(4, 3)), "label": rng.integers(0, 4, 4)})
    made.backward()
    updater.step(0.1, 1)
    assert np.array_equal(made.parameters["b.weight"].value, before)
    assert set(updater.states) == {"mean", "squares"}
    assert all(state.size == made.arena.values.size for state in updater.states.values())


def rules_of(optimizer, attributes=None, regularizer=None):
    definition = registries["optimizer"][optimizer]
    return Rules(definition, definition.bind(attributes or {}), regularizer)


def test_parameters_that_are_updated_alike_are_one_range():
    made = net()
    parameters = made.arena.trained
    assert [p.name for p in parameters] == ["a.weight", "a.bias", "b.weight", "b.bias"]
    found = rules_of("adam").ranges(parameters, made.dtype)
    assert [(one.offset, one.size) for one in found] == [
        (parameters[0].offset, 15),
        (parameters[1].offset, (parameters[3].offset - parameters[1].offset) // np.dtype(made.dtype).itemsize + 4),
    ]
    rules = rules_of("adam", regularizer=settings("regularizer", "l2", rate=0.3))
    decayed = rules.ranges(parameters, made.dtype)
    assert [one.name for one in decayed] == ["a.weight", "a.bias", "parameters"]


@pytest.mark.parametrize("name", sorted(OPTIMIZERS.keys() - {"lamb"}))
def test_every_optimizer_leaves_what_lies_between_parameters_at_zero(name):
    assert rules_of(name).rest_at_zero()
    assert all(rules_of(name, regularizer=settings("regularizer", one, rate=0.3)).rest_at_zero() for one in PENALTIES)


def test_an_optimizer_that_moves_zeros_updates_each_parameter_by_itself(monkeypatch):
    rules, made = rules_of("sgd"), net()
    monkeypatch.setattr(rules.optimizer, "function", Function("optimizer", (), away_from_zero))
    assert not rules.rest_at_zero()
    assert len(rules.ranges(made.arena.trained, made.dtype)) == 4


def test_an_optimizer_that_asks_for_norms_updates_each_parameter_by_itself():
    made = net()
    assert rules_of("lamb").ranges(made.arena.trained, made.dtype) == made.arena.trained


def away_from_zero(i, value, gradient, rate, velocity):
    return value[i] + rate, velocity[i]
