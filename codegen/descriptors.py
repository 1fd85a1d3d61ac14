"""The registry as protobuf descriptors: a message for every definition, a typed field for each in the config messages.

Config texts are legal text format of these messages, so protobuf's own tools read them; the tests use
`google.protobuf.text_format` with them as an oracle of our reader.
"""

from __future__ import annotations

import zlib
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from paddle_layers.define import Definition, registries
from paddle_layers.define.attributes import Attribute
from paddle_layers.schema import layer_def_pb2, network_pb2, training_pb2

Field = descriptor_pb2.FieldDescriptorProto
PACKAGE = "paddle_layers"
FIRST_NUMBER, SPAN = 1000, 500_000_000
RESERVED = range(19000, 20000)
"""Field numbers that protobuf keeps for itself."""

TYPED = {
    "layer": ("Layer", "Activation"),
    "initializer": ("Initializer",),
    "optimizer": ("Optimizer",),
    "schedule": ("Schedule",),
    "regularizer": ("Regularizer",),
    "source": ("Source",),
    "transform": ("Transform",),
    "callback": ("Callback",),
}
"""Messages of the schema that have a field for each definition of a kind."""

_SCALARS = {"STRING": Field.TYPE_STRING, "INT": Field.TYPE_INT64, "FLOAT": Field.TYPE_DOUBLE, "BOOL": Field.TYPE_BOOL}


def message_class(name: str) -> type[Message]:
    """The class of a config message, "Network" or "Training", with a field for everything that is registered."""
    pool = descriptor_pool.DescriptorPool()
    for file in _files():
        pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))


def _files() -> list[descriptor_pb2.FileDescriptorProto]:
    """Files in an order in which each comes after those it imports."""
    own = descriptor_pb2.FileDescriptorProto(name="paddle_layers/registered.proto", package=PACKAGE, syntax="proto2")
    files = [_copy(descriptor_pb2), own]
    for definition in (d for kind in TYPED for d in registries[kind].values()):
        own.message_type.append(_message(definition))
    for module in (layer_def_pb2, network_pb2, training_pb2):
        file = _copy(module)
        for message in file.message_type:
            for kind, names in TYPED.items():
                if message.name in names:
                    message.field.extend(_typed_field(d) for d in registries[kind].values())
        if file.name != layer_def_pb2.DESCRIPTOR.name:
            file.dependency.append(own.name)
        files.append(file)
    return files


def _copy(module: Any) -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(file)
    return file


def _number(name: str) -> int:
    """A field number that depends on the name only."""
    number = FIRST_NUMBER + zlib.crc32(name.encode()) % SPAN
    return number + len(RESERVED) if number in RESERVED else number


def _camel(definition: Definition) -> str:
    words = f"{definition.name}_{definition.kind}".split("_")
    return "".join(word[:1].upper() + word[1:] for word in words)


def _typed_field(definition: Definition) -> descriptor_pb2.FieldDescriptorProto:
    return Field(
        name=definition.name,
        number=_number(definition.name),
        label=Field.LABEL_OPTIONAL,
        type=Field.TYPE_MESSAGE,
        type_name=f".{PACKAGE}.{_camel(definition)}",
    )


def _message(definition: Definition) -> descriptor_pb2.DescriptorProto:
    message = descriptor_pb2.DescriptorProto(name=_camel(definition))
    for number, (name, attribute) in enumerate(definition.attribute_by_name.items(), 1):
        message.field.append(_field(message, name, number, attribute))
    return message


def _field(message: descriptor_pb2.DescriptorProto, name: str, number: int, attribute: Attribute[Any]) -> Any:
    label = Field.LABEL_REPEATED if attribute.repeated else Field.LABEL_OPTIONAL
    field = Field(name=name, number=number, label=label)
    if attribute.type == "CHOICE" and all(option.isidentifier() for option in attribute.options):
        scope = "".join(word.capitalize() for word in attribute.name.split("_")) + "Choice"
        if all(nested.name != scope for nested in message.nested_type):  # an alias has the choices of its attribute
            enum = message.nested_type.add(name=scope).enum_type.add(name="Value")
            for value, option in enumerate(attribute.options):
                enum.value.add(name=option, number=value)
        field.type, field.type_name = Field.TYPE_ENUM, f"{scope}.Value"
    else:
        field.type = _SCALARS["STRING" if attribute.type == "CHOICE" else attribute.type]
    return field
