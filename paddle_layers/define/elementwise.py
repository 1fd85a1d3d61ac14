"""Optimizers and regularizers: one elementwise function each, that runs over any range of weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import Any, TypeVar

from .components import register
from .definitions import Definition
from .errors import suggestion
from .fields import State
from .functions import Function

C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., Any])


class Elementwise(Definition):
    """A definition with one function of a weight's index `i`; states have the shape of the weights."""

    offered: frozenset[str] = frozenset({"value", "gradient", "rate", "count"})

    def __init__(self, kind: str, name: str, owner: type, **options: Any) -> None:
        super().__init__(kind, name, owner, **options)
        self.states: dict[str, State] = {k: v for k, v in vars(owner).items() if isinstance(v, State)}
        self.function: Function | None = None
        self.lazy: Function | None = None
        """What it declares about a gradient of zero; see `lazy_updates`."""
        marked: Any = owner
        marked.__definition__ = self

    def attach(self, call: Callable[..., Any]) -> None:
        """Take the function; its arguments are checked against what there is."""
        function = Function(self.kind, (), call)
        known = self.offered | set(self.states) | set(self.attributes)
        if function.args[:1] != ("i",):
            raise function.error("the first argument is `i`, the index of the weight")
        self.check_arguments(function, function.args[1:], known)
        self.function = function

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
    `count` (steps done, from 1) and the attributes.
    """

    def mark(call: F) -> F:
        marked: Any = owner
        marked.__definition__.attach(call)
        return call

    return mark


penalty = step
"""The penalty of a regularizer: what is added to the gradient of a weight."""
