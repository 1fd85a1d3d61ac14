"""What the compared configs of a layer leave out: attributes, choices, inputs and data types."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from paddle_layers.define import Attribute, LayerDefinition, ShapeError
from paddle_layers.testing.cases.case import Case

from .outputs import expect


class Compared(NamedTuple):
    """A case with what the reference was given last."""

    case: Case
    inputs: dict[str, Any]
    params: dict[str, Any]


def not_varied(definition: LayerDefinition, compared: Iterable[Compared]) -> list[str]:
    """In words: `attribute`, `attribute=CHOICE`, `input DENSE` for a data type, `input absent`."""
    cases = [one.case for one in compared]
    return [
        *(word for attribute in definition.attributes.values() for word in _of_attribute(attribute, cases)),
        *_of_inputs(definition, cases),
    ]


def _of_attribute(attribute: Attribute[Any], cases: list[Case]) -> Iterator[str]:
    values = _values(attribute, cases)
    if len(values) < 2:
        yield attribute.name
    if attribute.type == "CHOICE":
        yield from (f"{attribute.name}={choice}" for choice in attribute.options if choice not in values)


def _values(attribute: Attribute[Any], cases: list[Case]) -> list[Any]:
    """The values that differ; 0 is 0.0."""
    found: list[Any] = []
    for case in cases:
        found += [case.attributes[attribute.name]] if case.attributes[attribute.name] not in found else []
    return found


def _of_inputs(definition: LayerDefinition, cases: list[Case]) -> Iterator[str]:
    given = [definition.bind_axes(case.types, case.attributes).positions for case in cases]
    for name, field in definition.inputs.items():
        kinds = {
            case.types[place].kind for case, places in zip(cases, given, strict=True) for place in places.get(name, ())
        }
        yield from (f"{name} {kind}" for kind in field.kinds if kind not in kinds)
        if field.optional and all(places.get(name) for places in given):
            yield f"{name} absent"


def without_effect(definition: LayerDefinition, compared: list[Compared]) -> list[str]:
    """Attributes that change neither what a reference says nor a size; the common ones are not a reference's."""
    common = set(definition.common)
    names = [name for name in definition.attributes if name not in common]
    return [name for name in names if not _has_effect(definition.attributes[name], compared)]


def _has_effect(attribute: Attribute[Any], compared: list[Compared]) -> bool:
    values = _values(attribute, [one.case for one in compared])
    return any(_differs(one, attribute.name, value) for one in compared for value in values)


def _differs(one: Compared, name: str, value: Any) -> bool:
    if one.case.attributes[name] == value:
        return False
    with contextlib.suppress(ShapeError):
        if _sizes(one.case, {name: value}) != _sizes(one.case, {}):
            return True
    try:
        changed = expect(one.case, one.inputs, one.params, **{name: value})
    except Exception:  # it does not fit the parameters or the rows, which the layer made for the other value
        return True
    return not _same(changed, expect(one.case, one.inputs, one.params))


def _sizes(case: Case, changed: dict[str, Any]) -> list[Any]:
    """Inferred types, and the shapes of parameters."""
    definition, attributes = case.definition, {**case.attributes, **changed}
    binding = definition.bind_axes(case.types, attributes)
    return [definition.infer(case.types, attributes), *(binding.dims(field) for field in definition.params.values())]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if one is None or other is None:
        return one is other
    return np.shape(one) == np.shape(other) and np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f")
