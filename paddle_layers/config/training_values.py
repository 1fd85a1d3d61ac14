"""Conversion of the blocks of a training file to settings."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from paddle_layers.define import registries

from .binding.binder import Bound
from .binding.headers import spec
from .diagnostics.diagnostic import Diagnostic, Source
from .generate_settings import GenerateSettings
from .network import Network
from .parameters import ParamRule, with_rules
from .reading.fields import Fields, items
from .training import (
    AverageSettings,
    CheckpointSettings,
    ClipSettings,
    ComponentSettings,
    LogSettings,
    OptimizerSettings,
    ScheduleSettings,
    SourceSettings,
    SplitSettings,
    TestSettings,
    Training,
    TransformSettings,
    WeightsSettings,
)
from .training_checks import get_field


def training_of(
    bound: Bound,
    network: Network,
    folder: Path,
    network_path: Path | None,
    source: Source,
    *,
    incomplete: frozenset[str] = frozenset(),
) -> Training:
    """The training of fields without errors; `folder` is that of the training file."""
    values = bound.values
    rules = tuple(ParamRule(**header_of(param, "Param")) for param in values.get("param", ()))
    return Training(
        network=with_rules(network, rules),
        param=rules,
        optimizer=optimizer_of(values.get("optimizer")),
        source=tuple(map(source_of, values.get("source", ()))),
        schedule=schedules_of(values.get("schedule", ())),
        momentum_schedule=schedules_of(values.get("momentum_schedule", ())),
        regularizer=component_of(values.get("regularizer")),
        callback=tuple(components_of(values.get("callback", ()))),
        clip=ClipSettings(**header_of(values.get("clip"), "Clip")),
        average=average_of(values.get("average")),
        test=TestSettings(**header_of(values.get("test"), "Test")),
        checkpoint=CheckpointSettings(**header_of(values.get("checkpoint"), "Checkpoint")),
        log=LogSettings(**header_of(values.get("log"), "Log")),
        feed={feed.values["input"]: feed.values["field"] for feed in values.get("feed", ())},
        weights=weights_of(values.get("weights")),
        generate=generate_of(values.get("generate")),
        network_path=network_path,
        base=folder / (values.get("base") or ""),
        file=source,
        incomplete=incomplete,
        places=dict(places_of(bound, "")),
        **plain_fields(
            bound,
            ("seed", "batch_size", "accumulate", "epochs", "steps", "output", "dtype", "level", "stage", "on_nan"),
        ),
    )


def incomplete_training(
    bound: Bound,
    fields: Fields,
    network: Network,
    faults: Sequence[Diagnostic],
    folder: Path,
    network_path: Path | None,
    source: Source,
) -> Training:
    """The valid parts of a training file with errors, whose data can be checked nevertheless."""
    blocks = sorted((value[3], field[0]) for field in fields for value in (field, *items(field)))
    starts = [start for start, _ in blocks]
    wrong: dict[str, set[int]] = {}
    for fault in faults:
        own = fault.source is source
        # Errors of the file as a whole are at its start.
        if fault.severity == "error" and (fault.start or not own):
            start, name = blocks[bisect_right(starts, fault.start) - 1] if own else (0, "net")
            wrong.setdefault(name, set()).add(start)
    missing = set(spec("Training").required) - bound.places.keys()
    incomplete = frozenset({*wrong, *bound.meant, *missing})
    for name in incomplete - {"source"}:
        bound.values.pop(name, None)
    if "source" in wrong:
        bound.values["source"] = [one for one in bound.values["source"] if one.start not in wrong["source"]]
    return training_of(bound, _consistent(network, faults), folder, network_path, source, incomplete=incomplete)


def _consistent(network: Network, faults: Sequence[Diagnostic]) -> Network:
    """The valid layers of a network of which all inputs are valid."""
    known: set[str] = set()
    nodes = []
    # The type of a data layer that a note refers to may be the error.
    noted = {(note.source, note.start) for fault in faults for note in fault.notes}
    for node in network.nodes:
        if known.issuperset(node.inputs) and (network.source, node.span[0]) not in noted:
            known.update(node.output_names)
            nodes.append(node)
    if any(fault.code == "E203" for fault in faults):
        # Of the two names that do not match, the one of the data layer may be the misspelled one.
        read = {name for node in nodes for name in node.inputs}
        nodes = [node for node in nodes if node.inputs or not read.isdisjoint(node.output_names)]
    return Network.checked(network.name, nodes, network.source)


def component_of(bound: Bound | None) -> ComponentSettings | None:
    """The definition of a block with its attributes; None without a block."""
    return next(components_of([bound] if bound is not None else []), None)


def average_of(bound: Bound | None) -> AverageSettings | None:
    """The block `average`."""
    return AverageSettings(**header_of(bound, "Average")) if bound is not None else None


def optimizer_of(bound: Bound | None) -> OptimizerSettings:
    """The block `optimizer`; any one where it is invalid."""
    if bound is None:
        plain = registries["optimizer"]["sgd"]
        return OptimizerSettings(plain, plain.fill_defaults({}), 1.0)
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
