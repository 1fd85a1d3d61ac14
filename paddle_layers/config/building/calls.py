"""Records of helper calls, values that represent outputs, and the steps in which they were created."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from paddle_layers.define import Attributes, LayerDefinition, Type


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
class Value:
    """The output of a helper with its type. Pass it to other helpers."""

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
