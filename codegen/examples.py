"""Worked examples of a definition: config text, inferred types, parameter sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from paddle_layers.define import Example, LayerDefinition, Param, Type
from paddle_layers.define.definitions.layers import Binding

from .words import config_text


class Worked(NamedTuple):
    """One example with the inferred types."""

    config: str
    inputs: list[tuple[str, str]]
    outputs: list[tuple[str, str]]
    parameters: list[tuple[str, str, int]]
    """Name, shape and number of weights."""


def worked_examples(layer: LayerDefinition) -> list[Worked]:
    """All examples of the layer. Raises `DefinitionError` or `ShapeError` when one of them is wrong."""
    return [worked_example(layer, example) for example in layer.examples]


def worked_example(layer: LayerDefinition, example: Example) -> Worked:
    """One example. Raises `DefinitionError` or `ShapeError` when it is wrong."""
    types, attributes = layer.example_inputs(example)
    binding = layer.bind_axes(types, attributes)
    names = _input_names(binding)
    outputs = layer.output_names(len(binding.outputs))
    return Worked(
        _config(layer, example, names, outputs),
        _typed(names, types),
        _typed(outputs, list(binding.outputs)),
        parameters_of(layer, binding, attributes),
    )


def _input_names(binding: Binding) -> list[str]:
    names = {}
    for name, places in binding.positions.items():
        for number, place in enumerate(places):
            names[place] = name if len(places) == 1 else f"{name}{number + 1}"
    return [names[place] for place in sorted(names)]


def _typed(names: list[str], types: list[Type]) -> list[tuple[str, str]]:
    return [(name, str(type_)) for name, type_ in zip(names, types, strict=True)]


def _config(layer: LayerDefinition, example: Example, inputs: list[str], outputs: list[str]) -> str:
    settings = {k: v for k, v in example.settings.items() if k not in layer.inputs}
    block = " ".join(f"{name}: {_value(layer, name, value)}" for name, value in settings.items())
    lines = [f'layer {{ name: "{layer.name}1" type: "{layer.name}"']
    lines += [f'input: "{name}"' for name in inputs]
    lines += [f'output: "{name}"' for name in outputs] if len(outputs) > 1 else []
    return " ".join(lines) + (f"\n        {layer.name} {{ {block} }}" if block else "") + " }"


def python_text(layer: LayerDefinition, example: Example, worked: Worked) -> str:
    """The example by the Python helpers, with the inferred type of each value as a comment.

    Empty for a layer without outputs: its helper gives no value that a network could be made from.
    """
    if not worked.outputs:
        return ""
    types, _ = layer.example_inputs(example)
    calls = [
        (name, f"nn.data({_data_arguments(type_)})", str(type_))
        for (name, _), type_ in zip(worked.inputs, types, strict=True)
    ]
    binding = layer.bind_axes(*layer.example_inputs(example))
    fields = {place: name for name, places in binding.positions.items() for place in places}
    several = next((at for at, field in enumerate(layer.inputs.values()) if field.repeatable), len(layer.inputs))
    # Inputs after a repeatable one are keyword-only in Python; optional ones are clearer by name.
    by_name = {name for at, (name, field) in enumerate(layer.inputs.items()) if at > several or field.optional}
    arguments = [
        f"{fields[place]}={name}" if fields[place] in by_name else name for place, (name, _) in enumerate(worked.inputs)
    ]
    settings = {k: v for k, v in example.settings.items() if k not in layer.inputs}
    arguments += [f"{name}={_python_value(value)}" for name, value in settings.items()]
    outputs = [name for name, _ in worked.outputs]
    result = f"nn.{layer.name}({', '.join(arguments)})"
    calls.append((", ".join(outputs), result, " and ".join(type_ for _, type_ in worked.outputs)))
    lines = [f"{name} = {call}" for name, call, _ in calls]
    width = min(max(map(len, lines)), 60)  # a longer line does not shift the comments of the others
    rows = [f"{line:{width}}  # {type_}" for line, (_, _, type_) in zip(lines, calls, strict=True)]
    return "\n".join(["from paddle_layers import nn", "", *rows])


def _data_arguments(type_: Type) -> str:
    """The arguments of `nn.data` for values of a type."""
    words = [] if type_.kind == "DENSE" else [f'data_type="{type_.kind}"', f"size={type_.size}"]
    words += [f"shape={list(type_.dims)}"] if not type_.kind.startswith("SPARSE") and type_.dims else []
    words += [f"seq_nested_level={type_.level}"] if type_.level else []
    return ", ".join(words)


def _python_value(value: object) -> str:
    return config_text(value) if isinstance(value, str) else repr(list(value) if isinstance(value, tuple) else value)


def _value(layer: LayerDefinition, name: str, value: object) -> str:
    attribute = layer.attribute_by_name[name]
    return str(value) if attribute.type == "CHOICE" and not attribute.repeated else config_text(value)


def parameters_of(
    layer: LayerDefinition, binding: Binding, attributes: Mapping[str, Any]
) -> list[tuple[str, str, int]]:
    """Name, shape and number of weights of every parameter; those of parts as `gates.weight`."""
    rows = []
    for part in binding.body.parts if binding.body is not None else ():
        inner = parameters_of(part.definition, part.binding, part.attributes)
        rows += [(f"{part.name}.{name}", shape, count) for name, shape, count in inner]
    for name, field in layer.params.items():
        if field is layer.bias and not attributes["bias"]:
            continue
        for item in range(len(binding.positions[field.per]) if field.per else 1):
            dims = _dims(binding, field, item)
            if dims is not None:
                rows.append((name, "x".join(map(str, dims)) or "1", math.prod(dims)))
    return rows


def _dims(binding: Binding, field: Param, item: int) -> tuple[int, ...] | None:
    """None for an optional parameter whose axes nothing binds in this use."""
    try:
        return binding.dims(field, item)
    except KeyError:
        if field.optional:
            return None
        raise
