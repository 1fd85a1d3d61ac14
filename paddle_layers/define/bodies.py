"""Composite layers: the decorator of a body, and the recording of its calls.

Each call adds a part with inferred types, with the arguments of the helpers of `nn`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .decorators import definition_of
from .definitions.layers import Binding, Body, LayerDefinition, Part
from .definitions.registry import registries
from .errors import DefinitionError, InvalidAttributes, ShapeError, suggestion
from .fields.attribute_values import Attributes
from .fields.types import Type

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


def activation_problem(definition: LayerDefinition) -> str:
    """Why a layer cannot serve as an activation, which `act` names; empty when it can."""
    inputs, outputs = list(definition.inputs.values()), list(definition.outputs.values())
    one = len(inputs) == len(outputs) == 1 and not inputs[0].repeatable and not outputs[0].repeatable
    same = one and inputs[0].text == outputs[0].text and "output_types" not in definition.hooks
    dense = one and "DENSE" in inputs[0].kinds and outputs[0].kind == "DENSE"
    if not same or not dense or outputs[0].loss:
        return f"`{definition.name}` is not an activation: its output must be dense and have the shape of its input"
    if definition.is_composite:
        return f"`{definition.name}` is a composite layer, not an activation: add it as a separate layer"
    if definition.params or definition.states:
        return f"`{definition.name}` has parameters: add it as a separate layer"
    return ""


def inputs_of_call(definition: LayerDefinition, positional: Sequence[Any], settings: dict[str, Any]) -> Iterator[Any]:
    """Input values in the order of declaration, by position or name; removes them from the settings and flattens lists.

    Yields:
        The values; those of a repeatable input are passed by name.
    """
    inputs = list(definition.inputs.values())
    behind = next((at + 1 for at, field in enumerate(inputs) if field.repeatable), len(inputs))
    names = [field.name for field in inputs[min(len(positional), behind) :]]
    by_name = [settings.pop(name) for name in names if name in settings]
    for item in (*positional, *(value for value in by_name if value is not None)):
        yield from item if isinstance(item, (list, tuple)) else (item,)


def record(layer: LayerDefinition, types: Sequence[Type], positions: Mapping[str, tuple[int, ...]]) -> Recorder:
    """Run the body of `layer` on symbolic values: its inputs, and a `net` that records the calls."""
    wires: dict[str, tuple[Wire, ...]] = {}
    for name, places in positions.items():
        repeatable = layer.inputs[name].repeatable
        wires[name] = tuple(
            Wire(f"{name}_{item}" if repeatable else name, types[place], place) for item, place in enumerate(places)
        )
    return Recorder(layer, wires)


class Recorder:
    """The calls of a body."""

    def __init__(self, layer: LayerDefinition, wires: Mapping[str, tuple[Wire, ...]]) -> None:
        self.layer, self.inputs = layer, wires
        self.attributes: Mapping[str, Any] = {}
        self.parts: list[Part] = []
        self.names = {wire.name for given in wires.values() for wire in given}
        self.call = layer.hooks["body"]

    def arguments(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Everything that the body may ask for, beside the sizes of axes."""
        self.attributes = attributes
        given: dict[str, Any] = {NET: RecordingNet(self), **attributes}
        for name, wires in self.inputs.items():
            given[name] = wires if self.layer.inputs[name].repeatable else (wires or (None,))[0]
        return given

    def body(self, result: Any) -> Body:
        """The body whose function gave `result`."""
        outputs = result if isinstance(result, (list, tuple)) else (result,)
        if not all(isinstance(wire, Wire) for wire in outputs):
            raise self.error("must return the outputs of layers; is a `return` missing?")
        inputs = tuple(wire.name for wires in self.inputs.values() for wire in wires)
        types = tuple(wire.type for wire in outputs)
        return Body(tuple(self.parts), inputs, tuple(wire.name for wire in outputs), types)

    def add(self, kind: str, inputs: Sequence[Any], name: str | None, settings: dict[str, Any]) -> Any:
        """Record a part; returns its output, or a tuple of several."""
        definition: LayerDefinition | None = registries["layer"].get(kind)
        if definition is None:
            raise self.error(f"unknown layer `{kind}`{suggestion(kind, registries['layer'])}")
        name = self._name(kind, name)
        wires = tuple(self._wires(kind, inputs_of_call(definition, inputs, settings)))
        types = tuple(wire.type for wire in wires)
        binding, attributes = self._bound(name, definition, wires, settings)
        names = definition.names_in_network(name, len(binding.outputs))
        activation = self._activation(name, definition, attributes, binding.outputs)
        read = tuple(wire.name for wire in wires)
        self.parts.append(Part(name, definition, attributes, activation, read, types, names, binding))
        source = next((wire.source for wire in wires if wire.source is not None), None)
        found = tuple(Wire(own, type_, source) for own, type_ in zip(names, binding.outputs, strict=True))
        return found[0] if len(found) == 1 else found

    def error(self, message: str) -> DefinitionError:
        """An error at the line of the body."""
        return body_error(self.call, message)

    def _name(self, kind: str, given: str | None) -> str:
        if given is None:
            numbers = range(1, len(self.parts) + 2)
            # Deterministic: names of parts are names of weights in files.
            given = next(name for name in (f"{kind}_{number}" for number in numbers) if name not in self.names)
        if not given.isidentifier() or given in self.names:
            raise self.error(f"`{given}` cannot name a part: use a unique identifier")
        self.names.add(given)
        return given

    def _wires(self, kind: str, given: Iterable[Any]) -> Iterator[Wire]:
        for wire in given:
            if wire is None:  # an optional input of the layer that is an optional one of the part
                continue
            if not isinstance(wire, Wire):
                raise self.error(f"`net.{kind}` takes inputs and outputs of other parts, found {wire!r}")
            yield wire

    def _bound(
        self, name: str, definition: LayerDefinition, wires: tuple[Wire, ...], settings: Mapping[str, Any]
    ) -> tuple[Binding, Attributes]:
        """The part's types and attributes. Errors name the attribute or the input of the whole layer."""
        part = f"its part `{name}` ({definition.name})"
        known = definition.attribute_by_name
        if unknown := [key for key in settings if key not in known]:
            raise self.error(f"{part}: unknown argument `{unknown[0]}`{suggestion(unknown[0], known)}")
        given = {known[key].name: value for key, value in settings.items() if value is not None}
        try:
            attributes = definition.bind(given)
            return definition.bind_axes([wire.type for wire in wires], attributes), attributes
        except InvalidAttributes as error:
            at, reason = next(iter(error.problems.items()))
            if at not in given:
                raise self.error(f"{part}: {reason}") from None
            raise ShapeError(f"{part}: {reason}", attribute=self._own(at, given)) from None
        except ShapeError as error:
            place = None if error.input is None or error.input >= len(wires) else wires[error.input].source
            own = self._own(error.attribute, given)
            raise error.restated(f"{part}: {error.message}", attribute=own, input=place) from None

    def _own(self, attribute: str | None, settings: Mapping[str, Any]) -> str | None:
        """The layer's attribute that is passed to a part: the one with its name, or the only one with its value."""
        if attribute is None:
            return None
        if attribute in self.layer.attribute_by_name:
            return self.layer.attribute_by_name[attribute].name
        value = settings.get(attribute)
        # By identity: an error of a part is attributed to the layer's attribute whose value was passed through
        # unchanged.
        equal = [name for name, own in self.attributes.items() if own is not None and own is value]
        return equal[0] if len(equal) == 1 else None

    def _activation(
        self, name: str, definition: LayerDefinition, attributes: Attributes, types: Sequence[Type]
    ) -> tuple[LayerDefinition, Attributes] | None:
        chosen = attributes["act"] if "act" in definition.common else "linear"
        if chosen == "linear":
            return None
        found: LayerDefinition | None = registries["layer"].get(chosen)
        problem = f"unknown layer `{chosen}`" if found is None else activation_problem(found)
        if found is not None and not problem:
            try:
                bound = found.bind({})
                found.infer(types[:1], bound)
                return found, bound
            except InvalidAttributes as error:
                problem = f"its activation `{chosen}`: {next(iter(error.problems.values()))}"
            except ShapeError as error:
                problem = f"its activation `{chosen}`: {error.message}"
        raise ShapeError(f"its part `{name}` ({definition.name}): {problem}", attribute=self._own("act", attributes))


class RecordingNet:
    """`net.fc(...)`: a method for every layer, with the arguments of the helpers of `nn`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def __getattr__(self, kind: str) -> Callable[..., Any]:
        def add(*inputs: Any, name: str | None = None, **settings: Any) -> Any:
            return self._recorder.add(kind, inputs, name, settings)

        return add
