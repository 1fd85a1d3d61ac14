"""Recurrent groups in Python: a function that is called once records the layers of a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from paddle_layers.define import LevelError, Type

from .calls import Sink, StepScope, Value

_SCOPE: ContextVar[StepScope | None] = ContextVar("scope", default=None)


def current_scope() -> StepScope | None:
    """The current step, if any."""
    # A context variable, since networks may be built in several threads or asynchronous tasks at once.
    return _SCOPE.get()


@contextmanager
def step_scope() -> Iterator[StepScope]:
    """Within it, calls of helpers are layers of a step."""
    scope = StepScope(_SCOPE.get())
    token = _SCOPE.set(scope)
    try:
        yield scope
    finally:
        _SCOPE.reset(token)


def check_scope(user: str, value: Value | Sink) -> None:
    """Refuse a value of another scope, which a layer called here cannot read. Raises `TypeError`."""
    here = _SCOPE.get()
    if value.scope is here:
        return
    around = here.around if here is not None else None
    while around is not None and around is not value.scope:
        around = around.around
    if here is not None and around is value.scope:
        raise TypeError(
            f"{user} reads {value!r}, which is outside of the step: pass it to `recurrent_group` after the function, "
            "or in `static` if every step reads all of it, and add it to the arguments of the function"
        )
    raise TypeError(f"{user} reads {value!r}, which is inside the step of a group: return it from the step function")


def types_in_step(stepped: Sequence[Type], static: Sequence[Type]) -> list[Type]:
    """The types of inputs inside a step. Raises `LevelError`, `TypeError`."""
    if not stepped:
        raise TypeError("`recurrent_group` needs a sequence after the function, for the time steps")
    for type_ in stepped:
        if type_.level == 0:
            raise LevelError(
                f"an input of `recurrent_group` is not a sequence ({type_}); if every step reads all of it, "
                "pass it in `static`"
            )
        if type_.level != stepped[0].level:
            raise LevelError(f"inputs of `recurrent_group` have different sequence levels: {stepped[0]} and {type_}")
    return [*(type_._replace(level=type_.level - 1) for type_ in stepped), *static]


def outputs_of(step: Callable[..., Any], seen: Sequence[Value], scope: StepScope) -> tuple[Value, ...]:
    """The outputs of a step function: values of its layers. Raises `TypeError`, `LevelError`."""
    returned = step(*seen)
    found = tuple(returned) if isinstance(returned, (list, tuple)) else (returned,)
    for value in found:
        # An input that is returned unchanged has no layer that could be an output of the step.
        if not isinstance(value, Value) or value.scope is not scope or value in seen:
            raise TypeError(f"the step function must return outputs of the layers that it calls, found {value!r}")
        # The group adds one level, and sequences of sub-sequences are the deepest values that there are.
        if value.type.level == 2:
            raise LevelError(f"one step returns {value.type}, so the output of the group would be nested too deeply")
    return found
