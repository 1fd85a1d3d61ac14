"""Changes of the field numbers of binary configs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from paddle_layers.schema import layer_def_pb2 as pb

from .changes import BINARY, Change


def number_changes(old: Sequence[pb.AttributeDef], new: Sequence[pb.AttributeDef]) -> Iterator[Change]:
    """Numbers of attributes, their aliases and their choices that moved or are used again."""
    yield from moved_numbers(_field_numbers(old), _field_numbers(new), "attribute")
    successors = {name: attribute for attribute in new for name in (*attribute.aliases, attribute.name)}
    for before in old:
        after = successors.get(before.name)
        if after is not None:
            of = f" of attribute `{after.name}`"
            yield from moved_numbers(_choice_numbers(before), _choice_numbers(after), "choice", of)


def moved_numbers(old: Mapping[str, int], new: Mapping[str, int], role: str, of: str = "") -> Iterator[Change]:
    """Names that have another number now, and new names that have the number of one that is gone."""
    lost = {number: name for name, number in old.items() if name not in new}
    for name, number in new.items():
        subject = f"{role} `{name}`{of}"
        if old.get(name, number) != number:
            yield Change(subject, "number changed", True, BINARY, str(old[name]), str(number))
        elif name not in old and number in lost:
            yield Change(subject, "number reused", True, BINARY, f"`{lost[number]}`", f"`{name}`")


def _field_numbers(attributes: Sequence[pb.AttributeDef]) -> dict[str, int]:
    """Numbers by name."""
    numbers = {attribute.name: attribute.number for attribute in attributes}
    for attribute in attributes:
        numbers |= zip(attribute.aliases, attribute.alias_numbers, strict=False)
    return numbers


def _choice_numbers(attribute: pb.AttributeDef) -> dict[str, int]:
    """Numbers by name."""
    return {choice.name: choice.number for choice in attribute.choices if choice.HasField("number")}
