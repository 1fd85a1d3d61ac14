"""Derivation of facts from the functions of a layer."""

from __future__ import annotations

from collections.abc import Callable

from ..definitions.layers import LayerDefinition
from ..fields.tensors import Output, Stat
from ..functions.facts import Facts
from ..functions.point_functions import Function
from .independence import rows_independent
from .part_facts import facts_of_parts

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
