"""Derivation of facts: from the functions of a layer, or from the parts in the bodies of its examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..definitions.layers import Body, LayerDefinition, Part
from ..definitions.registry import registries
from ..fields.tensors import Output, Stat
from ..functions.point_functions import Facts, Function
from .independence import rows_independent

ENTRIES = ("start", "id", "value", "used_id", "used_start", "used_row", "used_value")
"""Argument suffixes of sparse rows, such as `x_id`, and of rows that ids select, such as `x_used_row`."""


def derive_facts(layer: LayerDefinition) -> Facts:
    """Order the functions and read the facts off their text; those of a layer made of layers, off its parts."""
    if layer.is_composite:
        return facts_of_parts(layer)
    forward, backward = split_order(layer)
    back_reads = tuple(
        name for name in (*layer.inputs, *layer.outputs) if any(_reads(function, name) for function in backward)
    )
    gradients = {target.name for f in backward if f.role == "gradient" for target in f.targets}
    if layer.networks:  # what the framework does has gradients, too
        gradients = {*layer.inputs}
    overwrites = _overwrites(layer, forward, back_reads)
    asked = {name for function in layer.functions for name in function.args}
    return Facts(
        forward=forward,
        backward=backward,
        back_reads=back_reads,
        differentiable=tuple(name for name in layer.inputs if name in gradients),
        overwrites=overwrites,
        is_source=not layer.inputs,
        is_sink=layer.is_sink,
        has_param=bool(layer.params),
        has_neuron="act" in layer.common,
        can_do_bp=bool(gradients),
        is_inplace=overwrites,
        has_loss=any(output.loss for output in layer.outputs.values()),
        has_stats=bool(layer.stats),
        has_phase="training" in asked,
        is_random="key" in asked or "key" in layer.hook_names.get("entries", ()),
        has_state=bool(layer.states),
        is_composite=False,
        rows_independent=rows_independent(layer, forward),
    )


def _reads(function: Function, name: str) -> bool:
    """Whether a function reads values of an input or an output, or entries of its sparse rows."""
    if name in function.args and function.program.reads(name):
        return True
    return any(f"{name}_{part}" in function.args for part in ENTRIES)


def _overwrites(layer: LayerDefinition, forward: tuple[Function, ...], back_reads: tuple[str, ...]) -> bool:
    if not layer.inputs or not layer.outputs or layer.networks or layer.declared_only:
        return False
    x, y = next(iter(layer.inputs.values())), next(iter(layer.outputs.values()))
    if y.repeatable or x.axes != y.axes or x.name in back_reads:
        return False
    if y.kind not in x.kinds:  # ids have 8 bytes, numbers 4
        return False
    writing = next(at for at, function in enumerate(forward) if y.name in function.target_names)
    readers = [function for function in forward[writing:] if x.name in function.args]  # who ran before has read x
    return all(
        function.program.reads_own_element(x.name, function.indices) and (not x.repeatable or function.over is x)
        for function in readers
    )


def split_order(layer: LayerDefinition) -> tuple[tuple[Function, ...], tuple[Function, ...]]:
    """Forward and backward functions, both in topological order.

    The forward list has what outputs, statistics, states and loss divisors need; the backward list has the rest.
    Functions that need the dynamic row count of an output come after the temporaries that determine it.
    """
    functions = layer.functions
    makers: dict[str, list[Function]] = {}
    for function in functions:
        if function.role != "update":
            for name in function.target_names:
                makers.setdefault(name, []).append(function)

    def needs(function: Function) -> list[Function]:
        if function.role == "bias":
            return [maker for maker in makers[function.target_names[0]] if maker.role != "bias"]
        names = [name for name in function.args if name not in function.target_names]
        if layer.decisive_temps and _knows_dynamic_rows(layer, function):
            names += layer.decisive_temps
        return [maker for name in names for maker in makers.get(name, ())]

    divisors = [t.divisor for f in functions for t in f.targets if isinstance(t, Output) and t.divisor is not None]
    wanted: set[int] = set()
    stack = [
        f for f in functions
        if f.role in ("update", "bias")
        or (f.role != "gradient" and any(isinstance(t, (Output, Stat)) or t in divisors for t in f.targets))
    ]  # fmt: skip
    while stack:
        function = stack.pop()
        if id(function) not in wanted:
            wanted.add(id(function))
            stack += needs(function)
    ordered = _sorted(functions, needs)
    forward = [f for f in ordered if id(f) in wanted]
    # Updates last: outputs are computed with the states before the step, and the sort is stable.
    forward.sort(key=lambda f: f.role == "update")
    return tuple(forward), tuple(f for f in ordered if id(f) not in wanted)


def _knows_dynamic_rows(layer: LayerDefinition, function: Function) -> bool:
    """Whether a function has to do with rows that the layer makes."""
    fields = [*function.targets, *(layer.fields[name] for name in function.args if name in layer.fields)]
    rows = {field.axes[0].name for field in fields if field.axes}
    return any(row in rows or f"{row}_start" in function.args for row in layer.dynamic_rows)


def _sorted(functions: list[Function], needs: Callable[[Function], list[Function]]) -> list[Function]:
    done: list[Function] = []
    waiting = list(functions)
    while waiting:
        ready = [f for f in waiting if all(n in done for n in needs(f))]
        if not ready:
            raise waiting[0].error("depends on its own result through other functions")
        done += ready
        waiting = [f for f in waiting if f not in ready]
    return done


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
