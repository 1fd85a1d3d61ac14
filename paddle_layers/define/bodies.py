"""Layers made of layers: a body calls other layers as the helpers of `nn` do, and its calls are recorded."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .attributes import Attributes
from .common import activation_problem
from .errors import DefinitionError, InvalidAttributes, ShapeError, suggestion
from .functions import definition_of
from .registry import registries
from .types import Type

if TYPE_CHECKING:
    from .inference import Binding
    from .layers import LayerDefinition

F = TypeVar("F", bound=Callable[..., Any])
NET = "net"
"""The argument of a body that adds layers."""


class Part(NamedTuple):
    """One layer of a body."""

    name: str
    definition: LayerDefinition
    attributes: Attributes
    activation: tuple[LayerDefinition, Attributes] | None
    inputs: tuple[str, ...]
    input_types: tuple[Type, ...]
    output_names: tuple[str, ...]
    binding: Binding


class Body(NamedTuple):
    """What a layer made of layers consists of, for attributes and types of inputs."""

    parts: tuple[Part, ...]
    """In the order of the calls, which is a valid one."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    output_types: tuple[Type, ...]

    def layers(self) -> Iterator[LayerDefinition]:
        """Definitions of all parts, their activations and their own parts."""
        for part in self.parts:
            yield part.definition
            if part.activation is not None:
                yield part.activation[0]
            if part.binding.body is not None:
                yield from part.binding.body.layers()


@dataclass(frozen=True, eq=False)
class Wire:
    """A value inside a body: an input of the layer, or what a part gives. `type` is known at once."""

    name: str
    type: Type
    source: int | None
    """Position of the input of the layer on which it rests, for messages."""


def body(owner: type) -> Callable[[F], F]:
    """The function builds the layer from others: `net.fc(x, size=3, name="hidden")` adds one and gives its output.

    It asks by name for `net`, the inputs (a tuple for a repeatable one, None for one that is absent), attributes and
    sizes of axes, and gives the outputs. A part that bears no name is called by its type and a number.
    """

    def mark(call: F) -> F:
        layer = definition_of(owner)
        if NET in {*layer.fields, *layer.attributes}:
            raise _error(call, f"`{NET}` is what adds the layers of a body: call the field another name")
        known = {NET, *layer.inputs, *layer.attributes, *layer.axis_names}
        for name in inspect.signature(call).parameters:
            if name not in known:
                raise _error(call, f"unknown argument `{name}`{suggestion(name, known)}")
        others = [name for name in layer.fields if name not in layer.inputs and name not in layer.outputs]
        if others or layer.functions:
            what = f"field `{others[0]}`" if others else f"function `{layer.functions[0].name}`"
            raise _error(call, f"a layer with a body has inputs, outputs and attributes only, but there is {what}")
        layer.attach("body", call)
        return call

    return mark


def record(layer: LayerDefinition, types: Sequence[Type], positions: Mapping[str, tuple[int, ...]]) -> Recorder:
    """What the body of `layer` is called with, before it is: its inputs, and a `net` that remembers the calls."""
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
        given: dict[str, Any] = {NET: Net(self), **attributes}
        for name, wires in self.inputs.items():
            given[name] = wires if self.layer.inputs[name].repeatable else (wires or (None,))[0]
        return given

    def body(self, result: Any) -> Body:
        """The body whose function gave `result`."""
        outputs = result if isinstance(result, (list, tuple)) else (result,)
        if not all(isinstance(wire, Wire) for wire in outputs):
            raise self.error("gives something else than the outputs of layers; does a `return` lack?")
        inputs = tuple(wire.name for wires in self.inputs.values() for wire in wires)
        types = tuple(wire.type for wire in outputs)
        return Body(tuple(self.parts), inputs, tuple(wire.name for wire in outputs), types)

    def add(self, kind: str, inputs: Sequence[Any], name: str | None, settings: dict[str, Any]) -> Any:
        """Record a part; gives its output, or a tuple of several."""
        definition: LayerDefinition | None = registries["layer"].get(kind)
        if definition is None:
            raise self.error(f"there is no layer `{kind}`{suggestion(kind, registries['layer'])}")
        name = self._name(kind, name)
        named = [settings.pop(own) for own in list(definition.inputs)[len(inputs) :] if own in settings]
        wires = tuple(self._wires(kind, [*inputs, *named]))
        types = tuple(wire.type for wire in wires)
        binding, attributes = self._bound(name, definition, wires, settings)
        names = definition.names_in_network(name, len(binding.outputs))
        activation = self._activation(name, definition, attributes)
        read = tuple(wire.name for wire in wires)
        self.parts.append(Part(name, definition, attributes, activation, read, types, names, binding))
        source = next((wire.source for wire in wires if wire.source is not None), None)
        found = tuple(Wire(own, type_, source) for own, type_ in zip(names, binding.outputs, strict=True))
        return found[0] if len(found) == 1 else found

    def error(self, message: str) -> DefinitionError:
        """An error at the line of the body."""
        return _error(self.call, message)

    def _name(self, kind: str, given: str | None) -> str:
        if given is None:
            numbers = range(1, len(self.parts) + 2)
            given = next(name for name in (f"{kind}_{number}" for number in numbers) if name not in self.names)
        if not given.isidentifier() or given in self.names:
            raise self.error(f"`{given}` names a part: it has to be a word that names nothing else")
        self.names.add(given)
        return given

    def _wires(self, kind: str, given: Sequence[Any]) -> Iterator[Wire]:
        for item in given:
            for wire in item if isinstance(item, (list, tuple)) else (item,):
                if wire is None:  # an optional input of the layer that is an optional one of the part
                    continue
                if not isinstance(wire, Wire):
                    raise self.error(f"`net.{kind}` takes inputs and what other parts give, found {wire!r}")
                yield wire

    def _bound(
        self, name: str, definition: LayerDefinition, wires: tuple[Wire, ...], settings: Mapping[str, Any]
    ) -> tuple[Binding, Attributes]:
        """The part's types and attributes. What does not fit is told of the attribute or input of the whole layer."""
        part = f"its part `{name}` ({definition.name})"
        given = {key: value for key, value in settings.items() if value is not None}
        if unknown := [key for key in given if key not in definition.attribute_by_name]:
            raise self.error(
                f"{part}: there is no argument `{unknown[0]}`{suggestion(unknown[0], definition.attributes)}"
            )
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
            raise type(error)(f"{part}: {error.message}", attribute=own, input=place) from None

    def _own(self, attribute: str | None, settings: Mapping[str, Any]) -> str | None:
        """The layer's own attribute behind that of a part: the one of this name, or the only one of this value."""
        if attribute is None:
            return None
        if attribute in self.layer.attribute_by_name:
            return self.layer.attribute_by_name[attribute].name
        value = settings.get(attribute)
        equal = [name for name, own in self.attributes.items() if own is not None and own is value]
        return equal[0] if len(equal) == 1 else None

    def _activation(
        self, name: str, definition: LayerDefinition, attributes: Attributes
    ) -> tuple[LayerDefinition, Attributes] | None:
        chosen = attributes["act"] if "act" in definition.common else "linear"
        if chosen == "linear":
            return None
        found: LayerDefinition | None = registries["layer"].get(chosen)
        problem = f"there is no layer `{chosen}`" if found is None else activation_problem(found)
        if found is None or problem:
            own = self._own("act", attributes)
            raise ShapeError(f"its part `{name}` ({definition.name}): {problem}", attribute=own)
        return found, found.bind({})


class Net:
    """`net.fc(...)`: a method for every layer, with the arguments of the helpers of `nn`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def __getattr__(self, kind: str) -> Callable[..., Any]:
        def add(*inputs: Any, name: str | None = None, **settings: Any) -> Any:
            return self._recorder.add(kind, inputs, name, settings)

        return add


def _error(call: Callable[..., Any], message: str) -> DefinitionError:
    return DefinitionError(f"{call.__name__}: {message}", call.__code__.co_filename, call.__code__.co_firstlineno)
