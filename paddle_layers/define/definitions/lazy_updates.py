"""Lazy updates of sparse parameters: steps without a gradient, which unused rows of an embedding table postpone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from ..functions.point_functions import Function
from .elementwise import Elementwise, elementwise_of

F = TypeVar("F", bound=Callable[..., Any])
LinearStep = Sequence[Sequence[float]]
"""The new value and the new states, each as the factors of the old value and the old states."""


class AdaptiveStep(NamedTuple):
    """Step of Adam and similar optimizers: a moving average of gradients, divided by the root of that of their squares.

    Of the value w and two states, m and v: m' = mean * m, v' = squares * v,
    w' = value * w - scale * m' / (sqrt(v') + epsilon). `mean` and `squares` depend on attributes only. The others may
    differ from step to step; `epsilon` is above 0 and falls no faster than the root of v' does.

    Args:
        scale: Step size.
        epsilon: Constant for numerical stability.
        mean: Decay of the moving average of gradients, per step.
        squares: Decay of the moving average of their squares, per step.
        value: Factor of the value, such as decoupled weight decay.

    Example::

        @lazy_update(Adam)
        def adam_lazy(rate, count, beta1, beta2, epsilon):
            root = math.sqrt(1.0 - beta2**count)
            return AdaptiveStep(rate * root / (1.0 - beta1**count), epsilon * root, beta1, beta2)
    """

    scale: float
    epsilon: float
    mean: float
    squares: float
    value: float = 1.0


def lazy_update(owner: type) -> Callable[[F], F]:
    """Lazy update of an optimizer: its step for a zero gradient in a form that combines many steps into one.

    The function may take `rate`, `count` and the attributes, as the step does, and returns one of

    * a row of factors for the value and for each state: `(1, -momentum), (0, momentum)` is w' = w - momentum * v and
      v' = momentum * v. A column of zeros means that no step reads that state, not even one with a gradient;
    * an `AdaptiveStep`;
    * None if the attributes allow no such form. This must not depend on `rate` and `count`.

    If it takes `penalty` too, it holds for a gradient of `penalty * value`, the gradient of a linear regularizer.
    Otherwise the optimizer updates the whole table when there is a regularizer.

    Args:
        owner: Class of the optimizer.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        DefinitionError: The class is not a registered optimizer, or the function does not fit it.

    Example::

        @lazy_update(Momentum)
        def momentum_lazy(rate, penalty, momentum):
            return (1 - rate * penalty, -momentum), (rate * penalty, momentum)
    """
    return _declaration(owner, "optimizer", {"rate", "count", "penalty"})


def linear_penalty(owner: type) -> Callable[[F], F]:
    """Linear penalty of a regularizer: the weight times the result of the function of the attributes.

    Args:
        owner: Class of the regularizer.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        DefinitionError: The class is not a registered regularizer, or the function does not fit it.

    Example::

        @linear_penalty(Squares)
        def squares_factor(rate):
            return rate
    """
    return _declaration(owner, "regularizer", set())


def _declaration(owner: type, kind: str, offered: set[str]) -> Callable[[F], F]:
    def mark(call: F) -> F:
        definition, function = elementwise_of(owner, call, kind), Function(kind, (), call)
        definition.check_arguments(function, function.args, offered | set(definition.attributes))
        definition.lazy = function
        return call

    return mark


class LazyUpdate:
    """The declared lazy update for given attributes, with a regularizer whose penalty is times `decay`."""

    def __init__(self, optimizer: Elementwise, attributes: Mapping[str, Any], penalty: float) -> None:
        self.optimizer, self._attributes, self._penalty = optimizer, attributes, penalty

    def step(self, rate: float, count: float, **now: Any) -> LinearStep | AdaptiveStep:
        """Lazy update of one step.

        Args:
            rate: Learning rate.
            count: Number of the step, from 1.
            **now: Attributes with other values in this step.

        Returns:
            The factors of the step, or its adaptive form.

        Raises:
            DefinitionError: The function returned something else.
        """
        step, function = self._declared(rate, count, now), self.optimizer.lazy
        assert function is not None
        if step is None:
            raise function.error("must return None for all rates and counts, or for none")
        size = 1 + len(self.optimizer.states)
        if isinstance(step, AdaptiveStep):
            if size != 3:
                raise function.error("an AdaptiveStep requires two states: the mean and the mean of squares")
        elif [len(row) for row in step] != [size] * size:
            raise function.error(
                f"returns {step!r}; must return a {size}x{size} matrix of factors for the value and the states"
            )
        return step

    def _declared(self, rate: float, count: float, now: Mapping[str, Any]) -> LinearStep | AdaptiveStep | None:
        function = self.optimizer.lazy
        if function is None or (self._penalty and "penalty" not in function.args):
            return None
        given = {**self._attributes, "rate": rate, "count": count, "penalty": self._penalty, **now}
        step: LinearStep | AdaptiveStep | None = function.call(*(given[name] for name in function.args))
        return step

    @property
    def holds(self) -> bool:
        """Whether there is such a form for the attributes."""
        return self._declared(1.0, 1.0, {}) is not None


def find_lazy_update(
    optimizer: Elementwise, attributes: Mapping[str, Any], regularizer: Any = None, decay: float = 0.0
) -> LazyUpdate | None:
    """The lazy update of an optimizer with a regularizer.

    Args:
        optimizer: Definition of the optimizer.
        attributes: Its attributes.
        regularizer: Regularizer with a definition and attributes, if any.
        decay: Factor of its penalty.

    Returns:
        The lazy update; None if its step is dense.
    """
    penalty = 0.0
    if regularizer is not None and decay:
        function = regularizer.definition.lazy
        if function is None:
            return None
        penalty = decay * function.call(*(regularizer.attributes[name] for name in function.args))
    update = LazyUpdate(optimizer, attributes, penalty)
    return update if update.holds else None
