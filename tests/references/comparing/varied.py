"""What the compared configs of a layer leave out: attributes that never vary, choices, inputs and data types."""

from collections.abc import Iterable, Iterator

from paddle_layers.define import Attribute, LayerDefinition
from paddle_layers.testing.cases import Case


def not_varied(definition: LayerDefinition, compared: Iterable[Case]) -> list[str]:
    """In words: `attribute`, `attribute=CHOICE`, `input DENSE` for a data type, `input absent`."""
    cases = list(compared)
    return [
        *(word for attribute in definition.attributes.values() for word in _of_attribute(attribute, cases)),
        *_of_inputs(definition, cases),
    ]


def _of_attribute(attribute: Attribute, cases: list[Case]) -> Iterator[str]:
    values = [case.attributes[attribute.name] for case in cases]
    if all(value == values[0] for value in values):
        yield attribute.name
    if attribute.type == "CHOICE":
        yield from (f"{attribute.name}={choice}" for choice in attribute.options if choice not in values)


def _of_inputs(definition: LayerDefinition, cases: list[Case]) -> Iterator[str]:
    given = [definition.bind_axes(case.types, case.attributes).positions for case in cases]
    for name, field in definition.inputs.items():
        kinds = {
            case.types[place].kind for case, places in zip(cases, given, strict=True) for place in places.get(name, ())
        }
        yield from (f"{name} {kind}" for kind in field.kinds if kind not in kinds)
        if field.optional and all(places.get(name) for places in given):
            yield f"{name} absent"
