"""Conversion of a Caffe net, layer by layer, to the text of a network file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from paddle_layers.config.binding.drafting import check_name
from paddle_layers.config.diagnostics.report import ConfigError, DiagnosticReport
from paddle_layers.config.diagnostics.suggestions import nearest
from paddle_layers.config.files import examine_network
from paddle_layers.config.network import Network
from paddle_layers.config.writing.formatter import format_text
from paddle_layers.config.writing.text import HEADER, Word, fields_text, value_text
from paddle_layers.define import Type
from paddle_layers.define.escaping import printable_line

from . import (  # noqa: F401  importing a module registers its rules in `RULES`
    dense,
    elementwise,
    fork_layers,
    images,
    inputs,
    losses,
    normalizations,
)
from .conversion import RULES, Conversion, convert
from .inputs import DataLayerSource
from .layers import Blobs, BlobValue, CaffeLayer, Fields, NetState, phases_of, type_of
from .messages import INPUT_TYPES, WITHOUT_COUNTERPART
from .reading import Message, report_unknown

MOST_LAYERS = 100_000


def convert_net(
    net: Message,
    report: DiagnosticReport,
    states: Sequence[NetState],
    given: Mapping[str, Type],
    mean_dims: tuple[int, ...] | None,
) -> Conversion:
    """Convert every layer that is present in one of the states; errors go to the report. Raises `TooManyFaults`."""
    messages = [*net["layers"], *net["layer"]]
    if net["layers"] and net["layer"]:
        help_ = "write all layers as `layer { ... }`"
        report.add(
            "E102", "a net cannot mix the old `layers` and the new `layer` format", net.place("layer"), help=help_
        )
    if len(messages) > MOST_LAYERS:
        report.add("E511", f"the net has {len(messages):,} layers, the limit is {MOST_LAYERS:,}", net.start)
        return Conversion(report)
    # Without a loss the file is a deployed network: fillers are absent because weights are loaded.
    trained = any(type_of(message).endswith("Loss") for message in messages)
    states = _fed_states(net, messages, states)
    whole = Conversion(report, given, mean_dims, trained=trained, phases=tuple(state.phase for state in states))
    whole.note_ignored(net)
    blobs = Blobs(report, _net_inputs(net, whole))
    # All blobs are resolved before the first layer is converted: fusion depends on how many readers a value has.
    layers = [layer for message in messages if (layer := _layer(message, blobs, whole, states)) is not None]
    for layer in layers:
        convert(layer, whole)
    _check_given(net, whole)
    if not (report.failed or whole.drafts or any(value.type or value.usual for value in whole.inputs.values())):
        report.add("E214", "the net has no layers", net.start, help='add `layer { name: "..." type: "..." }`')
    return whole


def _fed_states(net: Message, messages: Sequence[Message], states: Sequence[NetState]) -> Sequence[NetState]:
    """The states with data layers; Caffe creates no test net without data. All states if none has data layers."""
    feeding = [message for message in messages if type_of(message) in INPUT_TYPES]
    fed = [state for state in states if net["input"] or any(phases_of(message, [state]) for message in feeding)]
    return fed or states


def _layer(message: Message, blobs: Blobs, whole: Conversion, states: Sequence[NetState]) -> CaffeLayer | None:
    """The layer with its values; those of a type that is not here are marked. None for one that is in no phase."""
    report = whole.report
    if "layer" in message.places:
        help_ = "convert the file with Caffe's tool `upgrade_net_proto_text`"
        report.add("E511", "Caffe's layer format of 2013 is not supported", message.start, help=help_)
        return None
    if not message["type"]:
        report.add("E110", "missing `type`", message.start, help='add `type: "..."`')
        return None
    if message["include"] and message["exclude"]:
        help_ = "keep one of them"
        report.add("E102", "`include` and `exclude` are mutually exclusive", message.place("exclude"), help=help_)
    phases = phases_of(message, states)
    if not phases:
        whole.note(f"{message['name'] or message['type']}: left out, present in no phase according to its rules")
        return None
    layer = blobs.resolve(message, phases)
    if layer.type in RULES:
        # Only for known types: the fields of an unknown layer are those of a fork of Caffe, and the type is the error.
        report_unknown(message, report)
        return layer
    start = message.place("type")
    known = WITHOUT_COUNTERPART.get(layer.type)
    if known is not None:
        report.add("E511", f"layer `{layer.name}`: layer type {layer.type} is not supported", start, help=known)
    else:
        near = nearest(layer.type, [*RULES, *WITHOUT_COUNTERPART], 0.7)
        help_ = f"did you mean `{near}`?" if near else "if it belongs to a fork of Caffe, write a plugin or remove it"
        report.add("E511", f"layer `{layer.name}`: unknown layer type `{layer.type}`", start, help=help_)
    for value in layer.tops:
        value.fault = value not in layer.bottoms
    return None


def _net_inputs(net: Message, whole: Conversion) -> list[BlobValue]:
    """Inputs that the net names itself, as deployed ones once did: a shape for each, or four numbers."""
    shapes = [list(shape["dim"]) for shape in net["input_shape"]]
    numbers = net["input_dim"]
    # `input_dim` has no separators: four numbers for each input.
    shapes = shapes or [list(numbers[at : at + 4]) for at in range(0, len(numbers), 4)]
    found = []
    for place, name in enumerate(net["input"]):
        start = net.place("input", place)
        check_name(name, "an input", start, whole.report)
        value = BlobValue(name)
        value.place = start
        if place < len(shapes):
            shape = shapes[place]
            if not shape or min(shape) < 1:
                whole.report.add("E103", f"invalid shape of input `{name}`: every size must be at least 1", start)
                value.fault = True
            elif len(shape) == 1:
                value.usual = Type.dense()
            else:
                value.type = Type.dense(*shape[1:])
        value.type = whole.given_type(name, value.type)
        found.append(value)
    whole.inputs |= {value.name: value for value in found}
    return found


def _check_given(net: Message, whole: Conversion) -> None:
    """Types that the user gives are those of inputs."""
    for name in whole.given:
        if name not in whole.inputs:
            there = ", ".join(f"`{one}`" for one in [*whole.inputs][:20]) or "none"
            whole.report.add(
                "E512", f"unknown input `{printable_line(name)}` in --shape; the inputs are {there}", net.start
            )


def network_text(name: str, whole: Conversion, origin: str) -> str:
    """The network file."""
    title = f"# Converted from {printable_line(origin)} by `paddle-layers import`.\n"
    title += f"name: {value_text(name)}\n\n" if name else "\n"
    layers = [*_data_layers(whole), *(draft.fields(whole.phases) for draft in whole.drafts)]
    lines = "".join(f"{fields_text({'layer': fields})}\n" for fields in layers)
    return format_text(HEADER + title + lines)


def _data_layers(whole: Conversion) -> Iterable[Fields]:
    for value in whole.inputs.values():
        type_ = value.type or value.usual
        if type_ is None:
            whole.note(f"{value.name}: left out, no layer reads it")
            continue
        own: Fields = {}
        if type_.kind == "DENSE":
            own = {"shape": list(type_.dims)} if type_.dims else {}
        else:
            own = {"data_type": Word(type_.kind), "size": type_.size}
            if type_.kind == "INT" and type_.dims:
                own["shape"] = list(type_.dims)
        if type_.level:
            own["seq_nested_level"] = type_.level
        include = [] if set(value.phases) >= set(whole.phases) else [{"phase": phase} for phase in value.phases]
        yield {
            "name": value.name,
            "type": "data",
            **({"data": own} if own else {}),
            **({"include": include} if include else {}),
        }


def checked(text: str, report: DiagnosticReport) -> Network:
    """The network that the text describes. Raises `ConfigError`, with the errors of the prototxt if it has some."""
    found = examine_network(text, "network.textproto")
    if found.network is None or found.failed:
        # Errors of the prototxt are what the user can fix; those of the generated text follow from them.
        raise ConfigError(report.sorted() or found.faults)
    return found.network


def fed_in(whole: Conversion, phase: str) -> list[DataLayerSource]:
    """The data layers of a phase."""
    return [feed for feed in whole.feeds if phase in feed.phases]
