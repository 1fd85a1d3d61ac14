"""Header fields, derived once from the descriptors of `schema/network.proto` and `training.proto`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from paddle_layers.define.fields.attributes import (
    REQUIRED,
    Attribute,
    Bool,
    Choice,
    Float,
    Floats,
    Int,
    Ints,
    String,
    Strings,
)

from ..diagnostics.report import DiagnosticReport
from ..diagnostics.suggestions import nearest
from ..reading.fields import BLOCK, Field, Fields

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor


class HeaderField:
    """A field of a message: a value, described as an attribute, or a nested message."""

    __slots__ = ("attribute", "default", "elsewhere", "message", "name", "registry", "repeated", "required")

    def __init__(self, name: str, rule: Any, *, repeated: bool) -> None:
        self.name, self.repeated = name, repeated
        self.required: bool = rule.required
        self.registry: str = rule.registry
        self.elsewhere: tuple[str, ...] = tuple(rule.elsewhere)
        """Names in other frameworks."""
        self.attribute: Attribute[Any] | None = None
        self.message = ""
        self.default: Any = () if repeated else None


class MessageSpec:
    """The header fields of a message by name."""

    __slots__ = ("fields", "name", "names", "required")

    def __init__(self, name: str, fields: dict[str, HeaderField]) -> None:
        self.name, self.fields = name, fields
        self.required = tuple(field.name for field in fields.values() if field.required)
        self.names = {other: field.name for field in fields.values() for other in (*field.elsewhere, field.name)}
        """The fields by all their names, including those of other frameworks."""

    def nearest(self, name: str) -> str:
        """The field with the most similar name, here or in another framework; else empty."""
        near = name if name in self.names else nearest(name, self.names) or ""
        return self.names.get(near, "")

    def home_of(self, name: str) -> tuple[str, str]:
        """The only block of this message with a field of this name, and that field; else empty."""
        # Only one level deep, and only if a single block has the field: with two candidates, a suggestion would be a
        # guess.
        blocks = [
            (field.name, spec(field.message).names.get(name, "")) for field in self.fields.values() if field.message
        ]
        found = [(block, field) for block, field in blocks if field]
        return found[0] if len(found) == 1 else ("", "")


@cache
def spec(name: str) -> MessageSpec:
    """The header of the message `name`, such as "Layer" or "Training"."""
    # Lazy, because `import paddle_layers` must not wait for protobuf.
    from paddle_layers.schema import network_pb2, training_pb2

    files = (network_pb2.DESCRIPTOR, training_pb2.DESCRIPTOR)
    descriptor: Descriptor = next(f.message_types_by_name[name] for f in files if name in f.message_types_by_name)
    fields = {field.name: _field(field, _rule(field)) for field in descriptor.fields}
    if name in ("Network", "Step", "Block"):
        fields["layer"].registry = "layer"
    return MessageSpec(name, fields)


def is_training(fields: Fields) -> bool:
    """Whether the fields of a file are those of a training file."""
    names = {field[0] for field in fields}
    known = set(spec("Training").fields) - set(spec("Network").fields)
    # A file with layers is a network, whatever else it has: a field of a training file in it is reported as unknown.
    return bool(names & known) and "layer" not in names


def is_network(fields: Fields) -> bool:
    """Whether the fields of a file are those of a network file."""
    names = {field[0] for field in fields}
    return "layer" in names and not names & (set(spec("Training").fields) - set(spec("Network").fields))


CAFFE_SOLVER = {"base_lr", "lr_policy", "max_iter", "solver_mode", "test_iter", "snapshot_prefix"}
"""Fields of a Caffe solver; a training file has at most one of them, as an alias."""


def report_caffe(fields: Fields, report: DiagnosticReport) -> bool:
    """Report a Caffe network or solver as one error instead of each of its fields; returns whether it is one."""
    names = {field[0] for field in fields}
    first = next((field for field in fields if field[0] in ("layer", "layers") and field[1] == BLOCK), None)
    # The first layer is enough: a Caffe network would otherwise give one error for every field of every layer.
    if not (len(names & CAFFE_SOLVER) > 1 or "input_dim" in names or (first is not None and _of_caffe(first))):
        return False
    command = f"paddle-layers import {report.source.name} -o DIR"
    help_ = f"convert it with `{command}`"
    report.add("E010", "this is a Caffe file", (first or fields[0])[3], help=help_)
    return True


def _of_caffe(layer: Field) -> bool:
    """Whether a layer has Caffe's fields: a block `..._param`, or blobs and a capitalized type."""
    inner = {field[0]: field for field in layer[2]}
    type_ = str(inner["type"][2]) if "type" in inner else ""
    if layer[0] == "layers" or any(name.endswith("_param") for name in inner):
        return "type" in inner
    # `bottom` in one of our layers is a mistake to be reported there, not a Caffe file; Caffe's types are capitalized,
    # ours never.
    return type_[:1].isupper() and bool({"bottom", "top"} & inner.keys()) and not {"input", "output"} & inner.keys()


def _rule(field: FieldDescriptor) -> Any:
    from paddle_layers.schema import network_pb2

    rule: Any = network_pb2.rule  # the generated stub does not say what it extends
    return field.GetOptions().Extensions[rule]


def _field(field: FieldDescriptor, rule: Any) -> HeaderField:
    descriptor: Any = field  # `label` is gone in protobuf 7, `is_repeated` is not yet in 6.31
    repeated = descriptor.is_repeated if hasattr(field, "is_repeated") else descriptor.label == 3
    made = HeaderField(field.name, rule, repeated=repeated)
    if field.message_type is not None:
        made.message = field.message_type.name
        return made
    made.attribute = _attribute(field, rule, repeated)
    if field.has_default_value:
        made.default = field.default_value
    return made


def _attribute(field: FieldDescriptor, rule: Any, repeated: bool) -> Attribute[Any]:
    text = f"field `{field.name}`"
    default: Any = REQUIRED
    limits: dict[str, Any] = {
        key: _number(field, getattr(rule, key)) for key in ("min", "max", "above", "below") if rule.HasField(key)
    }
    made: Attribute[Any]
    if rule.options:
        made = Choice(text, options=tuple(rule.options), default=default)
    elif field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64):
        bits = 31 if field.cpp_type == field.CPPTYPE_INT32 else 63
        # A binary config could not hold a larger value, so text must not accept it either.
        limits = {"min": -(2**bits), "max": 2**bits - 1, **limits}
        made = (Ints if repeated else Int)(text, **limits)
    elif field.cpp_type == field.CPPTYPE_DOUBLE:
        made = (Floats if repeated else Float)(text, **limits)
    elif field.cpp_type == field.CPPTYPE_BOOL:
        made = Bool(text)
    else:
        made = (Strings if repeated else String)(text)
    made.name = field.name
    return made


def _number(field: FieldDescriptor, limit: float) -> float:
    return limit if field.cpp_type == field.CPPTYPE_DOUBLE else int(limit)
