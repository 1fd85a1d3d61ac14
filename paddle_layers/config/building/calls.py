"""Records of helper calls, values that represent outputs, and the recurrent groups in which they were created."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from paddle_layers.define import Attributes, LayerDefinition, LevelError, Type

from .operators import Operators

_SCOPE: ContextVar[StepScope | None] = ContextVar("scope", default=None)


# Compared by identity: two calls with equal arguments are two layers with separate parameters.
@dataclass(frozen=True, eq=False)
class Call:
    """One call of a helper: a future layer."""

    definition: LayerDefinition
    inputs: tuple[Value, ...]
    attributes: Attributes
    headers: dict[str, Any]
    place: str
    step: StepCalls | None = None


@dataclass(frozen=True, eq=False)
class Value(Operators):
    """The output of a helper with its type. Pass it to other helpers, or compute with it: `2 * a + b[:, :3]`."""

    call: Call
    index: int
    type: Type
    scope: StepScope | None = None

    def __repr__(self) -> str:
        return f"<{self.call.definition.name}: {self.type}>"


@dataclass(frozen=True, eq=False)
class Sink:
    """The result of a helper of a layer without outputs, such as `accuracy`: name it in `Network(outputs=[...])`."""

    call: Call
    scope: StepScope | None = None

    def __repr__(self) -> str:
        return f"<{self.call.definition.name}: no output>"


@dataclass(frozen=True, eq=False)
class StepCalls:
    """The layers of one step, in order, the outputs of the step, and the static inputs."""

    calls: tuple[Call, ...]
    outputs: tuple[Value, ...]
    static: tuple[Value, ...]


@dataclass(eq=False)
class StepScope:
    """The current step: the layers called so far, and the enclosing scope."""

    around: StepScope | None
    calls: list[Call] = field(default_factory=list)


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
