"""Lazy updates: what optimizers declare is proven against their steps, and many steps at once against one by one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import AdaptiveStep, DefinitionError, Float, State, registries
from paddle_layers.define.definitions.elementwise import Elementwise, penalty, step
from paddle_layers.define.definitions.lazy_updates import LazyUpdate, lazy_update, linear_penalty
from paddle_layers.runtime.optimise.adaptive_history import FACTORS, AdaptiveHistory
from paddle_layers.runtime.optimise.updater import Updater
from paddle_layers.testing import check_lazy_update, check_linear_penalty

DENSE = {"centered_rmsprop", "lamb", "lion"}
"""Optimizers whose steps are no linear maps of a state, and no steps along a fading mean."""


@pytest.mark.parametrize("name", sorted(registries["optimizer"]))
def test_every_declaration_of_an_optimizer(name: str) -> None:
    held = check_lazy_update(name)
    assert held == 0 if name in DENSE else held > 100


@pytest.mark.parametrize("name", sorted(registries["regularizer"]))
def test_every_declaration_of_a_regularizer(name: str) -> None:
    check_linear_penalty(name)


def momentum(declare: Any = None, *, bounded: bool = True) -> Elementwise:
    """Gradient descent with momentum, whose weights stay within a bound; `declare` is its lazy update."""

    class Bounded:
        """Momentum."""

        momentum = Float("share of the last step that is kept", default=0.9, min=0, below=1)
        bound = Float("largest weight", default=2.0, above=0)
        velocity = State("the running step")

    definition = Elementwise("optimizer", "bounded", Bounded)

    def bounded_step(i, value, gradient, rate, velocity, momentum, bound):
        v = momentum * velocity[i] + rate * gradient[i]
        return min(max(value[i] - v, -bound), bound), v

    def free_step(i, value, gradient, rate, velocity, momentum):
        v = momentum * velocity[i] + rate * gradient[i]
        return value[i] - v, v

    step(Bounded)(bounded_step if bounded else free_step)
    if declare is not None:
        lazy_update(Bounded)(declare)
    return definition


def declared(rate, penalty, momentum):
    """As of gradient descent without bounds."""
    return (1 - rate * penalty, -momentum), (rate * penalty, momentum)


TABLE = """
layer { name: "id" type: "data" data { data_type: INT size: 3 } }
layer { name: "row" type: "embedding" input: "id" embedding { size: 1 } }
"""


def after_two_steps(optimizer: Elementwise) -> float:
    """A weight of 0.9 is brought to 1.9 with a velocity of -1; then a batch uses another row."""
    with pl.Net(pl.loads(TABLE), dtype="float64") as net:
        table = net.parameters["row.table"]
        assert table.by_rows
        table.value = 0.9
        updater = Updater(optimizer, optimizer.bind({}), net)
        for count, row in enumerate((0, 1), 1):
            net.forward({"id": [row]})
            net.backward({"row": np.array([[-1.0]])})
            updater.step(1.0, count)
            if count == 1:
                assert table.value[0, 0] == pytest.approx(1.9)
        return float(table.value[0, 0])


def test_bounded_weights_have_a_dense_step(caplog: pytest.LogCaptureFixture) -> None:
    """Around zero the step is linear, and so it was tried; at the bound it is not."""
    with caplog.at_level("INFO", "paddle_layers"):
        assert after_two_steps(momentum()) == 2.0
    assert "`row.table`: every step updates all 3 rows, because bounded declares no lazy update" in caplog.text


def test_a_declaration_that_misses_the_bound_is_found() -> None:
    wrong = momentum(declared)
    assert after_two_steps(wrong) == pytest.approx(2.8)
    with pytest.raises(
        AssertionError, match=r"bounded: lazy update: `value` becomes .*, declared .*\n  case: .*'bound'"
    ):
        check_lazy_update(wrong)


def test_a_declaration_may_depend_on_attributes() -> None:
    def unless_bounded(rate, penalty, momentum, bound):
        return declared(rate, penalty, momentum) if math.isinf(bound) else None

    optimizer = momentum(unless_bounded)
    assert check_lazy_update(optimizer) == 0  # infinity is none of the values that are tried
    assert not LazyUpdate(optimizer, optimizer.bind({}), 0.0).holds
    assert LazyUpdate(optimizer, optimizer.bind({"bound": math.inf}), 0.0).holds


def without_sign(rate, penalty, momentum):
    return (1 - rate * penalty, momentum), (rate * penalty, momentum)


def without_rate(rate, penalty, momentum):
    return (1 - penalty, -momentum), (penalty, momentum)


def without_velocity(rate, penalty):
    return (1 - rate * penalty, 0), (rate * penalty, 0)


def velocity_stays(rate, penalty, momentum):
    return (1 - rate * penalty, -momentum), (rate * penalty, 1)


@pytest.mark.parametrize("wrong", [without_sign, without_rate, without_velocity, velocity_stays])
def test_wrong_declarations_are_found(wrong: Any) -> None:
    check_lazy_update(momentum(declared, bounded=False))
    with pytest.raises(AssertionError, match="lazy update: `"):
        check_lazy_update(momentum(wrong, bounded=False))


def uncorrected(rate, count, beta1, beta2, epsilon):
    return AdaptiveStep(rate, epsilon, mean=beta1, squares=beta2)


def swapped(rate, count, beta1, beta2, epsilon):
    scale = rate * math.sqrt(1 - beta2**count) / (1 - beta1**count)
    return AdaptiveStep(scale, epsilon, mean=beta2, squares=beta1)


def epsilon_inside(rate, count, beta1, beta2, epsilon):
    correction = math.sqrt(1 - beta2**count)
    return AdaptiveStep(rate * correction / (1 - beta1**count), epsilon * correction, mean=beta1, squares=beta2)


@pytest.mark.parametrize("wrong", [uncorrected, swapped, epsilon_inside])
def test_wrong_adaptive_steps_are_found(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    adam = registries["optimizer"]["adam"]
    monkeypatch.setattr(adam, "lazy", type(adam.lazy)("optimizer", (), wrong))
    with pytest.raises(AssertionError, match="adam: lazy update: `"):
        check_lazy_update(adam)


def test_a_column_of_zeros_for_a_state_that_is_read_is_found() -> None:
    class Gated:
        """A state that only steps with a gradient read."""

        last = State("the last gradient")

    definition = Elementwise("optimizer", "gated", Gated)
    step(Gated)(lambda i, value, gradient, rate, last: (value[i] - rate * gradient[i] * last[i], gradient[i]))
    lazy_update(Gated)(lambda: ((1, 0), (0, 0)))
    with pytest.raises(AssertionError, match="reads `last`, whose column is declared zero"):
        check_lazy_update(definition)


def test_a_penalty_that_is_not_linear_is_found() -> None:
    class Absolute:
        """As l1."""

        rate = Float("strength", min=0)

    definition = Elementwise("regularizer", "absolute", Absolute)
    penalty(Absolute)(lambda i, value, rate: rate if value[i] > 0 else -rate)
    linear_penalty(Absolute)(lambda rate: rate)
    with pytest.raises(AssertionError, match=r"absolute: linear penalty: the penalty of .* is 0.5, declared"):
        check_linear_penalty(definition)


def test_mistakes_of_an_author() -> None:
    with pytest.raises(DefinitionError, match="unknown argument `momentun`; did you mean `momentum`"):
        momentum(lambda momentun: ((1, -momentun), (0, momentun)))
    with pytest.raises(DefinitionError, match=r"unknown argument `lr`; available: .*momentum, .*rate"):
        momentum(lambda lr: ((1, -lr), (0, lr)))
    too_few = momentum(lambda momentum: ((1, -momentum),))
    with pytest.raises(DefinitionError, match="must return a 2x2 matrix of factors for the value and the states"):
        LazyUpdate(too_few, too_few.bind({}), 0.0).step(1.0, 1.0)
    adaptive = momentum(lambda rate: AdaptiveStep(rate, 1e-8, 0.9, 0.99))
    with pytest.raises(DefinitionError, match="an AdaptiveStep requires two states"):
        LazyUpdate(adaptive, adaptive.bind({}), 0.0).step(1.0, 1.0)
    at_times = momentum(lambda rate: ((1, 0), (0, 1)) if rate else None)
    with pytest.raises(DefinitionError, match="must return None for all rates and counts, or for none"):
        LazyUpdate(at_times, at_times.bind({}), 0.0).step(0.0, 1.0)
    with pytest.raises(DefinitionError, match="`l2` has kind regularizer, expected optimizer"):
        lazy_update(registries["regularizer"]["l2"].owner)(lambda: None)


# ---- many steps at once

SETTINGS = [
    {},
    {"beta1": 0.9, "beta2": 0.95, "epsilon": 1e-4},
    {"beta1": 0.9, "beta2": 0.98, "epsilon": 1e-9},
    {"beta1": 0.99, "beta2": 0.9999},
    {"beta1": 0.95, "beta2": 0.8, "epsilon": 1e-2},
    {"beta1": 0.0, "beta2": 0.0},
    {"epsilon": 1.0},
]


def moves_one_by_one(steps: list[AdaptiveStep], mean: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """How far each step moves weights with these states."""
    moves = []
    for one in steps:
        mean, squares = mean * one.mean, squares * one.squares
        moves.append(one.scale * mean / (np.sqrt(squares) + one.epsilon))
    return np.array(moves)


def moved_at_once(history: AdaptiveHistory, done: int, mean: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, int]:
    """The same by blocks, as the kernel does it, and how many there are."""
    first, last = (int(at) for at in history.blocks_from(np.array(done)))
    value = np.zeros_like(mean)
    for block in range(first, last):
        factors, series = np.split(history.sums[max(done, history.starts[block])], [FACTORS])
        inverse = 1 / (np.sqrt(squares) * factors[3] + factors[4])
        value = factors[0] * value - mean * inverse * np.polyval(series[::-1], factors[4] * inverse - 1)
        mean, squares = factors[1] * mean, factors[2] * squares
    return history.tails[last, 0] * value, last - first


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("optimizer", ["adam", "adamw"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_bound_of_many_steps_at_once(dtype: str, optimizer: str, settings: dict[str, float]) -> None:
    """A move is right to half a unit in the last place, and what is left out is as small beside the largest move."""
    rng = np.random.default_rng(0)
    definition = registries["optimizer"][optimizer]
    attributes = definition.bind({**settings, **({"weight_decay": 0.0} if optimizer == "adamw" else {})})
    mean, squares = (x.ravel() for x in np.meshgrid(np.logspace(-12, 3, 7), np.logspace(-24, 6, 31)))
    for first in (1, 40, 100_000):
        history, steps = AdaptiveHistory(700, dtype), []
        for count in range(first, first + 700):
            rate = 0.0 if count % 11 == 0 else 0.1 * rng.random() * 10 ** rng.uniform(-3, 0)
            steps.append(LazyUpdate(definition, attributes, 0.0).step(rate, count))
            history.add(steps[-1])
        roundoff = float(np.finfo(dtype).eps) / 2
        for done in (0, 1, 30, 255, 256, 500, 699):
            moves = moves_one_by_one(steps[done:], mean, squares)
            largest = max(one.scale for one in steps[done:]) * mean / (np.sqrt(squares) + steps[done].epsilon)
            allowed = roundoff * (moves.sum(0) + largest)
            rounding = 1e-14 * moves.sum(0)  # of this test's own arithmetic
            actual, _ = moved_at_once(history, done, mean, squares)
            assert np.all(np.abs(actual + moves.sum(0)) <= allowed + rounding)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_row_makes_few_blocks_however_long_it_waited(dtype: str) -> None:
    definition = registries["optimizer"]["adam"]
    update, history = LazyUpdate(definition, definition.bind({}), 0.0), AdaptiveHistory(3000, dtype)
    for count in range(1, 3001):
        history.add(update.step(0.1, count))
    numbers = [moved_at_once(history, done, np.ones(1), np.ones(1))[1] for done in range(3000)]
    assert max(numbers) <= {"float32": 2, "float64": 4}[dtype]
