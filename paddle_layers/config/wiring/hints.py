"""Hints for inputs of the wrong kind, sequence level or number of axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from paddle_layers.define import KindError, LevelError, RankError, ShapeError, Type

from ..binding.drafts import Draft
from .producers import Producer

_REDUCE = "reduce each sequence{} to one row with `seq_last`, `seq_avg_pool` or `seq_max_pool`"


def input_hint(
    draft: Draft, error: ShapeError, types: Sequence[Type], producers: Mapping[str, Producer]
) -> tuple[str, str]:
    """The hint, and the data layer that it concerns; both may be empty.

    `types` are those of the inputs of the layer.
    """
    if error.input is None or error.input >= len(types):
        return "", ""
    found = types[error.input]
    name = draft.inputs[error.input]
    if isinstance(error, LevelError) and error.levels and found.level not in error.levels:
        deepest = max(type_.level for type_ in types)
        data = _data_layer(name, producers, lambda type_: type_.level)
        return _of_level(found, error.levels, data, deepest), data
    if isinstance(error, KindError):
        if any(other.kind in error.kinds for other in types) and draft.definition is not None:
            order = ", then ".join(f"`{name}`" for name in draft.definition.inputs)
            if not any(field.repeatable for field in draft.definition.inputs.values()) and found.kind == "INT":
                return f"check the order of the inputs: {order}", ""
        data = _data_layer(name, producers, lambda type_: type_.kind)
        return _of_kind(found, error.kinds, data), data
    if isinstance(error, RankError) and error.axes:
        data = _data_layer(name, producers, lambda type_: (type_.kind, len(type_.dims)))
        shape = f"`shape: [{', '.join(error.axes)}]` with the sizes of these axes"
        return (f"write {shape} in `data {{ }}` of `{data}`", data) if data else ("", "")
    return "", ""


def _data_layer(name: str, producers: Mapping[str, Producer], what: Callable[[Type], object]) -> str:
    """The data layer that a value comes from, if no layer in between changes the property `what`; else empty."""
    seen, found = set[str](), None
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
