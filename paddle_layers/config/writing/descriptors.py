"""The registry as protobuf descriptors: one message per definition, a typed field for each in the config messages.

Text configs are valid text format of these messages, so protobuf tools can read them; binary configs are these
messages, and the exported `.proto` files describe them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from paddle_layers.define import Definition, registries
from paddle_layers.define.fields.attributes import Attribute
from paddle_layers.define.messages.numbers import (
    choice_numbers,
    field_numbers,
    removed_numbers,
    reserved_numbers,
    type_number,
)
from paddle_layers.schema import network_pb2, training_pb2

Field = descriptor_pb2.FieldDescriptorProto
File = descriptor_pb2.FileDescriptorProto
PACKAGE = "paddle_layers"
REGISTERED = "paddle_layers/registered.proto"
"""The file with the messages of the definitions."""

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
    """The class of a config message, "Network" or "Training", with a field for every registered definition."""
    # Plugins may be loaded later, so the pool is built for the current definitions; iterating the registries loads
    # installed ones.
    known = tuple(id(definition) for kind in TYPED for definition in registries[kind].values())
    return message_factory.GetMessageClass(_pool(known).FindMessageTypeByName(f"{PACKAGE}.{name}"))


@lru_cache(maxsize=2)
def _pool(_: tuple[int, ...]) -> descriptor_pool.DescriptorPool:
    """A pool for the registered definitions."""
    # A pool of our own: in the default pool, files cannot be replaced, and names could clash with those of other
    # packages.
    pool = descriptor_pool.DescriptorPool()
    for file in config_files():
        pool.AddSerializedFile(file.SerializeToString())
    return pool


def required_lists() -> dict[str, list[tuple[str, ...]]]:
    """Required lists by message: the name of each, then its aliases."""
    found = {
        message_name(d): [(a.name, *a.aliases) for a in d.attributes.values() if a.required and a.repeated]
        for kind in TYPED
        for d in registries[kind].values()
    }
    return {message: names for message, names in found.items() if names}


def config_files() -> list[File]:
    """Files in import order: the registered messages, network, training."""
    # proto2: proto3 has no custom defaults, and proto3 and edition 2023 accept numbers that an enum does not have.
    registered = File(name=REGISTERED, package=PACKAGE, syntax="proto2")
    registered.message_type.extend(_message(d) for kind in TYPED for d in registries[kind].values())
    files = [registered]
    for module in (network_pb2, training_pb2):
        file = File()
        module.DESCRIPTOR.CopyToProto(file)
        _strip(file)
        for message in file.message_type:
            for kind, names in TYPED.items():
                if message.name in names:
                    message.field.extend(_typed_field(d) for d in registries[kind].values())
                    for number in removed_numbers(kind, registries[kind]):
                        message.reserved_range.add(start=number, end=number + 1)
        file.dependency.append(REGISTERED)
        files.append(file)
    return files


def _strip(file: File) -> None:
    """Remove the field rules, which only our reader needs; names of files match their package."""
    file.name = file.name.replace("/schema/", "/")
    imports = [name.replace("/schema/", "/") for name in file.dependency if not name.startswith("google/")]
    messages = [message for message in file.message_type if message.name != "FieldRule"]
    for message in messages:
        for field in message.field:
            field.ClearField("options")
    file.ClearField("extension")
    file.ClearField("dependency")
    file.dependency.extend(imports)
    file.ClearField("message_type")
    file.message_type.extend(messages)


def message_name(definition: Definition) -> str:
    """Name of a definition's message: `FcLayer`, `SgdOptimizer`."""
    words = f"{definition.name}_{definition.kind}".split("_")
    return "".join(word[:1].upper() + word[1:] for word in words)


def _typed_field(definition: Definition) -> Field:
    return Field(
        name=definition.name,
        number=type_number(definition),
        label=Field.LABEL_OPTIONAL,
        type=Field.TYPE_MESSAGE,
        type_name=f".{PACKAGE}.{message_name(definition)}",
    )


def _message(definition: Definition) -> descriptor_pb2.DescriptorProto:
    message = descriptor_pb2.DescriptorProto(name=message_name(definition))
    numbers = field_numbers(definition)
    for name, attribute in sorted(definition.attribute_by_name.items(), key=lambda item: numbers[item[0]]):
        message.field.append(_field(message, name, numbers[name], attribute))
        _add_choices(message, definition, attribute)
    for number in reserved_numbers(definition):
        message.reserved_range.add(start=number, end=number + 1)
    return message


def _field(message: descriptor_pb2.DescriptorProto, name: str, number: int, attribute: Attribute[Any]) -> Field:
    label = Field.LABEL_REPEATED if attribute.repeated else Field.LABEL_OPTIONAL
    field = Field(name=name, number=number, label=label)
    if _is_enum(attribute):
        field.type, field.type_name = Field.TYPE_ENUM, f".{PACKAGE}.{message.name}.{_scope(attribute)}.Value"
    else:
        field.type = _SCALARS["STRING" if attribute.type == "CHOICE" else attribute.type]
    own = attribute.default_from is None and not attribute.required and not attribute.repeated
    if own and attribute.default is not None:
        field.default_value = _default_text(attribute.default)
    if attribute.deprecated:
        field.options.deprecated = True
    return field


def _default_text(value: object) -> str:
    """A default in a descriptor."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_enum(attribute: Attribute[Any]) -> bool:
    """Whether the choices are identifiers; others are strings."""
    return attribute.type == "CHOICE" and all(option.isidentifier() for option in attribute.options)


def _scope(attribute: Attribute[Any]) -> str:
    """Message around the enum of an attribute, since values of enums share the scope of their enum."""
    return "".join(word.capitalize() for word in attribute.name.split("_")) + "Choice"


def _add_choices(message: descriptor_pb2.DescriptorProto, definition: Definition, attribute: Attribute[Any]) -> None:
    """The enum of an attribute, once: an alias has the choices of its attribute."""
    scope = _scope(attribute)
    if not _is_enum(attribute) or any(nested.name == scope for nested in message.nested_type):
        return
    numbers = choice_numbers(definition, attribute)
    enum = message.nested_type.add(name=scope).enum_type.add(name="Value")
    for option in sorted(attribute.options, key=numbers.__getitem__):
        enum.value.add(name=option, number=numbers[option])
    for number in sorted(number for option, number in numbers.items() if option not in attribute.options):
        enum.reserved_range.add(start=number, end=number)  # for enums, the end is inclusive
