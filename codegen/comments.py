"""Comments of the schemas, which Python descriptors lack, for hover, JSON Schema and exported .proto files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from google.protobuf import descriptor_pb2

HEAD = '''"""Comments of the messages and fields of the schemas. Made by `python -m codegen.bindings`: do not edit."""

COMMENTS: dict[str, str] = {
'''

_FIELD_OF: dict[Any, dict[int, str]] = {
    descriptor_pb2.FileDescriptorProto: {4: "message_type", 5: "enum_type"},
    descriptor_pb2.DescriptorProto: {2: "field", 3: "nested_type", 4: "enum_type", 8: "oneof_decl"},
    descriptor_pb2.EnumDescriptorProto: {2: "value"},
}
"""Fields of the descriptor messages that hold named parts, by their numbers in a path."""


def comments_module(files: descriptor_pb2.FileDescriptorSet) -> str:
    """The module's text, from descriptors with source info."""
    found = {name: text for file in files.file for name, text in _comments(file)}
    lines = [f"    {json.dumps(name)}: {json.dumps(text)},\n" for name, text in sorted(found.items())]
    return HEAD + "".join(lines) + "}\n"


def _comments(file: descriptor_pb2.FileDescriptorProto) -> Iterator[tuple[str, str]]:
    """Dotted name and comment of each message, field and enum value, on one line."""
    for place in file.source_code_info.location:
        name = _name(file, tuple(place.path)) if place.leading_comments else ""
        if name:
            yield name, " ".join(place.leading_comments.split())


def _name(file: descriptor_pb2.FileDescriptorProto, path: tuple[int, ...]) -> str:
    part: Any = file
    names = []
    for number, index in zip(path[::2], path[1::2], strict=False):
        field = _FIELD_OF.get(type(part), {}).get(number)
        if field is None:
            return ""
        part = getattr(part, field)[index]
        names.append(part.name)
    return ".".join(names) if len(path) % 2 == 0 else ""
