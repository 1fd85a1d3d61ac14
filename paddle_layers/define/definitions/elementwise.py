"""Optimizers and regularizers: one elementwise function each, that runs over any range of weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import Any, TypeVar

from ..errors import suggestion
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
        """What an optimizer makes of the gradients first; its states are computed there, and not in the step."""
        self.lazy: Function | None = None
        """What it declares about a gradient of zero; see `lazy_updates`."""
        marked: Any = owner
        marked.__definition__ = self

    def attach(self, call: Callable[..., Any]) -> None:
        """Take the function; its arguments are checked against what there is."""
        self.function = self._checked(call, self.norms if self.direction is not None else frozenset(self.states))

    def attach_direction(self, call: Callable[..., Any]) -> None:
        """Take the function of the direction, before that of the step."""
        if self.function is not None:
            raise Function(self.kind, (), call).error("`@direction` comes before `@step`, which may ask for its norm")
        self.direction = self._checked(call, frozenset(self.states))

    def _checked(self, call: Callable[..., Any], more: Set[str]) -> Function:
        function = Function(self.kind, (), call)
        if function.args[:1] != ("i",):
            raise function.error("the first argument is `i`, the index of the weight")
        self.check_arguments(function, function.args[1:], self.offered | more | set(self.attributes))
        return function

    def check_arguments(self, function: Function, names: Iterable[str], known: Set[str]) -> None:
        """Raise `DefinitionError` when the function asks for what there is not."""
        for name in names:
            if name not in known:
                raise function.error(f"unknown argument `{name}`{suggestion(name, known)}")


def optimizer(name: str, **options: Any) -> Callable[[C], C]:
    """Register an optimizer: a class of attributes and states; `@step` gives the function."""
    return register("optimizer", name, options, Elementwise)


def regularizer(name: str, **options: Any) -> Callable[[C], C]:
    """Register a regularizer: a class of attributes; `@penalty` gives the function."""
    return register("regularizer", name, options, Elementwise)


def step(owner: type) -> Callable[[F], F]:
    """The step of an optimizer: gives the new value, then the new states in the order of declaration.

    It may ask for `i`, `value`, `gradient`, the states (arrays), `rate` (learning rate of this weight),
    `count` (steps done, from 1) and the attributes. Behind a `@direction` it gives the new value alone, and may ask for
    `value_norm` and `gradient_norm`, arrays of one number: the norms of the whole parameter and of its direction.
    """

    def mark(call: F) -> F:
        marked: Any = owner
        marked.__definition__.attach(call)
        return call

    return mark


penalty = step
"""The penalty of a regularizer: what is added to the gradient of a weight."""


def direction(owner: type) -> Callable[[F], F]:
    """What an optimizer makes of the gradients before `@step`: gives the direction, then the new states.

    It may ask for what a step may. The step finds the direction in `gradient`, when the whole of it is there.
    """

    def mark(call: F) -> F:
        marked: Any = owner
        marked.__definition__.attach_direction(call)
        return call

    return mark
