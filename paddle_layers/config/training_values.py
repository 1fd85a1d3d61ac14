"""Conversion of the blocks of a training file to settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .binding.binder import Bound
from .binding.headers import spec
from .generate_settings import GenerateSettings
from .training import (
    AverageSettings,
    ComponentSettings,
    OptimizerSettings,
    ScheduleSettings,
    SourceSettings,
    SplitSettings,
    TransformSettings,
    WeightsSettings,
)
from .training_checks import get_field


def component_of(bound: Bound | None) -> ComponentSettings | None:
    """The definition of a block with its attributes; None without a block."""
    return next(components_of([bound] if bound is not None else []), None)


def average_of(bound: Bound | None) -> AverageSettings | None:
    """The block `average`."""
    return AverageSettings(**header_of(bound, "Average")) if bound is not None else None


def optimizer_of(bound: Bound) -> OptimizerSettings:
    """The block `optimizer`."""
    (made,) = components_of([bound])
    return OptimizerSettings(made.definition, made.attributes, bound.values["learning_rate"])


def source_of(bound: Bound) -> SourceSettings:
    """A block `source`."""
    (made,) = components_of([bound])
    phase = get_field(bound, "phase", "Source")
    transforms = bound.values.get("transform", [])
    changes = tuple(
        TransformSettings(change.definition, change.attributes, one.values["input"], tuple(one.values.get("also", ())))
        for one, change in zip(transforms, components_of(transforms), strict=True)
    )
    shuffle = bound.values.get("shuffle")
    # The default depends on the phase, which the schema cannot express: a test reads every sample once, in any order.
    shuffled = phase == "train" if shuffle is None else bool(shuffle)
    given = bound.values.get("split")
    split = SplitSettings(**header_of(given, "Split")) if given is not None else None
    rest = {name: get_field(bound, name, "Source") for name in ("workers", "memory", "on_error", "ratio", "name")}
    return SourceSettings(made.definition, made.attributes, phase, changes, shuffled, split, **rest)


def components_of(found: Iterable[Bound]) -> Iterator[ComponentSettings]:
    """The definitions of blocks with their attributes."""
    for bound in found:
        assert bound.definition is not None, "an unknown type was reported"
        assert bound.attributes is not None, "an invalid block was reported"
        yield ComponentSettings(bound.definition, bound.attributes)


def schedules_of(blocks: Sequence[Bound]) -> tuple[ScheduleSettings, ...]:
    """Consecutive `schedule` blocks."""
    return tuple(
        ScheduleSettings(one.definition, one.attributes, block.values.get("until"), block.values.get("base"))
        for block, one in zip(blocks, components_of(blocks), strict=True)
    )


def header_of(bound: Bound | None, message: str) -> dict[str, Any]:
    """All fields of a small message, with their defaults."""
    fields = spec(message).fields
    return {name: field.default if bound is None else get_field(bound, name, message) for name, field in fields.items()}


def weights_of(bound: Bound | None) -> WeightsSettings | None:
    """The block `weights`."""
    if bound is None:
        return None
    rename = {one.values["from"]: one.values["to"] for one in bound.values.get("rename", ())}
    values = bound.values
    return WeightsSettings(values["file"], rename, values.get("leave_out", ()), values.get("layout"))


def generate_of(bound: Bound | None) -> GenerateSettings | None:
    """The block `generate`."""
    return GenerateSettings(**header_of(bound, "Generate")) if bound is not None else None


def plain_fields(bound: Bound, names: Iterable[str]) -> dict[str, Any]:
    """Fields of the training file that are not blocks, with their defaults."""
    return {name: get_field(bound, name, "Training") for name in names}


def places_of(bound: Bound, prefix: str) -> Iterator[tuple[str, int]]:
    """Offsets by dotted name, for errors that are found with the data."""
    # Collected for every field: the data are read later, and the fields of the file no longer exist then.
    waiting = [(bound, prefix)]
    while waiting:
        message, path = waiting.pop()
        for attribute in message.definition.attributes if message.definition is not None else ():
            yield f"{path}/{attribute}", message.attribute_place(attribute)
        for name, fields in message.places.items():
            value = message.values.get(name)
            if isinstance(value, tuple):
                own = f"{path}.{name}".lstrip(".")
                yield from ((f"{own}[{number}]", message.place(name, number)) for number in range(len(value)))
            items = value if isinstance(value, list) else [value]
            for number, item in enumerate(items):
                own = f"{path}.{name}".lstrip(".") + (f"[{number}]" if isinstance(value, list) else "")
                yield own, item.start if isinstance(item, Bound) else fields[0][4]
                if isinstance(item, Bound):
                    waiting.append((item, own))
