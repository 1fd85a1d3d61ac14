"""Properties of definitions: round trips of the LayerDef, documentation and type inference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf import json_format, text_format

from paddle_layers.config.files import examine_network
from paddle_layers.define import Bias, Input, LayerDefinition, ShapeError, Type
from paddle_layers.define.fields.types import KINDS
from paddle_layers.schema import layer_def_pb2 as pb
from paddle_layers.testing.findings import Verdicts

from ..cases.case import Case, network_text
from ..cases.values import illegal_values


def check_definition(layer: LayerDefinition) -> Iterator[tuple[str, str | None]]:
    """To binary, text and JSON, and back: the message must be the same."""
    message = layer.message
    ways = {
        "binary": pb.LayerDef.FromString(message.SerializeToString()),
        "text": text_format.Parse(text_format.MessageToString(message), pb.LayerDef()),
        "JSON": json_format.Parse(json_format.MessageToJson(message), pb.LayerDef()),
    }
    for form, read in ways.items():
        yield form, None if read == message else f"the LayerDef changes in a round trip through {form}"


def check_documentation(layer: LayerDefinition) -> Verdicts:
    """Checks the one-sentence summary, descriptions of choices, messages of rules, and names in other systems."""
    summary = layer.summary
    yield "description", None if summary.endswith(".") else f"the first line is not a sentence: {summary!r}"
    for place, text in _texts(layer):
        words = text.replace("_", " ").strip(" .").lower()
        yield (
            place,
            None if words not in ("", place.replace("_", " ")) else "the description only repeats the name",
        )
    for attribute in layer.attributes.values():
        for option in attribute.options:
            described = attribute.option_docs.get(option)
            yield f"{attribute.name}: {option}", None if described else "the choice has no description"
    for rule in layer.message.rules:
        yield f"rule {rule.condition}", None if rule.message.strip() else "has no message"
    for system, name in layer.elsewhere.items():
        yield f"name in {system}", None if system.strip() and name.strip() else "is empty"


def _texts(layer: LayerDefinition) -> Iterator[tuple[str, str]]:
    fields = [field for field in layer.fields.values() if not isinstance(field, Bias)]
    yield from ((field.name, field.doc) for field in fields)
    yield from ((attribute.name, attribute.doc) for attribute in layer.attributes.values())


CRASH = "E401"
"""Code of the diagnostic about a function of a layer that fails."""


def check_inference(case: Case) -> Verdicts:
    """Inferred twice, the types are the same and are types; the network that holds the config is accepted."""
    definition = case.definition
    again = tuple(definition.infer(case.types, definition.example_inputs(case.example)[1]))
    same = case.output_types == again
    yield "inference", None if same else f"is not deterministic: {_show(case.output_types)}, then {_show(again)}"
    wrong = [type_ for type_ in again if not _is_type(type_)]
    yield "output types", f"invalid type {wrong[0]!r}: sizes must be >= 1, levels 0 to 2" if wrong else None
    yield "config", problem_of(case.text(), legal=True)


def check_text(definition: LayerDefinition, types: tuple[Type, ...], attributes: Any, text: str) -> str | None:
    """The error in the answer to a config that may be legal or not, or None."""
    try:
        inferred = definition.infer(types, definition.bind(attributes))
    except ShapeError:
        # The only error that says "this config is illegal"; then the reader must reject it, too.
        return problem_of(text, legal=False)
    except Exception as error:  # the layer under test may raise anything; only `ShapeError` is right
        return f"inference fails: {type(error).__name__}: {error}"
    wrong = [type_ for type_ in inferred if not _is_type(type_)]
    return f"invalid type {wrong[0]!r}: sizes must be >= 1, levels 0 to 2" if wrong else problem_of(text)


def problem_of(text: str, *, legal: bool | None = None) -> str | None:
    """The error in the reader's answer to a network, or None; `legal` is the expected answer."""
    try:
        found = examine_network(text)
    except Exception as error:  # the reader answers with diagnostics and must not raise; the report shows what it did
        return f"crashes the reader: {type(error).__name__}: {error}"
    if found.network is not None and not found.failed:
        return "is invalid, but accepted" if legal is False else None
    errors = [fault for fault in found.faults if fault.severity == "error"]
    crashes = [fault.message for fault in errors if fault.code == CRASH]
    if crashes or not errors:
        return crashes[0] if crashes else "is rejected without a diagnostic"
    return f"is valid, but rejected: {errors[0].message}" if legal else None


def illegal_networks(definition: LayerDefinition) -> Iterator[tuple[str, str]]:
    """Illegal networks, with the mistake: one of each kind in the first example."""
    if not definition.examples:
        return
    example = definition.examples[0]
    types = tuple(definition.example_inputs(example)[0])
    given = {name: value for name, value in example.settings.items() if name not in definition.inputs}
    for attribute in definition.attributes.values():
        for value in illegal_values(attribute):
            yield f"`{attribute.name}` is {value!r}", network_text(definition, types, {**given, attribute.name: value})
        if attribute.required:
            rest = {name: value for name, value in given.items() if name not in (attribute.name, *attribute.aliases)}
            yield f"`{attribute.name}` is missing", network_text(definition, types, rest)
    yield "unknown attribute", network_text(definition, types, {**given, "no_such_attribute": 1})
    for what, wrong in _illegal_types(definition, types):
        yield what, network_text(definition, wrong, given)


def _illegal_types(definition: LayerDefinition, types: tuple[Type, ...]) -> Iterator[tuple[str, tuple[Type, ...]]]:
    fields = list(definition.inputs.values())
    if any(not field.optional and (not field.repeatable or field.minimum) for field in fields):
        yield "no input", ()
    if not any(field.repeatable for field in fields):
        more = [types[0] if types else Type.dense(3)] * (len(fields) + 1 - len(types))
        yield "one extra input", (*types, *more)
    positions = definition.bind_axes(types, definition.bind(_attributes(definition))).positions
    for name, places in positions.items():
        for place in places[:1]:
            for what, wrong in _illegal(definition.inputs[name], types[place]):
                yield f"`{name}` is {what}", (*types[:place], wrong, *types[place + 1 :])


def _attributes(definition: LayerDefinition) -> dict[str, Any]:
    settings = definition.examples[0].settings
    return {name: value for name, value in settings.items() if name not in definition.inputs}


def _illegal(field: Input, type_: Type) -> Iterator[tuple[str, Type]]:
    made = {
        "DENSE": Type.dense(*(type_.dims or (type_.size,)), level=type_.level),
        "INT": Type.ids(type_.size, type_.level, type_.dims if type_.kind == "INT" else ()),
        "SPARSE": Type.sparse(type_.size, type_.level, values=True),
        "SPARSE_INT": Type.sparse(type_.size, type_.level),
    }
    yield from ((f"of kind {kind}", made[kind]) for kind in KINDS if kind not in field.kinds)
    yield from ((f"of level {level}", type_._replace(level=level)) for level in range(3) if level not in field.seq)
    if type_.kind == "DENSE" and not any(axis.rest for axis in field.axes):
        yield "of a higher rank", Type.dense(*type_.dims, 2, 2, level=type_.level)


def _is_type(type_: Any) -> bool:
    if not isinstance(type_, Type) or type_.kind not in KINDS or type_.level not in (0, 1, 2):
        return False
    return all(isinstance(size, int) and size >= 1 for size in (*type_.dims, type_.size))


def _show(types: tuple[Type, ...]) -> str:
    return ", ".join(map(str, types))
