"""`.proto` files for other languages: the config messages with comments, and the registry."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from google.protobuf import descriptor_pb2

from paddle_layers.config.writing.descriptors import PACKAGE, TYPED, config_files, message_name
from paddle_layers.define import Definition, registries
from paddle_layers.define.output_folders import write_texts
from paddle_layers.schema.comments import COMMENTS

Field = descriptor_pb2.FieldDescriptorProto
Message = descriptor_pb2.DescriptorProto
INDENT, WIDTH = "  ", 80

_TYPES = {
    Field.TYPE_STRING: "string",
    Field.TYPE_INT32: "int32",
    Field.TYPE_INT64: "int64",
    Field.TYPE_DOUBLE: "double",
    Field.TYPE_BOOL: "bool",
}

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = next(folder for folder in (ROOT / "schema" / "protos", ROOT / "schema") if folder.is_dir())
"""The schema's own files: `schema/protos` of the installed package, `schema` of a checkout."""

BUF = Path(__file__).with_name("templates") / "buf.yaml"


def write_protos(folder: Path) -> list[Path]:
    """Write the files, and `buf.yaml`, below `folder`; returns their paths. Raises `OSError`."""
    comments = _comments()
    texts = {file.name: proto_text(file, comments) for file in config_files()}
    name = "layer_def.proto"  # it has no part that depends on what is registered
    texts[str(PurePosixPath(next(iter(texts))).with_name(name))] = (SCHEMA / name).read_text(encoding="utf-8")
    return write_texts(folder, {**texts, "buf.yaml": BUF.read_text(encoding="utf-8")})


def proto_text(file: descriptor_pb2.FileDescriptorProto, comments: Mapping[str, str]) -> str:
    """A file in the language of protoc; `comments` are those of messages and fields by dotted name."""
    head = ["// Made by `paddle-layers schema proto`: do not edit.", "", 'syntax = "proto2";', ""]
    head += [f"package {file.package};", ""]
    head += [*(f'import "{name}";' for name in sorted(file.dependency)), ""] if file.dependency else []
    body = [line for message in file.message_type for line in ["", *_message(message, message.name, comments)]]
    return "\n".join([*head, *body[1:], ""])


def _comments() -> dict[str, str]:
    """Comments of the schema, and the descriptions of what is registered."""
    found = dict(COMMENTS)
    for definition in (d for kind in TYPED for d in registries[kind].values()):
        found |= dict(_described(definition))
        for message in TYPED[definition.kind]:
            found[f"{message}.{definition.name}"] = f"Settings of the {definition.kind} `{definition.name}`."
    return found


def _described(definition: Definition) -> Iterator[tuple[str, str]]:
    name = message_name(definition)
    yield name, definition.summary
    for own, attribute in definition.attribute_by_name.items():
        limits = attribute.range_text()
        text = attribute.doc[:1].upper() + attribute.doc[1:] + (f"; {limits}." if limits else ".")
        yield f"{name}.{own}", text if own == attribute.name else f"The same as `{attribute.name}`."
        scope = "".join(word.capitalize() for word in attribute.name.split("_")) + "Choice"
        yield f"{name}.{scope}", f"Choices of `{attribute.name}`."
        yield f"{name}.{scope}.Value", f"A choice of `{attribute.name}`."
        for option, about in attribute.option_docs.items():
            yield f"{name}.{scope}.Value.{option}", about[:1].upper() + about[1:] + "."


# ---- messages


def _message(message: Message, path: str, comments: Mapping[str, str]) -> Iterator[str]:
    yield from _comment(comments.get(path, ""))
    inner: list[str] = []
    for nested in message.nested_type:
        inner += [*_message(nested, f"{path}.{nested.name}", comments), ""]
    for enum in message.enum_type:
        inner += [*_enum(enum, f"{path}.{enum.name}", comments), ""]
    for span in message.reserved_range:
        inner.append(f"reserved {span.start};")
    for field in message.field:
        inner += [*_comment(comments.get(f"{path}.{field.name}", "")), _field(field)]
    if not inner:
        yield f"message {message.name} {{}}"
        return
    while not inner[-1]:
        inner.pop()
    yield f"message {message.name} {{"
    yield from (INDENT + line if line else "" for line in inner)
    yield "}"


def _enum(enum: descriptor_pb2.EnumDescriptorProto, path: str, comments: Mapping[str, str]) -> Iterator[str]:
    yield from _comment(comments.get(path, ""))
    yield f"enum {enum.name} {{"
    for span in enum.reserved_range:
        yield f"{INDENT}reserved {span.start};"
    for value in enum.value:
        for line in (*_comment(comments.get(f"{path}.{value.name}", "")), f"{value.name} = {value.number};"):
            yield INDENT + line
    yield "}"


def _field(field: Field) -> str:
    label = "repeated" if field.label == Field.LABEL_REPEATED else "optional"
    name = _TYPES.get(field.type) or field.type_name.removeprefix(f".{PACKAGE}.")
    options = []
    if field.HasField("default_value"):
        text = field.default_value
        options.append(f"default = {json.dumps(text) if field.type == Field.TYPE_STRING else text}")
    if field.options.deprecated:
        options.append("deprecated = true")
    options_text = f" [{', '.join(options)}]" if options else ""
    return f"{label} {name} {field.name} = {field.number}{options_text};"


def _comment(text: str) -> list[str]:
    """Lines of a comment; a plugin's text is on one paragraph and can't leave it."""
    return [f"// {line}" for line in textwrap.wrap(" ".join(text.split()), WIDTH - 5)]
