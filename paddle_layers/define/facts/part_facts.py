"""Facts of a composite layer, derived from those of its parts in the bodies of its examples."""

from __future__ import annotations

from collections.abc import Iterator

from ..definitions.layers import Body, LayerDefinition, Part
from ..definitions.registry import registries
from ..functions.facts import Facts


def example_bodies(layer: LayerDefinition) -> Iterator[Body]:
    """The body of each example."""
    for example in layer.examples:
        body = layer.bind_axes(*layer.example_inputs(example)).body
        assert body is not None, "the layer has no body"
        yield body


def facts_of_parts(layer: LayerDefinition) -> Facts:
    """A fact of one part of any example holds for the layer; rows are independent if they are in all parts."""
    bodies = list(example_bodies(layer))
    used = [facts for body in bodies for part in body.parts for facts in _facts(part)]

    def some(fact: str) -> bool:
        return any(getattr(facts, fact) for facts in used)

    reached = {name for body in bodies for name in _reaching(layer, body)}
    trains = any(_trains(body) for body in bodies)
    read = {name for body in bodies for name in _back_reads(layer, body)}
    return Facts(
        forward=(),
        backward=(),
        back_reads=tuple(name for name in (*layer.inputs, *layer.outputs) if name in read),
        differentiable=tuple(name for name in layer.inputs if name in reached),
        overwrites=False,
        is_source=not layer.inputs,
        is_sink=layer.is_sink,
        has_param=some("has_param"),
        has_neuron="act" in layer.common,
        can_do_bp=bool(reached) or trains,
        is_inplace=False,
        has_loss=any(output.loss for output in layer.outputs.values()),
        has_stats=some("has_stats"),
        has_phase=some("has_phase"),
        is_random=some("is_random"),
        has_state=some("has_state"),
        is_composite=True,
        rows_independent=all(facts.rows_independent for facts in used),
    )


def _facts(part: Part) -> list[Facts]:
    """Facts of a part, and of what the framework appends to it."""
    found = [part.definition.facts]
    if part.activation is not None:
        found.append(part.activation[0].facts)
    if part.attributes.get("drop_rate") and "drop_rate" in part.definition.common:
        found.append(registries["layer"]["dropout"].facts)
    return found


def _positions(part: Part) -> Iterator[tuple[str, str]]:
    """Names in the part's definition of what it reads, and the names inside of the body."""
    for name, places in part.binding.positions.items():
        for place in places:
            yield name, part.inputs[place]


def _field_names(layer: LayerDefinition, body: Body) -> dict[str, str]:
    """The input of the composite layer for each name inside it; items of a repeatable input are numbered."""
    return {name: name if name in layer.inputs else name.rpartition("_")[0] for name in body.inputs}


def _reaching(layer: LayerDefinition, body: Body) -> set[str]:
    """Inputs of the layer from which a gradient's path leads to an output."""
    fields, wanted = _field_names(layer, body), _with_gradient(body)
    return {fields[name] for name in wanted if name in fields}


def _trains(body: Body) -> bool:
    """Whether the gradient of an output reaches a part that has one for its parameters or its inputs."""
    wanted = _with_gradient(body)
    return any(part.definition.facts.can_do_bp and wanted & set(part.output_names) for part in body.parts)


def _with_gradient(body: Body) -> set[str]:
    """Values inside from which a gradient's path leads to an output."""
    wanted = set(body.outputs)
    for part in reversed(body.parts):
        if wanted & set(part.output_names):
            wanted |= {name for own, name in _positions(part) if own in part.definition.facts.differentiable}
    return wanted


def _back_reads(layer: LayerDefinition, body: Body) -> set[str]:
    """Inputs and outputs of the layer whose values the backward pass of a part reads."""
    read = {name for part in body.parts for own, name in _positions(part) if own in part.definition.facts.back_reads}
    for part in body.parts:
        last = _facts(part)[-1]
        if any(name not in part.definition.inputs for name in last.back_reads):
            read |= set(part.output_names)
    fields = _field_names(layer, body) | dict(zip(body.outputs, layer.outputs, strict=True))
    return {fields[name] for name in read if name in fields}
