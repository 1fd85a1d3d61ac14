"""Composite layers: the decorator of a body, and symbolic values in it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from ..decorators import definition_of
from ..errors import DefinitionError, suggestion
from ..fields.types import Type

F = TypeVar("F", bound=Callable[..., Any])
NET = "net"
"""The argument of a body that adds layers."""


@dataclass(frozen=True, eq=False)
class Wire:
    """A value inside a body: an input of the layer, or what a part gives. `type` is known at once."""

    name: str
    type: Type
    source: int | None
    """Position of the input of the layer on which it rests, for messages."""


def body(owner: type) -> Callable[[F], F]:
    """Composite layer: the function builds the layer from other layers.

    Args:
        owner: Class of the layer. The function takes `net`, the inputs (a tuple for a repeatable one, None for an
            absent one), attributes and sizes of axes by name, and returns the outputs.
            `net.fc(x, size=3, name="hidden")` adds a layer and returns its output; a part without a name is named after
            its type, with a number.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        DefinitionError: The layer is not registered, or the function does not fit it.

    Example::

        @body(SimpleLstm)
        def simple_lstm_body(net, x, size):
            gates = net.fc(x, size=4 * size, bias=False, name="gates")
            return net.lstmemory(gates, name="lstm")
    """

    def mark(call: F) -> F:
        layer = definition_of(owner)
        if NET in {*layer.fields, *layer.attributes}:
            raise body_error(
                call, f"field `{NET}` is reserved for the argument that adds the layers of a body: rename it"
            )
        known = {NET, *layer.inputs, *layer.attributes, *layer.axis_names}
        for name in inspect.signature(call).parameters:
            if name not in known:
                raise body_error(call, f"unknown argument `{name}`{suggestion(name, known)}")
        others = [name for name in layer.fields if name not in layer.inputs and name not in layer.outputs]
        if others or layer.functions:
            what = f"field `{others[0]}`" if others else f"function `{layer.functions[0].name}`"
            raise body_error(call, f"a layer with a body may only have inputs, outputs and attributes; remove {what}")
        layer.attach("body", call)
        return call

    return mark


def body_error(call: Callable[..., Any], message: str) -> DefinitionError:
    """An error at the line of a body."""
    return DefinitionError(f"{call.__name__}: {message}", call.__code__.co_filename, call.__code__.co_firstlineno)
