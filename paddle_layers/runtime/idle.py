"""What an optimizer does to a weight in a step in which its gradient is zero.

It is found by trying the optimizer's own function on numbers. Where the new value and states are a linear map of the
old ones, steps can be put off: the maps of several steps are one map. Where the value alone is not, but a state that
fades is to blame (`State(fades=True)`: the mean of Adam), it is so after the few turns in which the state fades.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.elementwise import Elementwise
from paddle_layers.define.functions import Function

Matrix = NDArray[np.float64]
MOST_TURNS = 1000
"""A state that takes longer to fade is not worth waiting for."""
TRIALS = 4
RATE, COUNT = 0.37, 5.0
"""A step that is nothing special."""
LATE = 1e9
"""A count at which an optimizer has forgotten its start."""


class Idle:
    """A step with a gradient of zero, apart from the penalty `decay` times that of a regularizer."""

    def __init__(
        self,
        optimizer: Elementwise,
        attributes: Mapping[str, Any],
        regularizer: Any = None,
        decay: float = 0.0,
        dtype: str = "float32",
    ) -> None:
        self.optimizer, self.attributes = optimizer, attributes
        self.regularizer, self.decay = regularizer if decay else None, decay
        self.size = 1 + len(optimizer.states)
        self._fading = [1 + at for at, state in enumerate(optimizer.states.values()) if state.fades]
        self.turns: int | None = 0
        """Steps that have to be done one by one before the others are a linear map; None: all of them."""
        if not self._linear([]):
            self.turns = self._turns(float(np.finfo(dtype).eps)) if self._fading else None

    @property
    def changes_nothing(self) -> bool:
        """Whether the step leaves the value as it is, and the states that a step reads at all."""
        read = [at for at in range(self.size) if at == 0 or self._is_read(at)]
        return self.turns == 0 and all(
            np.array_equal(self.matrix(rate, count)[read], np.eye(self.size)[read])
            for rate, count in ((RATE, COUNT), (1.0, LATE))
        )

    def _is_read(self, at: int) -> bool:
        """Whether a step with a gradient depends on this number: SGD without momentum does not on its velocity."""
        one = np.ones(self.size)
        return not np.array_equal(
            self._step(one, RATE, COUNT, 1.0), self._step(one + np.eye(self.size)[at], RATE, COUNT, 1.0)
        )

    def matrix(self, rate: float, count: float) -> Matrix:
        """The linear map of a step: from value and states to the new ones, once what fades has faded."""
        columns = [self._step(unit, rate, count) for unit in np.eye(self.size)]
        found = np.stack(columns, axis=1)
        if self.turns:
            found[0, self._fading] = 0.0
        return found

    def _step(self, numbers: NDArray[Any], rate: float, count: float, gradient: float = 0.0) -> Matrix:
        """New value and states of one weight."""
        cells = {name: [float(x)] for name, x in zip(("value", *self.optimizer.states), numbers, strict=True)}
        if self.regularizer is not None:
            penalty = self.regularizer.definition.function
            gradient += self.decay * _call(penalty, {**cells, **self.regularizer.attributes})
        given = {**self.attributes, **cells, "gradient": [gradient], "rate": rate, "count": count}
        try:
            return np.array(_call(self.optimizer.function, given), np.float64).reshape(self.size)
        except (ArithmeticError, ValueError):
            return np.full(self.size, np.nan)  # which is not linear

    def _linear(self, zeros: list[int]) -> bool:
        """Whether the step is linear where these numbers are zero: tried on sums and multiples."""
        rng = np.random.default_rng(0)
        for _ in range(TRIALS):
            one, two = (rng.uniform(0.1, 1, self.size) for _ in range(2))
            two[0] = -two[0]
            one[zeros] = two[zeros] = 0.0
            both = self._step(one, RATE, COUNT) + 1e-4 * self._step(two, RATE, COUNT)
            if not np.allclose(self._step(one + 1e-4 * two, RATE, COUNT), both, rtol=1e-9, atol=0):
                return False
            if not np.allclose(
                self._step(1e-6 * two, RATE, COUNT), 1e-6 * self._step(two, RATE, COUNT), rtol=1e-9, atol=0
            ):
                return False
        return True

    def _turns(self, least: float) -> int | None:
        """Steps after which the fading states change the value by less than `least` of what they did at first."""
        if not self._linear(self._fading):
            return None
        numbers, first = np.ones(self.size), 0.0
        for turn in range(MOST_TURNS):
            numbers[0] = 0.0
            numbers = self._step(numbers, 1.0, LATE)
            change = abs(numbers[0])
            first = first or change
            if change <= least * first:
                return turn + 1
        return None


def _call(function: Function | None, given: Mapping[str, Any]) -> Any:
    assert function is not None
    return function.call(0, *(given[name] for name in function.args[1:]))
