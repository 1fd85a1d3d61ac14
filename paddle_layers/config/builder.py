"""Networks written in Python: calls of helpers become layers, and go through the same reader as a file."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paddle_layers.define import Attributes, LayerDefinition, ShapeError, Type

from .diagnostics import ConfigError, Note
from .writing import attributes_fields, fields_text, value_text

if TYPE_CHECKING:
    from .network import Network

HEADERS = ("name", "output", "param", "activation", "include", "exclude", "loss_weight", "propagate_down")
"""Fields of the layer itself that a helper takes as keyword arguments; blocks are dicts or lists of dicts."""

_PYTHON_TYPES = {"INT": int, "FLOAT": float, "BOOL": bool, "STRING": str, "CHOICE": str}


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a helper: a layer to be."""

    definition: LayerDefinition
    inputs: tuple[Value, ...]
    attributes: Attributes
    headers: dict[str, Any]
    place: str


@dataclass(frozen=True, eq=False)
class Value:
    """What a helper returns: an output of a layer, with its type. Pass it to other helpers."""

    call: Call
    index: int
    type: Type

    def __repr__(self) -> str:
        return f"<{self.call.definition.name}: {self.type}>"


def signature_of(definition: LayerDefinition) -> inspect.Signature:
    """Inputs first (a repeatable one takes any number of values), then attributes and header fields by keyword."""
    parameters = []
    kind: inspect._ParameterKind
    for name, field in definition.inputs.items():
        kind = inspect.Parameter.VAR_POSITIONAL if field.repeatable else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = None if field.optional and not field.repeatable else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=Value))
    for name, attribute in definition.attributes.items():
        default = inspect.Parameter.empty if attribute.required else attribute.default
        if attribute.default_from:
            default = None
        kind = inspect.Parameter.KEYWORD_ONLY
        annotation: Any = _PYTHON_TYPES[attribute.type]
        if attribute.repeated:
            annotation = Sequence[annotation]
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
    taken = {parameter.name for parameter in parameters}
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)
        for name in HEADERS
        if name not in taken
    ]
    return inspect.Signature(parameters)


def call_layer(definition: LayerDefinition, inputs: Sequence[Any], settings: dict[str, Any]) -> Any:
    """A layer of these inputs; gives its output, or a tuple of several.

    Raises `InvalidAttributes` and `ShapeError` at once, `TypeError` for what is no value of a helper.
    """
    headers = {name: settings.pop(name) for name in HEADERS if settings.get(name) is not None}
    for name in HEADERS:
        if name not in definition.attributes:
            settings.pop(name, None)
    values = tuple(_values(definition, [*inputs, *_named_inputs(definition, settings, len(inputs))]))
    given = {name: value for name, value in settings.items() if value is not None}
    attributes = definition.bind(given)
    try:
        types = definition.infer([value.type for value in values], attributes)
    except ShapeError as error:
        message = f"`{definition.name}`: {error.message}"
        raise type(error)(message, attribute=error.attribute, input=error.input) from None
    call = Call(definition, values, attributes, headers, _caller())
    outputs = tuple(Value(call, index, type_) for index, type_ in enumerate(types))
    return outputs[0] if len(outputs) == 1 else outputs


def _named_inputs(definition: LayerDefinition, settings: dict[str, Any], positional: int) -> Iterator[Any]:
    for place, name in enumerate(definition.inputs):
        if name in settings and place >= positional:
            value = settings.pop(name)
            if value is not None:
                yield value


def _values(definition: LayerDefinition, given: Iterable[Any]) -> Iterator[Value]:
    for item in given:
        for value in item if isinstance(item, (list, tuple)) else (item,):
            if not isinstance(value, Value):
                raise TypeError(f"`{definition.name}` takes what other helpers return, found {value!r}")
            yield value


def _caller() -> str:
    """File and line of the call of the helper."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("paddle_layers."):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def build(outputs: Sequence[Any], name: str) -> Network:
    """The network that leads to the given values. Raises `ConfigError`; notes name the lines of the helpers' calls."""
    from .files import loads

    calls = _calls(_flat(outputs))
    names = _names(calls)
    text = f"name: {value_text(name)}\n" if name else ""
    for call in calls:
        text += f"layer {{ {fields_text(_fields(call, names))} }}\n"
    try:
        return loads(text, "<network made in Python>")
    except ConfigError as error:
        for diagnostic in error.diagnostics:
            line = diagnostic.line - 1 - bool(name)
            if 0 <= line < len(calls):
                diagnostic.notes = (*diagnostic.notes, Note(f"the layer was made at {calls[line].place}"))
        raise


def _flat(outputs: Sequence[Any]) -> list[Value]:
    found = []
    for item in outputs:
        for value in item if isinstance(item, (list, tuple)) else (item,):
            if not isinstance(value, Value):
                raise TypeError(f"the outputs of a network are values that helpers return, found {value!r}")
            found.append(value)
    return found


def _calls(values: Iterable[Value]) -> list[Call]:
    """All calls that the values rest on, inputs before their users."""
    done: dict[int, Call] = {}
    stack: list[tuple[Call, bool]] = [(value.call, False) for value in reversed(list(values))]
    while stack:
        call, entered = stack.pop()
        if id(call) in done:
            continue
        if entered:
            done[id(call)] = call
        else:
            stack.append((call, True))
            stack += [(value.call, False) for value in reversed(call.inputs)]
    return list(done.values())


def _names(calls: Sequence[Call]) -> dict[int, str]:
    """Names of the layers: as given, else the type and a number."""
    taken = {call.headers["name"] for call in calls if "name" in call.headers}
    counts: dict[str, int] = {}
    names = {}
    for call in calls:
        name = call.headers.get("name")
        while name is None or (name in taken and "name" not in call.headers):
            kind = call.definition.name
            counts[kind] = counts.get(kind, 0) + 1
            name = f"{kind}_{counts[kind]}"
        names[id(call)] = name
    return names


def _fields(call: Call, names: dict[int, str]) -> dict[str, Any]:
    definition = call.definition
    fields: dict[str, Any] = {"name": names[id(call)], "type": definition.name}
    fields["input"] = [_output_name(value, names) for value in call.inputs]
    fields |= {key: value for key, value in call.headers.items() if key != "name"}
    if settings := attributes_fields(definition, call.attributes):
        fields[definition.name] = settings
    return {key: value for key, value in fields.items() if value != []}


def _output_name(value: Value, names: dict[int, str]) -> str:
    call = value.call
    given = call.headers.get("output")
    if given is not None:
        return str(given if isinstance(given, str) else given[value.index])
    count = len(call.definition.infer([v.type for v in call.inputs], call.attributes))
    return call.definition.names_in_network(names[id(call)], count)[value.index]
