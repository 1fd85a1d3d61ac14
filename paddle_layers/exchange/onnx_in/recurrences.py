"""LSTM, GRU and RNN: the input projection becomes an `fc`, each direction a separate layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .layers import LayerOutput, NotSupported, Weight, weight
from .operators import OperatorContext, RowView, needed, operator, view_of
from .parts import cut
from .sizes import whole
from .symbolic_values import (
    Atom,
    ConstantValue,
    DynamicConstant,
    Layout,
    Operand,
    RepeatedConstant,
    SequenceLengths,
    View,
    atoms_of,
    axis_for,
    size_of,
)

FUNCTIONS = {"Sigmoid": "sigmoid", "Tanh": "tanh", "Relu": "relu", "Affine": "linear"}
"""Activation functions of ONNX, and their names in the layers."""


@dataclass(frozen=True)
class RecurrenceKind:
    """An operator: its layer, its functions where none are named, which it has by our attributes."""

    layer: str
    order: tuple[int, ...]
    """Order of the gates, as indices into ONNX's order."""
    functions: tuple[str, ...]
    attributes: tuple[str, ...]


KINDS = {
    "LSTM": RecurrenceKind("lstmemory", (3, 0, 2, 1), ("Sigmoid", "Tanh", "Tanh"), ("gate_act", "act", "state_act")),
    "GRU": RecurrenceKind("grumemory", (0, 1, 2), ("Sigmoid", "Tanh"), ("gate_act", "act")),
    "RNN": RecurrenceKind("recurrent", (0,), ("Tanh",), ("act",)),
}


@operator("LSTM", "GRU", "RNN")
def recurrence(
    step: OperatorContext, x: Any, maps: Any, recalls: Any, biases: Any = None, lengths: Any = None,
    start: Any = None, cells: Any = None, peepholes: Any = None,
) -> Any:  # fmt: skip
    """Outputs for all steps, the last ones, and the last states."""
    kind = KINDS[step.node.operator]
    step.refuse_unless(step.attribute("clip") is None, "`clip` is not supported")
    step.refuse_unless(not step.attribute("input_forget", 0), "`input_forget` is not supported")
    first = bool(step.attribute("layout", 0))
    view, place = step.view(x), 0 if first else 1
    if step.fixed_axes and view.shape[place : place + 1] == (1,):  # a single step of a batch of 1
        view = view.without_batch().with_batch(place)
    steps = view.layout[1 if first else 0] if len(view.layout) == 3 else ()
    fixed = step.fixed_axes and not any(atom.name for atom in steps) and isinstance(size_of(steps), int)
    rows = step.rows(_sequences(step, view, first=first) if fixed else view, 1)
    full = {size_of(axis) for axis in rows.lead if [atom.name for atom in axis] == ["T"]}
    if isinstance(lengths, DynamicConstant):
        counted = lengths.number in full
    elif isinstance(lengths, ConstantValue):
        counted = set(lengths.array.reshape(-1).tolist()) <= full
    else:
        counted = lengths is None or isinstance(lengths, SequenceLengths)
    step.refuse_unless(counted, "sequence lengths must be an input, or the number of steps")
    names = [[atom.name for atom in axis] for axis in rows.lead]
    wanted = [["N"], ["T"]] if first else [["T"], ["N"]]
    step.refuse_unless(
        names == wanted, f"expected a batch of sequences with shape [{', '.join(name for (name,) in wanted)}, ...]"
    )
    direction = step.attribute("direction", "forward")
    ways = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}.get(direction)
    if ways is None:
        raise NotSupported(f"unknown direction `{direction}`")
    before = _initial(step, {"initial_h": start, "initial_c": cells}, first=first, directions=len(ways))
    kinds = ("weight", "recurrent weight", "bias", "peepholes")
    given = zip((maps, recalls, biases, peepholes), kinds, strict=True)
    arrays = [_numbers(step, one, len(ways), name) for one, name in given]
    recall = needed(arrays[1], "missing recurrent weight")
    units = step.attribute("hidden_size") or recall.array.shape[-1]
    functions = step.attribute("activations") or list(kind.functions) * len(ways)
    step.refuse_unless(
        len(functions) == len(kind.functions) * len(ways),
        f"expected {len(kind.functions) * len(ways)} activation functions, got {len(functions)}",
    )
    _check_slopes(step, functions.count("Affine"))
    after = bool(step.attribute("linear_before_reset", 0))
    made = []
    for place, reverse in enumerate(ways):
        own = functions[place * len(kind.functions) : (place + 1) * len(kind.functions)]
        suffix = ("forward", "backward")[place] if len(ways) == 2 else ""
        parts = [_part(one, place) for one in arrays]
        made.append(
            one_direction(step, kind, rows, parts, units, own, reverse, suffix, before=before[place], reset_after=after)
        )
    rows_, *ends = _outputs(step, made, ways, rows, first)
    return (_samples(step, rows_) if fixed and rows_ else rows_, *ends)


def _sequences(step: OperatorContext, view: View, *, first: bool) -> View:
    """Sequences along an axis of fixed size, such as the columns of an image."""
    step.refuse_unless(len(view.layout) == 3, f"input has {len(view.layout)} axes, expected 3")
    steps, batch = view.layout[:2][::-1] if first else view.layout[:2]
    value = step.known.get(("steps", view.value))
    if value is None or view.order != atoms_of((batch, steps, view.layout[2])):
        rows = step.rows(replace(view, layout=(batch, steps, view.layout[2])), 2)
        step.refuse_unless(len(rows.lead) == 1, "the batch axis is merged with others")
        value = step.layer("to_sequence", rows.value, size=rows.value.dims[1], suffix="steps").outputs[0]
    lead: Layout = (batch, (Atom(size_of(steps), "T"),))
    return view_of(value, atoms_of(lead), lead if first else lead[::-1])


def _samples(step: OperatorContext, view: View) -> View:
    """Sequences of a fixed number of steps as samples that have an axis for these."""
    batch, steps, *inside = view.order
    count, value = whole(steps.size), view.value
    if count > 1:
        value = step.layer("seq_reshape", value, size=count * value.dims[0], suffix="joined").outputs[0]
    value, axis = step.layer("seq_last", value, suffix="sample").outputs[0], axis_for(count)
    step.known["steps", value] = view.value  # of another recurrence that reads it
    layout = tuple(axis if one == (steps,) else one for one in view.layout)
    return View(layout, value=value, order=(batch, *axis, *inside))


def _check_slopes(step: OperatorContext, affine: int) -> None:
    """Affine alone of the known functions has numbers, `alpha * x + beta`; engines take 0 for missing ones."""
    for name, identity in (("activation_alpha", 1.0), ("activation_beta", 0.0)):
        given = step.attribute(name) or [0.0] * affine
        fits = not affine or given == [identity] * affine
        step.refuse_unless(
            fits, f"activation Affine must be the identity: `{name}` is {given}, expected {[identity] * affine}"
        )


def _initial(step: OperatorContext, given: dict[str, Any], *, first: bool, directions: int) -> list[list[LayerOutput]]:
    """Values for the optional inputs of the layer of each direction; none where all are zero."""
    found: list[list[LayerOutput]] = []
    for name, one in given.items():
        constant = one.constant if isinstance(one, RepeatedConstant) else one
        zero = one is None or (isinstance(one, DynamicConstant) and one.number == 0)
        if zero or (
            isinstance(constant, ConstantValue) and constant.array.dtype.kind == "f" and not constant.array.any()
        ):
            found.append([])
            continue
        step.refuse_unless(
            not isinstance(one, (ConstantValue, DynamicConstant, RepeatedConstant)),
            f"a constant `{name}` other than zero is not supported",
        )
        view = step.view(one, name)
        place = 1 if first else 0
        step.refuse_unless(
            len(view.layout) == 3 and view.shape[place] == directions,
            f"`{name}` must have 3 axes, and axis {place}, that of the directions, must have size {directions}",
        )
        parts = [view] if directions == 1 else cut(step, view, place, [1] * directions)
        rows = [step.rows(replace(one, layout=(*one.layout[:place], *one.layout[place + 1 :])), 1) for one in parts]
        names = [[atom.name for atom in axis] for axis in rows[0].lead]
        step.refuse_unless(names == [["N"]], f"`{name}` must have the batch axis")
        found.append([one.value for one in rows])
    outputs, states = found
    if states and not outputs:  # the state follows it
        outputs = [step.layer("slope_intercept", one, slope=0.0, suffix="initial").outputs[0] for one in states]
    return [[side[at] for side in (outputs, states) if side] for at in range(directions)]


def _numbers(step: OperatorContext, given: Any, directions: int, name: str) -> ConstantValue | None:
    if given is None:
        return None
    found = step.numbers(given, name)
    rank = 3 if "weight" in name else 2
    fits = found.array.ndim == rank and found.array.shape[0] == directions
    step.refuse_unless(
        fits, f"{name} has shape {found.array.shape}, expected {rank} axes, the first of size {directions}"
    )
    return found


def _part(given: ConstantValue | None, place: int) -> ConstantValue | None:
    if given is None:
        return None
    return ConstantValue(
        np.asarray(given.array[place], np.float32), (*given.source, str(place)) if given.source else ()
    )


def one_direction(
    step: OperatorContext, kind: RecurrenceKind, rows: RowView, given: list[ConstantValue | None], units: int,
    functions: list[str], reverse: bool, suffix: str, *, before: Sequence[LayerOutput] = (), reset_after: bool = False,
) -> LayerOutput:  # fmt: skip
    """One direction, with weights `[gates * units, width]`, recurrent ones, biases and peepholes in ONNX's order.

    The initial states `before` are values for the layer's optional inputs.
    """
    maps, recalls, biases, peepholes = given
    assert maps is not None
    assert recalls is not None
    gates, width = len(kind.order), rows.value.dims[0]
    fits = maps.array.shape == (gates * units, width) and recalls.array.shape == (gates * units, units)
    step.refuse_unless(
        fits,
        f"weight shapes {maps.array.shape} and {recalls.array.shape} do not match {units} units and {width} inputs",
    )
    settings: dict[str, Any] = {}
    for name, function in zip(kind.attributes, functions, strict=True):
        step.refuse_unless(function in FUNCTIONS, f"activation `{function}` is not supported")
        settings[name] = FUNCTIONS[function]
    sign = _signs(step, kind, units, settings)
    order = np.concatenate([np.arange(units) + units * gate for gate in kind.order])
    map_, recall = (sign[:, None] * one.array[order] for one in (maps, recalls))
    added = np.zeros(2 * gates * units, np.float32) if biases is None else biases.array
    step.refuse_unless(
        added.size == 2 * gates * units, f"expected {2 * gates * units} values for the bias, got {added.size}"
    )
    parts = [sign * one[order] for one in np.split(added, 2)]
    bias = _bias(step, parts, units, settings, peepholes, kind, reset_after=reset_after)
    weights: dict[str, Weight] = {"weight": weight(recall.T, recalls.source), "bias": weight(bias, recalls.source)}
    if kind.layer == "lstmemory" and "".join(step.node.outputs[2:]):
        settings["return_state"] = True
    value = rows.value
    # Our own export has the input projection as a separate MatMul and an identity here; it is dropped on the way back.
    if not (width == gates * units and np.array_equal(map_, np.eye(width, dtype=np.float32))):
        own = {"weight": weight(map_.T, maps.source)}
        fc = step.layer("fc", value, weights=own, size=gates * units, bias=False, suffix=f"{suffix} input".strip())
        value = fc.outputs[0]
    return step.layer(
        kind.layer, value, *before, weights=weights, reverse=reverse or None, suffix=suffix, **settings
    ).outputs[0]  # fmt: skip


def _signs(step: OperatorContext, kind: RecurrenceKind, units: int, settings: dict[str, Any]) -> Any:
    """ONNX's update gate of a GRU is 1 minus that of here: of a sigmoid by the sums with the other sign."""
    sign = np.ones(units * len(kind.order), np.float32)
    if kind.layer == "grumemory":
        known = settings["gate_act"] in ("sigmoid", "linear")
        step.refuse_unless(known, f"activation `{settings['gate_act']}` of the update gate is not supported")
        sign[:units] = -1
    return sign


def _bias(
    step: OperatorContext, parts: list[Any], units: int, settings: dict[str, Any], peepholes: ConstantValue | None,
    kind: RecurrenceKind, *, reset_after: bool,
) -> Any:  # fmt: skip
    added, recalled = parts
    if kind.layer == "grumemory":
        # Of a linear gate, 1 minus it is a sum with the other sign plus 1.
        if settings["gate_act"] == "linear":
            added = added + np.repeat([1.0, 0.0, 0.0], units).astype(np.float32)
        if reset_after:
            settings["reset_after"] = True
            sums = added + np.concatenate([recalled[: 2 * units], np.zeros(units, np.float32)])
            return np.concatenate([sums, recalled[2 * units :]])
    found = added + recalled
    if kind.layer != "lstmemory":
        return found
    settings["peepholes"] = peepholes is not None and bool(peepholes.array.any())
    if not settings["peepholes"]:
        return found
    assert peepholes is not None
    step.refuse_unless(
        peepholes.array.size == 3 * units, f"expected {3 * units} peephole weights, got {peepholes.array.size}"
    )
    # ONNX orders peepholes as input, output, forget.
    looks = np.split(peepholes.array, 3)
    return np.concatenate([found, looks[0], looks[2], looks[1]])


def _outputs(step: OperatorContext, made: list[LayerOutput], ways: list[bool], rows: RowView, first: bool) -> Any:
    """`[T, directions, N, units]`, then `[directions, N, units]`; with `layout` 1 the batch comes first."""
    rows_of_steps, wanted = made[0], [*step.node.outputs, "", "", ""][:3]
    batch, steps = (tuple(atom for atom in rows.view.rows if atom.name == name) for name in ("N", "T"))
    if len(made) == 2:
        rows_of_steps = step.layer("concat", *made, suffix="both").outputs[0]
    units = made[0].dims[0]
    inside = tuple((Atom(size),) if size > 1 else () for size in (len(made), units))
    layout: Layout = (batch, steps, *inside) if first else (steps, inside[0], batch, inside[1])
    results: list[Operand | None] = [
        View(layout, value=rows_of_steps, order=(*batch, *steps, *atoms_of(inside))) if wanted[0] else None
    ]
    shape: Layout = (batch, *inside) if first else (inside[0], batch, inside[1])

    def last(ends: list[LayerOutput], suffix: str) -> View:
        value = ends[0] if len(ends) == 1 else step.layer("concat", *ends, suffix=suffix).outputs[0]
        return View(shape, value=value, order=(*batch, *atoms_of(inside)))

    if wanted[1]:
        ends = [
            step.layer("seq_first" if reverse else "seq_last", one, suffix=one.layer.suffix).outputs[0]
            for one, reverse in zip(made, ways, strict=True)
        ]
        results.append(last(ends, "last"))
    elif wanted[2]:
        results.append(None)
    if wanted[2]:
        results.append(last([one.layer.outputs[1] for one in made], "last states"))
    return (*results, *[None] * (len(step.node.outputs) - len(results)))
