"""Layers from `LayerDef` messages: the same fields, checks and functions as those of a class.

A message is data, possibly from an untrusted file: its strings are checked before they become names, and nothing in it
is executed. The reverse of `layer_def`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol, TypeVar

from paddle_layers.schema import layer_def_pb2 as pb

from .definitions.definition import is_word
from .definitions.registry import registries
from .derived import DerivedLayer
from .errors import DefinitionError
from .fields.attribute_values import COMMON, bias_attribute, is_number
from .fields.tensors import Bias, Entries, Field, Input, Numbers, Output, Param, Stat, State, Temp
from .fields.types import Example
from .messages.layer_def import PARAMETER_SETTINGS, attribute_def, read_value
from .messages.message_attributes import check_fields, read_attribute


class _Named(Protocol):
    name: str


M = TypeVar("M", bound=_Named)


def register_layer(definition: pb.LayerDef, **temporaries: Temp | Numbers | Entries) -> type[Any]:
    """Register a layer from a message.

    Without functions, the layer is validated and documented, but does not run. Derived fields of the message (`facts`,
    `rules`, `number`, `package`, `registered_at`) are ignored and derived again.

    Args:
        definition: The definition.
        **temporaries: Internal fields for functions, which a message does not contain.

    Returns:
        The class of its fields, for `@each(layer.y)` and the other decorators.

    Raises:
        DefinitionError: Invalid definition, with file and line of the call.
        TypeError: `definition` is not a `LayerDef` message.

    Example::

        Cube = pl.register_layer(text_format.Parse(Path("cube.textproto").read_text(), LayerDef()))
    """
    if not isinstance(definition, pb.LayerDef):
        raise TypeError(f"takes a LayerDef message, found {type(definition).__name__}")
    # The message has no position in a file: errors refer to the call.
    caller = sys._getframe(1)
    place = caller.f_code.co_filename, caller.f_lineno
    try:
        fields = _fields(definition, temporaries)
        body = {
            "__doc__": definition.description,
            "__module__": str(caller.f_globals.get("__name__", "")),
            "examples": tuple(map(_example, definition.examples)),
        }
        owner = type(_class_name(definition.type), (), fields | body)
        layer = DerivedLayer(definition.type, owner, place=place, **_options(definition))
        layer.results = tuple(definition.results)
    except ValueError as error:
        raise DefinitionError(f"layer `{definition.type}`: {error}", *place) from error
    registries["layer"].add(layer)
    return owner


def _class_name(type_: str) -> str:
    """`ScaledCube` for `scaled_cube`: how messages call the class."""
    return "".join(word.capitalize() for word in re.findall("[A-Za-z0-9]+", type_))


def _options(message: pb.LayerDef) -> dict[str, Any]:
    if not message.description:
        raise ValueError("it needs a description, the text of its page")
    systems = [entry.system for entry in message.elsewhere]
    if len(set(systems)) < len(systems):
        raise ValueError("`elsewhere` names a system twice")
    return {
        "common": tuple(message.common),
        "elsewhere": {entry.system: entry.name for entry in message.elsewhere},
        "terms": tuple(message.search_terms),
        "since": message.since_version or 1,
        "version": message.version,
        "family": message.family,
        "from_message": True,
    }


# ---- fields


def _fields(message: pb.LayerDef, temporaries: dict[str, Temp | Numbers | Entries]) -> dict[str, Any]:
    """Tensors and attributes by name, in the order in which a class would have them."""
    for name, field in temporaries.items():
        if not isinstance(field, (Temp, Numbers, Entries)):
            raise ValueError(f"`{name}` must be Temp, Numbers or Entries; all other fields belong in the message")
    temporaries = {**_divisors(message), **temporaries}
    found: dict[str, Any] = {}
    named = [
        *_by_name("input", message.inputs, _input),
        *_by_name("output", message.outputs, partial(_output, temporaries=temporaries)),
        *_parameters(message),
        *_by_name("statistic", message.statistics, _statistic),
        *_by_name("attribute", _own_attributes(message), read_attribute),
        *temporaries.items(),
    ]
    for name, field in named:
        if not is_word(name) or name.startswith("_") or name in ("examples", "networks"):
            raise ValueError(
                f"invalid field name `{name}`: a name must be an identifier, and not a keyword of Python or protobuf"
            )
        if name in found:
            raise ValueError(f"duplicate field `{name}`")
        found[name] = field
    return found


def _by_name(role: str, messages: Iterable[M], read: Callable[[M], Any]) -> Iterator[tuple[str, Any]]:
    """The results of `read` for each message, by name; an error is reported with role and name."""
    for message in messages:
        name = message.name
        try:
            if not name:
                raise ValueError("it needs a name")
            yield name, read(message)
        except ValueError as error:
            raise ValueError(f"{role} `{name}`: {error}") from error


_ARGUMENT = ("name", "description", "axes", "data_type", "repeatable", "differentiable")
"""Properties of inputs and outputs; whether a gradient flows is derived from the functions."""


def _input(message: pb.ArgumentDef) -> Input:
    check_fields(
        message,
        *(*_ARGUMENT, "seq_nested_level", "optional", "min_count", "low", "high"),
        *("places", "kinks", "derivative"),
    )
    if message.HasField("low") != message.HasField("high"):
        raise ValueError("`low` and `high` must be set together")
    kinks = tuple(map(read_value, message.kinks))
    if not all(is_number(kink) or kink == "ties" for kink in kinks):
        raise ValueError('`kinks` must be numbers, or the string "ties"')
    options: dict[str, Any] = {"kinks": kinks, "derivative": message.derivative, "places": message.places or None}
    if message.data_type:
        options["kinds"] = tuple(map(pb.DataType.Name, message.data_type))
    if message.seq_nested_level:
        options["seq"] = tuple(message.seq_nested_level)
    if message.HasField("low"):
        options["within"] = message.low, message.high
    if message.HasField("min_count"):
        if not message.repeatable:
            raise ValueError("`min_count` requires a repeatable input")
        options["minimum"] = message.min_count
    return Input(message.axes, message.description, repeatable=message.repeatable, optional=message.optional, **options)


def _divisors(message: pb.LayerDef) -> dict[str, Temp]:
    """The temporaries that outputs name: a number for every row."""
    doc = "per-sample weights by whose sum the loss is divided"
    return {one.divisor: Temp(one.axes, doc) for one in message.outputs if one.divisor}


def _output(message: pb.ArgumentDef, temporaries: Mapping[str, Any]) -> Output:
    check_fields(message, *_ARGUMENT, "loss", "size", "nan", "divisor", "when")
    if len(message.data_type) > 1:
        raise ValueError("an output has one data type; if it depends on the inputs, add @output_types")
    return Output(
        message.axes,
        message.description.removesuffix(f"; NaN {message.nan}"),  # which is added
        kind=pb.DataType.Name(message.data_type[0]) if message.data_type else "DENSE",
        size=message.size or None,
        loss=message.loss,
        repeatable=message.repeatable,
        divisor=temporaries[message.divisor] if message.divisor else None,
        nan=message.nan or None,
        when=message.when or None,
    )


def _statistic(message: pb.ArgumentDef) -> Stat:
    check_fields(message, "name", "description", "axes")
    return Stat(message.axes, message.description)


# ---- parameters


def _parameters(message: pb.LayerDef) -> Iterator[tuple[str, Field]]:
    """Parameters, the bias, states: each from the place that the schema has for it."""
    if message.parameter_attr and len(message.parameter_attr) != len(message.inputs):
        raise ValueError(
            f"`parameter_attr` has {len(message.parameter_attr)} entries for {len(message.inputs)} inputs; "
            "use one per input, empty for an input without a parameter"
        )
    for entry, owner in zip(message.parameter_attr, message.inputs, strict=False):
        if entry.input not in ("", owner.name):
            raise ValueError(
                f"parameter `{entry.name}` is at the position of input `{owner.name}`, not of `{entry.input}`"
            )
        if entry.ListFields():
            per = owner.name if owner.repeatable else None
            yield from _by_name("parameter", [entry], partial(_parameter, per=per))
    if message.HasField("bias_attr"):
        yield from _by_name("bias", [message.bias_attr], _bias)
    for entry in message.extra_parameters:
        if entry.HasField("trained") and not entry.trained:
            yield from _by_name("state", [entry], _state)
        else:
            yield from _by_name("parameter", [entry], partial(_parameter, per=entry.input or None))


def _parameter(message: pb.LayerDef.ParameterDef, per: str | None) -> Param:
    _check_settings(message)
    if message.HasField("trained") and not message.trained:
        raise ValueError("states belong in `extra_parameters`")
    return Param(message.axes, message.description, per=per, optional=message.optional, **_init(message))


def _bias(message: pb.LayerDef.ParameterDef) -> Bias:
    _check_settings(message)
    if message.input or message.optional:
        raise ValueError("a bias takes neither `input` nor `optional`: the attribute `bias` makes it optional")
    doc = {"doc": message.description} if message.description else {}
    return Bias(message.axes, **doc, **_init(message))


def _state(message: pb.LayerDef.ParameterDef) -> State:
    check_fields(message, "name", "description", "axes", "initializer", "initializer_attributes", "trained")
    if not message.description:
        raise ValueError("it needs a description")
    return State(message.axes, message.description, **_init(message))


def _init(message: pb.LayerDef.ParameterDef) -> dict[str, Any]:
    """The initializer as an argument; none where the message leaves it to the kind of parameter."""
    settings = {one.name: read_value(one.value) for one in message.initializer_attributes}
    if not message.initializer:
        if settings:
            raise ValueError("`initializer_attributes` without an `initializer`")
        return {}
    return {"init": (message.initializer, settings) if settings else message.initializer}


def _check_settings(message: pb.LayerDef.ParameterDef) -> None:
    """Check that the settings of a parameter are those that every parameter has. Raises `ValueError`."""
    for attribute in message.attributes:
        if attribute.name not in PARAMETER_SETTINGS:
            known = ", ".join(PARAMETER_SETTINGS)
            raise ValueError(f"unknown parameter setting `{attribute.name}`; available: {known}")


# ---- attributes, examples


def _own_attributes(message: pb.LayerDef) -> Iterator[pb.AttributeDef]:
    """Attributes but for those that the framework adds, which an exported message has, too."""
    added = {name: COMMON[name]() for name in message.common if name in COMMON}
    if message.HasField("bias_attr"):
        added["bias"] = bias_attribute()
    for attribute in message.layer_attr:
        if attribute.name not in added:
            yield attribute
            continue
        # An exported message contains the attributes of the framework; they may be repeated, but not changed.
        expected, given = attribute_def(added[attribute.name]), pb.AttributeDef()
        given.CopyFrom(attribute)
        expected.name = given.name
        given.ClearField("number")
        if given != expected:
            raise ValueError(f"attribute `{given.name}` is added by the framework: remove it")


def _example(message: pb.ExampleDef) -> Example:
    check_fields(message, "inputs", "attributes", "outputs", "parameters")
    types: dict[str, list[str]] = {}
    for one in message.inputs:
        types.setdefault(one.name, []).append(one.type)
    settings = {one.name: read_value(one.value) for one in message.attributes}
    return Example(**{name: texts if len(texts) > 1 else texts[0] for name, texts in types.items()} | settings)
