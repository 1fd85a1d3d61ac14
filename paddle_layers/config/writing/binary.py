"""Binary configs as protobuf messages: lossless conversion except for comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from ..binding.headers import is_training
from ..binding.values import MISSING, convert
from ..diagnostics.diagnostic import Diagnostic, Source
from ..diagnostics.report import ConfigError
from ..reading.fields import WORD, Field, Fields, items
from .descriptors import message_class, required_lists
from .formatter import format_text
from .text import HEADERS, Word, fields_text

TRAINING_FIELD = 8
"""Number of the field `optimizer`, which only training files have."""

LARGEST = 2**31 - 1
"""Maximum size of a protobuf message in bytes."""


def read_binary(path: Path) -> Message:
    """The message in a binary config file. Raises `ConfigError` for an invalid message, `OSError`."""
    size = path.stat().st_size
    if size > LARGEST:
        raise _unreadable(str(path), f"the file has {size} bytes; the maximum of a protobuf message is {LARGEST}")
    return message_of_binary(path.read_bytes(), str(path))


def text_of_binary(content: bytes, name: str) -> str:
    """The text of a binary config. Raises `ConfigError` for an invalid message."""
    return text_of_message(message_of_binary(content, name))


def message_of_binary(content: bytes, name: str) -> Message:
    """The message in a binary config, a network or a training file. Raises `ConfigError`."""
    try:
        # The file does not say which message it contains. Parsed as a network, a training has its `optimizer` among the
        # unknown fields.
        message = message_class("Network").FromString(content)
        if TRAINING_FIELD in _unknown_numbers(message):
            message = message_class("Training").FromString(content)
    except (DecodeError, UnicodeDecodeError) as error:
        raise _unreadable(name, f"this is not a binary config: {error}") from error
    # The first one only: without positions a list would be of little use. Unknown fields are errors, since ignoring one
    # changes the network.
    for fault in _faults(message, ""):
        raise _unreadable(name, fault)
    return message


def _unreadable(name: str, message: str) -> ConfigError:
    help_ = "it may come from a newer version or need a plugin; `paddle-layers convert` writes binary configs"
    return ConfigError([Diagnostic("E008", message, Source(name, ""), 0, help=help_)])


def _faults(message: Message, path: str) -> Iterator[str]:
    """Unknown fields, and strings that are not valid text, each with its position."""
    place = f"`{path}`" if path else "the file"
    # Protobuf skips unknown fields silently; here they are settings of a newer version or of a missing plugin.
    yield from (f"{place} has an unknown field with number {n}" for n in _unknown_numbers(message))
    for field, value in message.ListFields():
        for number, item in enumerate(_all(field, value)):
            inner = f"{path}.{field.name}".lstrip(".") + (f"[{number}]" if is_repeated(field) else "")
            if field.message_type is not None:
                yield from _faults(item, inner)
            elif isinstance(item, bytes):  # a string field whose bytes protobuf could not decode
                yield f"`{inner}` is not UTF-8 text"


def _unknown_numbers(message: Message) -> list[int]:
    fields: Any = UnknownFieldSet(message)  # iterable, which its stub does not say
    return [field.field_number for field in fields]


# ---- from messages


def text_of_message(message: Message) -> str:
    """Text format, one layout, with a header that names the message."""
    return format_text(HEADERS[message.DESCRIPTOR.name] + fields_text(plain(message)) + "\n")


def plain(message: Message) -> dict[str, Any]:
    """The set fields of a message, by name; choices as identifiers."""
    return _plain(message, required_lists())


def _plain(message: Message, lists: Mapping[str, list[tuple[str, ...]]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field, value in message.ListFields():
        items = [_plain_value(field, item, lists) for item in _all(field, value)]
        found[field.name] = items if is_repeated(field) else items[0]
    # An empty list and an absent one are the same in a message. A required list is written as `[]`, so that the text is
    # valid again.
    return found | {names[0]: [] for names in lists.get(message.DESCRIPTOR.name, ()) if not found.keys() & set(names)}


def _plain_value(field: FieldDescriptor, value: Any, lists: Mapping[str, list[tuple[str, ...]]]) -> Any:
    if field.message_type is not None:
        return _plain(value, lists)
    if field.enum_type is not None:
        return Word(field.enum_type.values_by_number[value].name)
    return value


def is_repeated(field: FieldDescriptor) -> bool:
    """Whether a field holds a list."""
    descriptor: Any = field  # `label` is gone in protobuf 7, `is_repeated` is not yet in 6.31
    return bool(descriptor.is_repeated) if hasattr(field, "is_repeated") else descriptor.label == 3


def _all(field: FieldDescriptor, value: Any) -> Any:
    return value if is_repeated(field) else [value]


# ---- to messages


def message_of_fields(fields: Fields) -> Message:
    """The message of a JSON or text file. The file has to be checked first: errors are not reported here."""
    message = message_class("Training" if is_training(fields) else "Network")()
    _fill(message, fields)
    return message


def plain_fields(name: str, fields: Fields) -> dict[str, Any]:
    """The fields of a message of a checked file, in the order and notation of the schema."""
    message = message_class(name)()
    _fill(message, fields)
    return plain(message)


def _fill(message: Message, fields: Fields) -> None:
    known: Mapping[str, Any] = message.DESCRIPTOR.fields_by_name
    for field in fields:
        for item in items(field):
            _set(message, known[field[0]], item)


def _set(message: Message, field: FieldDescriptor, item: Field) -> None:
    if field.message_type is not None:
        target = getattr(message, field.name)
        inner = target.add() if is_repeated(field) else target
        # Otherwise an empty block, `adam { }`, would be absent from the message.
        inner.SetInParent()
        _fill(inner, item[2])
        return
    value = _value(field, item)
    if is_repeated(field):
        getattr(message, field.name).append(value)
    else:
        setattr(message, field.name, value)


_WANTED = {
    FieldDescriptor.CPPTYPE_INT32: "INT",
    FieldDescriptor.CPPTYPE_INT64: "INT",
    FieldDescriptor.CPPTYPE_DOUBLE: "FLOAT",
    FieldDescriptor.CPPTYPE_BOOL: "BOOL",
    FieldDescriptor.CPPTYPE_STRING: "STRING",
    FieldDescriptor.CPPTYPE_ENUM: "CHOICE",
}


def _value(field: FieldDescriptor, item: Field) -> Any:
    value = convert(_WANTED[field.cpp_type], item[1], item[2])
    if value is MISSING and item[1] == WORD:
        value = item[2]  # a choice that is a string in the message
    return field.enum_type.values_by_name[value].number if field.enum_type is not None else value
