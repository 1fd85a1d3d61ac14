"""Lazy updates: the declared update for a zero gradient matches the step of the optimizer."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import AdaptiveStep, registries
from paddle_layers.define.definitions.elementwise import Elementwise
from paddle_layers.define.definitions.lazy_updates import LinearStep, find_lazy_update

from ..cases.values import ABSENT, usual_values

Numbers = NDArray[np.float64]
# A check of four random points accepted momentum with weights bounded to +-2 as linear: a weight of 1.9 with a velocity
# of -1 became 2.8 instead of 2.0.
TRIALS = 400
"""Number of samples of attributes, rate, count and states."""
RATES = (0.0, 1e-3, 0.37, 10.0)
COUNTS = (1.0, 2.0, 30.0, 1e5)
DECAYS = (0.0, 0.5, 2.0)
"""Values of a parameter's `decay_mult`. Its `lr_mult` is part of the rate, and its `clip` leaves a zero as it is."""
STEPS = 5
"""States are those that some steps with a gradient lead to."""
TOLERANCE = 1e-9


class BoundRegularizer(NamedTuple):
    """A regularizer with attributes."""

    definition: Elementwise
    attributes: Mapping[str, Any]


def check_lazy_update(name: str | Elementwise, *, trials: int = TRIALS) -> int:
    """Checks the `@lazy_update` of an optimizer against its step, with every registered regularizer.

    Attributes are sampled over their ranges; weights and states are random.

    Args:
        name: Registered optimizer, or its definition.
        trials: Number of random cases.

    Returns:
        Number of cases in which there was a lazy update.

    Raises:
        AssertionError: They differ; with the case.
        UnknownName: There is no such optimizer.

    Example::

        def test_lazy_update():
            assert check_lazy_update("ours_bounded") > 0
    """
    optimizer = registries["optimizer"][name] if isinstance(name, str) else name
    if optimizer.lazy is None:
        return 0
    rng, held = random.Random(0), 0
    penalties = [None, *(registries["regularizer"][other] for other in registries["regularizer"])]
    for trial in range(trials):
        definition = penalties[trial % len(penalties)]
        penalty = BoundRegularizer(definition, _attributes(definition, rng)) if definition is not None else None
        case = _Case(optimizer, _attributes(optimizer, rng), penalty, rng)
        held += case.declared is not None
        for problem in case.problems():
            raise AssertionError(f"{optimizer.name}: lazy update: {problem}\n  case: {case}")
    return held


def check_linear_penalty(name: str | Elementwise, *, trials: int = TRIALS) -> None:
    """Checks the `@linear_penalty` of a regularizer against its penalty.

    Args:
        name: Registered regularizer, or its definition.
        trials: Number of random cases.

    Raises:
        AssertionError: They differ; with the case.
        UnknownName: There is no such regularizer.

    Example::

        def test_linear_penalty():
            check_linear_penalty("l2")
    """
    regularizer = registries["regularizer"][name] if isinstance(name, str) else name
    function, rng = regularizer.lazy, random.Random(0)
    if function is None:
        return
    for _ in range(trials):
        penalty, value = BoundRegularizer(regularizer, _attributes(regularizer, rng)), _number(rng)
        declared = function.call(*(penalty.attributes[name] for name in function.args)) * value
        actual = _penalty(penalty, value)
        # `not <=` instead of `>`, so that NaN is a finding; likewise below.
        if not abs(actual - declared) <= TOLERANCE * abs(declared):
            problem = f"the penalty of {value:g} is {actual:g}, declared {declared:g}"
            raise AssertionError(f"{regularizer.name}: linear penalty: {problem}\n  case: {dict(penalty.attributes)}")


class _Case:
    """An optimizer and a weight at some step."""

    def __init__(
        self,
        optimizer: Elementwise,
        attributes: Mapping[str, Any],
        penalty: BoundRegularizer | None,
        rng: random.Random,
    ) -> None:
        self.optimizer, self.attributes, self.penalty, self.rng = optimizer, attributes, penalty, rng
        self.decay, self.rate, self.count = rng.choice(DECAYS), rng.choice(RATES), rng.choice(COUNTS)
        self.declared = find_lazy_update(optimizer, attributes, penalty, self.decay)
        self.numbers = np.array([_number(rng), *(0.0 for _ in optimizer.states)])
        # Not arbitrary states: some combinations, such as a mean without squares, never occur, and declarations need
        # not hold for them.
        for _ in range(rng.randint(0, STEPS)):
            self.numbers = self._step(self.numbers, _number(rng))

    def __str__(self) -> str:
        numbers = dict(zip(("value", *self.optimizer.states), self.numbers.tolist(), strict=True))
        shown = [f"{dict(self.attributes)}, rate {self.rate}, count {self.count:g}, {numbers}"]
        if self.penalty is not None:
            shown.append(f"{self.decay} times {self.penalty.definition.name} {dict(self.penalty.attributes)}")
        return ", ".join(shown)

    def problems(self) -> Iterator[str]:
        """The error in the declaration, if any."""
        if self.declared is None:
            return
        step = self.declared.step(self.rate, self.count)
        new, size = _apply(step, self.numbers)
        actual = self._step(self.numbers, 0.0)
        for name, one, other, scale in zip(("value", *self.optimizer.states), actual, new, size, strict=True):
            if not abs(one - other) <= TOLERANCE * scale:
                yield f"`{name}` becomes {one:g}, declared {other:g}"
        if isinstance(step, AdaptiveStep):
            yield from self._changing(step)
        else:
            yield from self._read_all_the_same(np.array(step))

    def _changing(self, step: AdaptiveStep) -> Iterator[str]:
        """The assumption of the runtime's bound."""
        assert self.declared is not None
        later = self.declared.step(self.rng.choice(RATES), self.count + 1)
        if not isinstance(later, AdaptiveStep) or (later.mean, later.squares) != (step.mean, step.squares):
            yield "`mean` and `squares` depend on the rate or the count"
        elif not (step.epsilon > 0 and step.epsilon * math.sqrt(step.squares) <= later.epsilon):
            change = f"`epsilon` changes from {step.epsilon:g} to {later.epsilon:g}"
            yield f"{change}, must be above 0 and decrease no faster than the square root of `squares`"

    def _read_all_the_same(self, matrix: Numbers) -> Iterator[str]:
        """States whose column of zeros says that no step reads them."""
        gradient = _number(self.rng)
        expected = self._step(self.numbers, gradient)
        for at, name in enumerate(self.optimizer.states, 1):
            other = self.numbers.copy()
            other[at] += 1.0
            if not matrix[:, at].any() and not np.array_equal(expected, self._step(other, gradient)):
                yield f"a step with a gradient reads `{name}`, whose column is declared zero"

    def _step(self, numbers: Numbers, gradient: float) -> Numbers:
        """The dense step."""
        if self.penalty is not None and self.decay:
            gradient += self.decay * _penalty(self.penalty, numbers[0])
        cells = {name: [float(x)] for name, x in zip(("value", *self.optimizer.states), numbers, strict=True)}
        given = {**self.attributes, **cells, "gradient": [gradient], "rate": self.rate, "count": self.count}
        function = self.optimizer.function
        assert function is not None
        new = function.call(0, *(given[name] for name in function.args[1:]))
        return np.array(new, np.float64).reshape(len(numbers))


def _apply(step: LinearStep | AdaptiveStep, numbers: Numbers) -> tuple[Numbers, Numbers]:
    """The new numbers by what is declared, and the sizes of what they are sums of."""
    if not isinstance(step, AdaptiveStep):
        matrix = np.array(step, np.float64)
        # The size of the terms is the scale of the tolerance, since they may cancel.
        return matrix @ numbers, np.abs(matrix) @ np.abs(numbers)
    value, mean, squares = step.value * numbers[0], step.mean * numbers[1], step.squares * numbers[2]
    move = step.scale * mean / (np.sqrt(squares) + step.epsilon)
    new = np.array([value - move, mean, squares])
    return new, np.array([abs(value) + abs(move), abs(mean), abs(squares)])


def _penalty(penalty: BoundRegularizer, value: float) -> float:
    function = penalty.definition.function
    assert function is not None
    given = {**penalty.attributes, "value": [float(value)]}
    return float(function.call(0, *(given[name] for name in function.args[1:])))


def _attributes(definition: Elementwise, rng: random.Random) -> Mapping[str, Any]:
    drawn = {name: rng.choice(usual_values(one, ())) for name, one in definition.attributes.items()}
    return definition.bind({name: value for name, value in drawn.items() if value is not ABSENT})


def _number(rng: random.Random) -> float:
    # Over six orders of magnitude, so that clipping and epsilon show in some cases.
    return rng.gauss(0, 1) * 10 ** rng.uniform(-4, 2)
