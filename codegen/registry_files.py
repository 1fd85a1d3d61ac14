"""Registry export: all definitions as a RegistryDef in text, JSON or binary."""

from __future__ import annotations

from pathlib import Path

from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError

import paddle_layers as pl
from paddle_layers.define import Definition, LayerDefinition, registries
from paddle_layers.define.messages.layer_def import component_def
from paddle_layers.schema import layer_def_pb2 as pb

from .examples import worked_examples

ENDS = (".textproto", ".json", ".binpb")
"""Ends of the names of registry files, by format."""


class RegistryFileError(Exception):
    """A file is no registry file; the message says which and why."""


def registry_def(package: str | None = None) -> pb.RegistryDef:
    """Everything that is registered, or what one package has; examples with what they infer, no places in files."""
    message = pb.RegistryDef(version=pl.__version__)
    for registry in registries.values():
        for definition in registry.values():
            if package is None or definition.package == package:
                _add(message, definition)
    message.components.sort(key=lambda component: (component.kind, component.type))
    return message


def _add(message: pb.RegistryDef, definition: Definition) -> None:
    if not isinstance(definition, LayerDefinition):
        message.components.append(component_def(definition))
        message.components[-1].ClearField("registered_at")
        return
    layer = message.layers.add()
    layer.CopyFrom(definition.message)
    # Lines move with every edit; without them, exports only differ if the definitions do.
    layer.ClearField("registered_at")
    for example, worked in zip(layer.examples, worked_examples(definition), strict=True):
        example.outputs.extend(f"{name} {type_}" for name, type_ in worked.outputs)
        example.parameters.extend(f"{name} {shape}" for name, shape, _ in worked.parameters)


def registry_content(message: pb.RegistryDef, end: str) -> bytes:
    """The content of a registry file whose name ends in `end`."""
    if end == ".binpb":
        return message.SerializeToString(deterministic=True)
    if end == ".json":
        return (json_format.MessageToJson(message, preserving_proto_field_name=True) + "\n").encode()
    head = "# proto-file: schema/layer_def.proto\n# proto-message: paddle_layers.RegistryDef\n\n"
    return (head + text_format.MessageToString(message, as_utf8=True)).encode()


def read_registry(path: Path) -> pb.RegistryDef:
    """Read a registry file. Raises `RegistryFileError`, `OSError`."""
    content, message = path.read_bytes(), pb.RegistryDef()
    try:
        if path.suffix == ".binpb":
            message.ParseFromString(content)
        elif path.suffix == ".json":
            json_format.Parse(content.decode(), message)
        elif path.suffix == ".textproto":
            text_format.Parse(content.decode(), message)
        else:
            raise RegistryFileError(f"{path}: unsupported extension; expected one of {', '.join(ENDS)}")
    except (DecodeError, UnicodeDecodeError, json_format.ParseError, text_format.ParseError) as error:
        raise RegistryFileError(f"{path} is not a registry file: {error}") from error
    return message
