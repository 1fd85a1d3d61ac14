"""Conversion of `AttributeDef` messages to attributes: the reverse of `attribute_def`."""

from __future__ import annotations

import math
from typing import Any

from google.protobuf.message import Message

from paddle_layers.schema import layer_def_pb2 as pb

from ..fields.attribute_values import is_number
from ..fields.attributes import Attribute, Bool, Choice, Float, Floats, Int, Ints, String, Strings
from .layer_def import read_value

_CLASSES: dict[tuple[str, bool], type[Attribute[Any]]] = {
    ("INT", False): Int,
    ("INT", True): Ints,
    ("FLOAT", False): Float,
    ("FLOAT", True): Floats,
    ("STRING", False): String,
    ("STRING", True): Strings,
    ("BOOL", False): Bool,
    ("CHOICE", False): Choice,
}
_COMMON = (
    *("name", "type", "description", "repeated", "required", "default_value", "default_from"),
    *("aliases", "deprecated", "number", "alias_numbers"),
)
"""Fields of all attributes; numbers come from the lock file."""
_LIMITS = ("min_value", "max_value", "min_exclusive", "max_exclusive")


def check_fields(message: Message, *known: str) -> None:
    """Reject fields that have no effect instead of ignoring them. Raises `ValueError`."""
    for field, value in message.ListFields():
        if field.name not in known and value != field.default_value:
            raise ValueError(f"`{field.name}` is not allowed here")


def read_attribute(message: pb.AttributeDef) -> Attribute[Any]:
    """The attribute that a message describes. Raises `ValueError`."""
    if not message.HasField("type"):
        raise ValueError("it needs a type")
    kind = pb.AttributeDef.Type.Name(message.type).replace("DOUBLE", "FLOAT")
    made = _CLASSES.get((kind, message.repeated))
    if made is None:
        raise ValueError(f"unsupported attribute type: {'list of ' if message.repeated else ''}{kind}")
    known, options = [*_COMMON], _default(message)
    if kind in ("INT", "FLOAT"):
        known += _LIMITS
        options |= _limit(message, "min", "above") | _limit(message, "max", "below")
    if kind == "CHOICE":
        known += ["choices", "groups"]
        options |= {"options": _choices(message), "groups": message.groups or None}
    if message.repeated:
        known += ["min_items", "max_items"]
        options["min_items"] = message.min_items
        options["max_items"] = message.max_items if message.HasField("max_items") else None
    elif kind == "INT":
        known.append("axis")
        options["axis"] = message.axis or None
    check_fields(message, *known)
    return made(message.description, aliases=tuple(message.aliases), deprecated=message.deprecated, **options)


def _default(message: pb.AttributeDef) -> dict[str, Any]:
    """Required, with a default, with that of another attribute, or optional."""
    said = [name for name in ("required", "default_value", "default_from") if getattr(message, name, None)]
    said = [name for name in said if name != "default_value" or message.HasField("default_value")]
    if len(said) > 1:
        raise ValueError(f"it has both `{said[0]}` and `{said[1]}`")
    if not said:
        return {"optional": True}
    if said == ["default_from"]:
        return {"default_from": message.default_from}
    if said == ["required"]:
        return {}
    default = read_value(message.default_value)
    if default is None:
        raise ValueError("its `default_value` is empty")
    return {"default": default}


def _limit(message: pb.AttributeDef, end: str, exclusive: str) -> dict[str, float]:
    """`min`, or `above` where the limit itself is not allowed."""
    is_exclusive: bool = getattr(message, f"{end}_exclusive")
    if not message.HasField("min_value" if end == "min" else "max_value"):
        if is_exclusive:
            raise ValueError(f"`{end}_exclusive` without `{end}_value`")
        return {}
    limit = read_value(getattr(message, f"{end}_value"))
    if not is_number(limit) and limit not in (math.inf, -math.inf):
        raise ValueError(f"its `{end}_value` is not a number")
    whole = isinstance(limit, float) and limit.is_integer()
    return {exclusive if is_exclusive else end: int(limit) if whole else limit}


def _choices(message: pb.AttributeDef) -> dict[str, str] | tuple[str, ...]:
    names = [choice.name for choice in message.choices]
    if not names or "" in names or len(set(names)) < len(names):
        raise ValueError("its `choices` need unique names")
    described = {choice.name: choice.description for choice in message.choices}
    return described if any(described.values()) else tuple(names)
