"""Optimizers and regularizers: one elementwise function each, which runs over any range of weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import Any, TypeVar

from ..errors import DefinitionError, suggestion
from ..fields.tensors import State
from ..functions.point_functions import Function
from .components import register
from .definition import Definition

C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., Any])


class Elementwise(Definition):
    """A definition with one function of a weight's index `i`; states have the shape of the weights."""

    offered: frozenset[str] = frozenset({"value", "gradient", "rate", "count"})
    norms: frozenset[str] = frozenset({"value_norm", "gradient_norm"})
    """Arrays of one number that the step of an optimizer with a direction may ask for."""

    def __init__(self, kind: str, name: str, owner: type, **options: Any) -> None:
        super().__init__(kind, name, owner, **options)
        self.states: dict[str, State] = {k: v for k, v in vars(owner).items() if isinstance(v, State)}
        self.function: Function | None = None
        self.direction: Function | None = None
        """Transformation of the gradients before the step; it computes the states instead of the step."""
        self.lazy: Function | None = None
        """Its update for a gradient of zero; see `lazy_updates`."""
        marked: Any = owner
        marked.__definition__ = self

    def attach(self, call: Callable[..., Any]) -> None:
        """Take the function; its arguments are checked against what there is."""
        self.function = self._checked(call, self.norms if self.direction is not None else frozenset(self.states))

    def attach_direction(self, call: Callable[..., Any]) -> None:
        """Take the function of the direction, before that of the step."""
        if self.function is not None:
            raise Function(self.kind, (), call).error("declare `@direction` before `@step`")
        self.direction = self._checked(call, frozenset(self.states))

    def _checked(self, call: Callable[..., Any], more: Set[str]) -> Function:
        function = Function(self.kind, (), call)
        if function.args[:1] != ("i",):
            raise function.error("the first argument must be `i`, the index of the weight")
        self.check_arguments(function, function.args[1:], self.offered | more | set(self.attributes))
        return function

    def check_arguments(self, function: Function, names: Iterable[str], known: Set[str]) -> None:
        """Raise `DefinitionError` when the function asks for what there is not."""
        for name in names:
            if name not in known:
                hint = suggestion(name, known) or f"; available: {', '.join(sorted(known))}"
                raise function.error(f"unknown argument `{name}`{hint}")


def elementwise_of(owner: type, call: Callable[..., Any], kind: str) -> Elementwise:
    """The definition of a registered class, to which `call` is added.

    Returns:
        The definition.

    Raises:
        DefinitionError: The class is not registered, or is of another kind; at the line of `call`.
    """
    # Its own: the definition of a base class would lose its function.
    definition: Elementwise | None = owner.__dict__.get("__definition__")
    if definition is None:
        message = f"{owner.__name__} is not registered: add @optimizer(...) or @regularizer(...) above the class"
        raise DefinitionError(message, call.__code__.co_filename, call.__code__.co_firstlineno)
    if definition.kind != kind:
        raise Function(kind, (), call).error(f"`{definition.name}` has kind {definition.kind}, expected {kind}")
    return definition


def optimizer(name: str, **options: Any) -> Callable[[C], C]:
    """Registers an optimizer: a class of attributes and states; `@step` adds its update rule.

    Args:
        name: Name in training files.
        **options: `elsewhere` (names in other systems), `terms` (search terms), `since` (version).

    Returns:
        A class decorator that registers the class and returns it unchanged.

    Raises:
        DefinitionError: Invalid or duplicate name.

    Example::

        @optimizer("momentum")
        class Momentum:
            "SGD with momentum."

            velocity = State("moving sum of steps")
            momentum = Float("momentum coefficient", default=0.9, min=0, below=1)
    """
    return register("optimizer", name, options, Elementwise)


def regularizer(name: str, **options: Any) -> Callable[[C], C]:
    """Registers a regularizer: a class of attributes; `@penalty` adds its function.

    Args:
        name: Name in training files.
        **options: `elsewhere` (names in other systems), `terms` (search terms), `since` (version).

    Returns:
        A class decorator that registers the class and returns it unchanged.

    Raises:
        DefinitionError: Invalid or duplicate name.

    Example::

        @regularizer("squares")
        class Squares:
            "L2 regularization."

            rate = Float("factor of the penalty", min=0)
    """
    return register("regularizer", name, options, Elementwise)


def step(owner: type) -> Callable[[F], F]:
    """Update rule of an optimizer: the new value of one element, then its new states in the order of declaration.

    The function may take `i`, `value`, `gradient`, the states (arrays), `rate` (learning rate of this weight), `count`
    (the step, from 1) and the attributes. After a `@direction` it returns the new value alone, and may take
    `value_norm` and `gradient_norm`, arrays of one element: the norms of the whole parameter and of its direction.

    Args:
        owner: Class of the optimizer.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        DefinitionError: The class is not a registered optimizer, or the function does not fit it.

    Example::

        @step(Momentum)
        def momentum_step(i, value, gradient, rate, velocity, momentum):
            v = momentum * velocity[i] + rate * gradient[i]
            return value[i] - v, v
    """

    def mark(call: F) -> F:
        elementwise_of(owner, call, "optimizer").attach(call)
        return call

    return mark


def penalty(owner: type) -> Callable[[F], F]:
    """Penalty of a regularizer: its derivative by one element of the weight, which is added to the gradient.

    The function may take `i`, `value` (array of the weight) and the attributes.

    Args:
        owner: Class of the regularizer.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        DefinitionError: The class is not a registered regularizer, or the function does not fit it.

    Example::

        @penalty(Squares)
        def squares_penalty(i, value, rate):
            return rate * value[i]
    """

    def mark(call: F) -> F:
        elementwise_of(owner, call, "regularizer").attach(call)
        return call

    return mark


def direction(owner: type) -> Callable[[F], F]:
    """Update direction of an optimizer, computed before `@step`: returns the direction, then the new states.

    The function may take the arguments of a step. `@step` gets the complete direction as `gradient`.

    Args:
        owner: Class of the optimizer.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        DefinitionError: The class is not a registered optimizer, or the function does not fit it.

    Example::

        @direction(Lars)
        def lars_direction(i, value, gradient, weight_decay):
            return gradient[i] + weight_decay * value[i]
    """

    def mark(call: F) -> F:
        elementwise_of(owner, call, "optimizer").attach_direction(call)
        return call

    return mark
