"""Conversion of Caffe layers, one after the other, by the functions of `@converts`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from paddle_layers.config.diagnostics.report import DiagnosticReport
from paddle_layers.config.writing.text import attributes_fields
from paddle_layers.define import InvalidAttributes, ShapeError, Type, registries

from .layers import PHASES, Arrays, BlobConversion, BlobValue, CaffeLayer, Fields, LayerDraft
from .messages import IGNORED, SETTINGS
from .reading import Message

MANY = 1 << 20


class Unresolved(Exception):
    """A layer rests on what was refused: there is nothing more to say about it."""


class ConversionRule(NamedTuple):
    """Conversion rule: output type, and the numbers of bottoms and tops."""

    convert: Callable[[Use], None]
    bottoms: tuple[int, int]
    tops: tuple[int, int]


RULES: dict[str, ConversionRule] = {}

Convert = Callable[["Use"], None]


def converts(
    *types: str, bottoms: tuple[int, int] = (1, 1), tops: tuple[int, int] = (1, 1)
) -> Callable[[Convert], Convert]:
    """The function below converts layers of these types."""

    def register(convert: Convert) -> Convert:
        RULES.update(dict.fromkeys(types, ConversionRule(convert, bottoms, tops)))
        return convert

    return register


@dataclass
class Conversion:
    """State of the conversion."""

    report: DiagnosticReport
    given: Mapping[str, Type] = field(default_factory=dict)
    """Input types specified by the user."""
    mean_dims: tuple[int, ...] | None = None
    """Mean shape specified by the user."""
    phases: tuple[str, ...] = PHASES
    """The states with data layers."""
    inputs: dict[str, BlobValue] = field(default_factory=dict)
    """Values of data layers by name."""
    feeds: list[Any] = field(default_factory=list)
    """Sources of the data layers (`inputs.DataLayerSource`)."""
    trained: bool = True
    """Whether the network has a loss: then a weight without a filler starts at zero, as in Caffe."""
    drafts: list[LayerDraft] = field(default_factory=list)
    stored: list[BlobConversion] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    """Differences to Caffe and omissions, for the report."""
    became: dict[str, list[str]] = field(default_factory=dict)
    """Description of the conversion of each Caffe layer."""

    def note(self, text: str) -> None:
        """Add a line to the report, once."""
        self.notes[text] = None

    def given_type(self, name: str, type_: Type | None) -> Type | None:
        """The type of an input: the one that the user gives goes before that of the file, with a note."""
        # Sizes of a file may be placeholders, such as 1x1, or crops that the data at hand do not have.
        given = self.given.get(name, type_)
        if type_ is not None and given != type_:
            self.note(f"{name}: {given}, given by --shape, replaces {type_} of the file")
        return given

    def note_ignored(self, message: Message) -> None:
        """Report the fields of a message that are accepted but ignored."""
        for name, reason in IGNORED.get(message.kind, {}).items():
            if name in message:
                self.note(f"`{name}` is ignored: {reason}")


class Use:
    """A Caffe layer on its way: what it says, and what is made of it."""

    def __init__(self, layer: CaffeLayer, whole: Conversion) -> None:
        self.layer, self.whole, self.message = layer, whole, layer.message
        own = SETTINGS.get(layer.type, "")
        self.settings: Message = layer.message[own] if own else layer.message
        self.refused = False
        self.bottoms, self.tops = layer.bottoms, layer.tops

    # ---- what is wrong

    def refuse(self, name: str, message: str, help: str = "", *, of: Message | None = None, code: str = "E511") -> None:
        """Report an error at a field of the layer's settings; the layer is not converted."""
        place = (of or self.settings).place(name)
        self.whole.report.add(code, f"layer `{self.layer.name}`: {message}", place, help=help)
        self.refused = True

    def required(self, name: str) -> Any:
        """A required field of the settings; None after a report."""
        value = self.settings[name]
        if value in (None, []):
            if name not in self.settings.places and not self.settings.unknown:  # else it was misspelt, or is no value
                self.refuse(name, f"missing `{name}`", f"add `{name}: ...`", code="E105")
            self.refused = True
            return None
        return value

    def note(self, text: str) -> None:
        """A difference to Caffe, for the report."""
        self.whole.note(f"{self.layer.name}: {text}")

    # ---- what it reads

    def type(self, place: int = 0) -> Type:
        """The type of a bottom. Raises `Unresolved` if it is unknown, after a report if no layer produces it."""
        value = self.bottoms[place]
        if value.fault:
            raise Unresolved
        if value.is_loss:
            at, help_ = self.message.place("bottom", place), "set `loss_weight` of each loss layer instead"
            text = (
                f"layer `{self.layer.name}` reads the loss `{value.name}`, which is a per-sample loss here, not "
                "a scalar"
            )
            self.whole.report.add("E511", text, at, help=help_)
            raise Unresolved
        # Not before a reader asks: another one may have said that these are labels.
        value.type = value.type or value.usual
        if value.type is None:
            self.unknown_size(value)
            raise Unresolved
        return value.type

    def unknown_size(self, value: BlobValue) -> None:
        """Report a value of which neither the file nor its readers say how large it is."""
        help_ = f"give --shape {value.name}=3x32x32 (channels, height, width), or --shape {value.name}='ids<10'"
        self.whole.report.add("E512", f"cannot infer the shape of `{value.name}`", value.place, help=help_)
        # One report per value, not one for each reader.
        value.fault = True

    def dims(self, place: int = 0) -> tuple[int, ...]:
        """The axes of a bottom without those of the batch. Raises `Unresolved`."""
        return self.type(place).dims

    def axis(self, name: str, place: int = 0, *, of: Message | None = None) -> int:
        """An axis that the settings name, counted from the batch, which is 0. Raises `Unresolved` beyond them."""
        axis, rank = (of or self.settings)[name], 1 + len(self.dims(place))
        if not -rank <= axis < rank:
            self.refuse(name, f"axis {axis} is out of range: the blob has {rank} axes", code="E209", of=of)
            raise Unresolved
        return int(axis) % rank

    def label(self, place: int, size: int, dims: tuple[int, ...] = ()) -> None:
        """Say that a bottom has ids below `size`, one at each place of `dims`, unless it is known what it has."""
        value = self.bottoms[place]
        if value.type is None and not value.fault:
            value.type = Type.ids(size, dims=dims)
        elif value.type is not None and value.type.kind == "INT" and value.type.size < size:
            known = value.name in self.whole.given
            # Several losses may read one label with different numbers of classes; ids must be legal for the largest. A
            # size that the user gave is kept.
            value.type = value.type if known else value.type._replace(size=size)

    def target(self, place: int, dims: tuple[int, ...]) -> None:
        """Say that a bottom has numbers of this shape, unless it is known what it has."""
        value = self.bottoms[place]
        if value.type is None and not value.fault:
            value.type = Type.dense(*dims)

    # ---- what is made

    def add(
        self,
        type_: str,
        attributes: Fields | None = None,
        *,
        inputs: Sequence[BlobValue] | None = None,
        outputs: Sequence[BlobValue] | None = None,
        name: str = "",
    ) -> LayerDraft | None:
        """Add a layer: by default one of the Caffe layer's name, bottoms and tops. None where it was refused."""
        read = list(self.bottoms if inputs is None else inputs)
        made = list(self.tops if outputs is None else outputs)
        definition = registries["layer"][type_]
        try:
            bound = definition.bind({key: value for key, value in (attributes or {}).items() if value is not None})
        except InvalidAttributes as error:
            for problem in error.problems.values():
                self.refuse("", problem, code="E103")
            return None
        places = range(len(read)) if inputs is None else map(self._place_of, read)
        types = [self._type_of(place, value) for place, value in zip(places, read, strict=True)]
        if self.refused:
            return None
        try:
            found = definition.infer(types, bound)
        except ShapeError as error:
            self.refuse("", error.message, code="E209", of=self.message)
            return None
        for value, output in zip(made, found, strict=False):
            value.type = output
        settings = attributes_fields(definition, bound)
        draft = LayerDraft(name or self.layer.name, type_, read, made, settings, self.layer.phases)
        for value in made:
            value.draft = draft
        self.whole.drafts.append(draft)
        self.whole.became.setdefault(self.layer.name, []).append(type_)
        return draft

    def step(self, type_: str, attributes: Fields, inputs: Sequence[BlobValue], suffix: str = "") -> BlobValue:
        """The value of one of several layers that the Caffe layer becomes."""
        value = self.inner(suffix or type_)
        self.add(type_, attributes, inputs=inputs, outputs=[value], name=value.name)
        return value

    def _place_of(self, value: BlobValue) -> int:
        return next((place for place, bottom in enumerate(self.bottoms) if bottom is value), -1)

    def _type_of(self, place: int, value: BlobValue) -> Type:
        if place >= 0:
            return self.type(place)
        if value.type is None:
            raise Unresolved
        return value.type

    def store(self, shapes: Sequence[tuple[int, ...]], make: Callable[[Arrays], Mapping[str, Any]]) -> None:
        """Say what becomes of the blobs that a caffemodel has of this layer."""
        if not self.refused:
            self.whole.stored.append(BlobConversion(self.layer, tuple(shapes), make))

    def inner(self, suffix: str) -> BlobValue:
        """A value between layers that one Caffe layer becomes."""
        return BlobValue(f"{self.layer.name}/{suffix}", self.layer.phases)


def convert(layer: CaffeLayer, whole: Conversion) -> None:
    """Convert one layer; what cannot be is reported, and what it makes is marked."""
    rule = RULES[layer.type]
    for bridge in layer.bridges:
        _bridge(whole, bridge.value, bridge.source, bridge.phase)
    use, before = Use(layer, whole), whole.report.errors
    first = len(whole.drafts)
    for message in (use.settings, layer.message["transform_param"]):
        whole.note_ignored(message)
    try:
        if _counted(use, rule):
            rule.convert(use)
            _common(use, whole.drafts[first:])
    except Unresolved:
        use.refused = True
    if use.refused or whole.report.errors > before:
        for value in layer.tops:
            # A value that was passed through comes from another layer, whose conversion is valid.
            value.fault = value not in layer.bottoms


def _counted(use: Use, rule: ConversionRule) -> bool:
    """Whether the layer has as many bottoms and tops as its type takes."""
    for what, found, (least, most) in (("bottom", use.bottoms, rule.bottoms), ("top", use.tops, rule.tops)):
        if not least <= len(found) <= most:
            wanted = f"{least}" if least == most else f"{least} or more" if most == MANY else f"{least} to {most}"
            text = (
                f"expected {wanted} `{what}` {'blob' if wanted == '1' else 'blobs'} for {use.layer.type}, got "
                f"{len(found)}"
            )
            use.refuse(what, text, of=use.message, code="E205")
    return not use.refused


def _common(use: Use, drafts: Sequence[LayerDraft]) -> None:
    """Common settings of layers: loss weight, propagation of gradients."""
    weights, ways = use.message["loss_weight"], use.message["propagate_down"]
    # Caffe's weights of other layers make any top a loss; here only loss layers are part of the sum.
    costs = [draft for draft in drafts if any(value.is_loss for value in draft.outputs)]
    if costs:
        # In Caffe, a loss layer has the weight 1 by default, every other layer 0.
        weight = weights[0] if weights else 1
        costs[0].loss_weight = [weight] if weight != 1 else []
        weights = weights[1:]
    if any(weights):
        text = "`loss_weight` is only supported for loss layers"
        help_ = "compute the loss with one of Caffe's loss layers, such as EuclideanLoss"
        use.refuse("loss_weight", text, help_, of=use.message)
    if ways and drafts and len(ways) == len(drafts[0].inputs):
        drafts[0].propagate_down = list(ways)


def _bridge(whole: Conversion, value: BlobValue, source: BlobValue, phase: str) -> None:
    """A layer that is absent in one phase is replaced there by an identity layer."""
    if value.fault or source.fault or source.type is None:
        value.fault = value.fault or source.fault
        return
    name = value.draft.name if value.draft is not None else value.name
    whole.drafts.append(LayerDraft(name, "linear", [source], [value], {}, (phase,)))
    if phase == "train" or value.type is None:
        # The type in training is the one that later layers were converted for.
        value.type = source.type
