"""Type inference of one layer, the explanation of shape errors, and hints for inputs of the wrong type."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from paddle_layers.define import (
    Attributes,
    DefinitionError,
    KindError,
    LayerDefinition,
    LevelError,
    RankError,
    ShapeError,
    Type,
)

from ..binding.drafts import Draft, Setup
from ..binding.steps import group_output_names, is_a
from ..diagnostics.diagnostic import Note
from ..diagnostics.report import DiagnosticReport
from .nodes import Inside, inside_of

INPUT = -1
"""Position of a `Producer` that is the first input of a group or of a block, seen from inside."""

Types = tuple[Type, ...]


class Producer(NamedTuple):
    """Producer of an output."""

    draft: Draft
    position: int
    type: Type | None


# ---- inference

CODES = {"count": "E205", "kind": "E206", "level": "E207", "rank": "E208", "shape": "E209"}
# Enough to show which layer made the size and from what; the path to the data of a deep network would fill the screen.
_HOPS = 3
LARGEST = 2**60
"""Maximum number of values per row; the size of more in bytes would not fit into 64 bits."""


def output_names(draft: Draft, count: int) -> tuple[str, ...]:
    """Names of a layer's outputs: explicit ones, or the layer's name, and `layer.output` for the second and later."""
    given = draft.explicit_outputs()
    if given or draft.definition is None:
        return given or (draft.name,)
    if draft.step is not None:
        return group_output_names(draft.name, draft.step.outputs)
    return draft.definition.names_in_network(draft.name, count)


class Inference:
    """Infers types of drafts; every failure is reported once, at its cause."""

    def __init__(self, report: DiagnosticReport) -> None:
        self.report = report
        self.memo: dict[object, Types] = {}
        self.insides: dict[tuple[Setup, Types], Inside | None] = {}
        self.crashed: set[str] = set()
        self.failed: set[Draft] = set()
        self.causes: set[tuple[str, ...]] = set()
        """Errors of a data layer, or of the inputs of a layer, that are not reported again for other readers."""

    def run(self, draft: Draft, types: Types, producers: Mapping[str, Producer]) -> Types | None:
        """Types of the outputs, or None after a report; `producers` are those of all values so far."""
        setup = draft.setup
        if setup is None:
            return None
        try:
            found = self._infer(draft, setup.definition, setup.attributes, types)
        except ShapeError as error:
            self._shape_error(draft, error, types, producers)
            return None
        if found and setup.activation is not None:
            return found if self._activated(draft, *setup.activation, found[:1]) else None
        return found

    def _infer(self, draft: Draft, definition: LayerDefinition, attributes: Attributes, types: Types) -> Types | None:
        """Types of the outputs, or None if the layer's function fails, which is reported."""
        # Attributes are interned and hash by identity, so the key is cheap: a layer that occurs a thousand times is
        # inferred once.
        key = (definition, attributes, types)
        found = self.memo.get(key)
        if found is not None:
            return found
        try:
            # Errors are not remembered: each layer needs a message with its own name and notes.
            found = self.memo[key] = with_checked_size(tuple(definition.infer(types, attributes)))
        except ShapeError:
            # An error of the config, unlike the next two; the caller knows the position of the input or attribute.
            raise
        except DefinitionError as error:
            self._crash(draft, definition, str(error))
        except (
            Exception
        ) as error:  # `@infer` functions come from plugins: any exception is reported at the layer, as E401
            self._crash(draft, definition, f"{type(error).__name__}: {error}", _origin(error))
        return found

    def _activated(self, draft: Draft, definition: LayerDefinition, attributes: Attributes, types: Types) -> bool:
        """Whether the activation accepts the output of the layer; else it is reported."""
        try:
            return self._infer(draft, definition, attributes, types) is not None
        except ShapeError as error:
            place = draft.activation_place(error.attribute)
            self.add(draft, "E209", f"activation `{definition.name}` of layer `{draft.name}`: {error.message}", place)
            return False

    def inside(self, setup: Setup, types: Types) -> Inside | None:
        """The network inside a valid layer; None for a layer that is not composite."""
        if (setup, types) not in self.insides:
            self.insides[setup, types] = inside_of(setup, types)
        return self.insides[setup, types]

    def _shape_error(self, draft: Draft, error: ShapeError, types: Types, producers: Mapping[str, Producer]) -> None:
        if error.attribute is not None:
            start = draft.attribute_place(error.attribute)
        else:
            start = draft.input_place(error.input)
        code = CODES.get(error.code, "E209")
        notes = () if code == "E205" else size_notes(draft, error.input, producers, self.report)
        help_, data = input_hint(draft, error, types, producers)
        has_no_size = error.attribute == "size" and draft.setup is not None and draft.setup.attributes["size"] is None
        if has_no_size and is_a(draft.definition, "data"):
            follow = f'`set: "size = {draft.name}"`'
            help_ = f"write it; `train` takes it from the words of its data if layers with the same size have {follow}"
        # One wrong declaration of a data layer fails in every layer that reads it, and has a single fix.
        cause = (code, data) if data else (error.message, *(draft.inputs or (draft.name,)))
        if cause in self.causes:
            self.failed.add(draft)
            return
        self.causes.add(cause)
        self.add(draft, code, f"layer `{draft.name}`: {error.message}", start, notes, help_)

    def add(
        self, draft: Draft, code: str, message: str, start: int, notes: tuple[Note, ...] = (), help_: str = ""
    ) -> None:
        """Report a wiring error of a layer, once for all states."""
        # Every state wires the layers again.
        if draft not in self.failed:
            self.failed.add(draft)
            self.report.add(code, message, start, help=help_, notes=notes)

    def _crash(self, draft: Draft, definition: LayerDefinition, message: str, origin: str = "") -> None:
        # A bug of a plugin shows in every layer of the type; the author of the config can fix none of them.
        if definition.name in self.crashed:
            return
        self.crashed.add(definition.name)
        place = origin or f"{definition.file}:{definition.line}"
        self.report.add(
            "E401",
            f"layer type `{definition.name}` raised an error: {message}",
            draft.place("type"),
            help=f"this is a bug in the definition of the layer ({place}), not in this file",
        )


def types_of(setup: Setup, types: Types) -> Types:
    """Types of the outputs; raises any error of the functions of the layer and its activation."""
    found = setup.definition.kept_types(types) or with_checked_size(setup.binding(types).outputs)
    if found and setup.activation is not None:
        activation, attributes = setup.activation
        activation.infer(found[:1], attributes)
    return found


def with_checked_size(types: Types) -> Types:
    """The types, if their sizes are in range; else `ShapeError`."""
    for type_ in types:
        if type_.size > LARGEST:
            raise ShapeError(f"its output would have more than {LARGEST:,} values per row")
    return types


def _origin(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def size_notes(
    draft: Draft, item: int | None, producers: Mapping[str, Producer], report: DiagnosticReport
) -> tuple[Note, ...]:
    """The layers that determine the size of an input: one note per layer, back towards the data."""
    notes: list[Note] = []
    name = draft.inputs[item] if item is not None and item < len(draft.inputs) else (draft.inputs or ("",))[0]
    for _ in range(_HOPS):
        producer = producers.get(name)
        if producer is None or producer.type is None or producer.draft.definition is None:
            break
        # The layers around are in another scope; the use is where the reader can change something.
        if producer.position <= INPUT:
            place = producer.draft.input_place(INPUT - producer.position)
            where = "a step" if producer.draft.step is not None else "this use"
            notes.append(report.note(f"`{name}` is {producer.type} in {where} of `{producer.draft.name}`", place))
            break
        inputs = producer.draft.inputs
        before = [producers[other].type for other in inputs if other in producers]
        source = f" from {', '.join(map(str, before))}" if before else ""
        made = f"`{name}` is {producer.type}, produced here by `{producer.draft.definition.name}`{source}"
        notes.append(report.note(made, producer.draft.offset))
        if not inputs or producer.draft.name == name == inputs[0]:
            break
        name = inputs[0]
    return tuple(notes)


# ---- hints

_ORDERED = 4
"""Layers with more inputs take them in any order, or repeat one."""
_REDUCE = "reduce each sequence{} to one row with `seq_last`, `seq_avg_pool` or `seq_max_pool`"


def input_hint(
    draft: Draft, error: ShapeError, types: Sequence[Type], producers: Mapping[str, Producer]
) -> tuple[str, str]:
    """The hint, and the data layer that it concerns; both may be empty.

    `types` are those of the inputs of the layer.
    """
    if error.input is None or error.input >= len(types):
        return "", ""
    if order := swapped_inputs(draft, error.input, types):
        return order, ""
    found = types[error.input]
    name = draft.inputs[error.input]
    if isinstance(error, LevelError) and error.levels and found.level not in error.levels:
        deepest = max(type_.level for type_ in types)
        data = _data_layer(name, producers, lambda type_: type_.level)
        return _of_level(found, error.levels, data, deepest), data
    if isinstance(error, KindError):
        data = _data_layer(name, producers, lambda type_: type_.kind)
        # Another input would fit here: they are probably swapped.
        if any(other.kind in error.kinds for other in types) and draft.definition is not None:
            order = ", then ".join(f"`{name}`" for name in draft.definition.inputs)
            if not any(field.repeatable for field in draft.definition.inputs.values()) and found.kind == "INT":
                numbers = f"write `shape: 1` instead of `data_type: INT` in `data {{ }}` of `{name}` if it has numbers"
                if data == name and draft.definition.is_sink:
                    return f"{numbers}; for classes, use a loss such as `softmax_with_loss`", name
                return f"check the order of the inputs: {order}", ""
        if found.kind == "DENSE" and data != name:
            data = ""  # values that a layer computes stay dense, whatever its data layer is
        return _of_kind(found, error.kinds, data), data
    if isinstance(error, RankError) and error.axes:
        data = _data_layer(name, producers, lambda type_: (type_.kind, len(type_.dims)))
        shape = f"`shape: [{', '.join(error.axes)}]` with the sizes of these axes"
        if len(error.axes) == 1 and not found.dims:
            shape = "`shape: 1`"
        return (f"write {shape} in `data {{ }}` of `{data}`", data) if data else ("", "")
    return "", ""


def swapped_inputs(draft: Draft, item: int, types: Sequence[Type]) -> str:
    """The order in which the inputs of a layer fit, if two of them are swapped; else empty."""
    if draft.setup is None:
        return ""
    order = swapped_order(partial(types_of, draft.setup), item, types)
    fields = " ".join(f'input: "{draft.inputs[one]}"' for one in order)
    return f"swap the inputs: `{fields}`" if order else ""


def swapped_order(infer: Callable[[tuple[Type, ...]], object], item: int, types: Sequence[Type]) -> list[int]:
    """The order in which `infer` accepts the inputs, with an item and another one swapped; empty otherwise."""
    for other in range(len(types)) if len(types) <= _ORDERED else ():
        order = list(range(len(types)))
        order[item], order[other] = other, item
        if types[item] == types[other]:
            continue
        try:
            infer(tuple(types[one] for one in order))
        except Exception:  # plugins may raise anything; the error of the given order is reported anyway
            continue
        return order
    return []


def _data_layer(name: str, producers: Mapping[str, Producer], what: Callable[[Type], object]) -> str:
    """The data layer that a value comes from, if no layer in between changes the property `what`; else empty."""
    seen, found = set[str](), None
    # A cycle among layers with errors would have no end.
    while name in producers and name not in seen:
        seen.add(name)
        producer = producers[name]
        type_, definition = producer.type, producer.draft.definition
        if type_ is None or definition is None or producer.position < 0:
            return ""
        found = what(type_) if found is None else found
        if what(type_) != found:
            return ""
        if definition.name == "data":
            return producer.draft.name
        name = next(iter(producer.draft.inputs), "")
    return ""


def _of_level(found: Type, levels: Sequence[int], data: str, deepest: int) -> str:
    deeper = [level for level in levels if level > found.level]
    if not deeper:
        less = f", or remove `seq_nested_level` from `data {{ }}` of `{data}`" if data else ""
        return _REDUCE.format("") + less
    pool = _REDUCE.format(" of the other input") if deepest > found.level else ""
    if not data:
        return pool
    declare = f"if its samples are sequences, write `seq_nested_level: {min(deeper)}` in `data {{ }}` of `{data}`"
    return f"{declare}; otherwise {pool}" if pool else declare


def _of_kind(found: Type, kinds: Sequence[str], data: str) -> str:
    if found.kind == "INT" and "DENSE" in kinds:
        numbers = f", or declare dense values with `shape: [...]` in `data {{ }}` of `{data}`" if data else ""
        return f"map ids to vectors with an `embedding`{numbers}"
    if found.kind == "DENSE" and "INT" in kinds and data:
        return f"write `data_type: INT size: ...` with the number of ids in `data {{ }}` of `{data}`"
    return ""
