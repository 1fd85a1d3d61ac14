"""Layer drafts, before wiring: attributes bound, separately for each layer."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from paddle_layers.define import Attributes, LayerDefinition, Type
from paddle_layers.define.definitions.layers import Binding

from ..diagnostics.diagnostic import Source
from ..diagnostics.report import DiagnosticReport
from ..reading.fields import items
from ..reading.reader import TextReader
from .assignments import ParamSettings, PhaseState, StateRule
from .binder import Binder, Bound
from .blocks import BlockDefinition
from .headers import spec

LINEAR = "linear"


class Setup:
    """The settings of a layer besides its name and inputs. Equal sources share one, so treat it as constant."""

    # Defaults of the class: most layers set none of these, and a network may have 100,000.
    params: Mapping[str, ParamSettings] = MappingProxyType({})
    activation: tuple[LayerDefinition, Attributes] | None = None
    loss_weight: tuple[float, ...] | None = None
    propagate_down: tuple[bool, ...] = ()
    include: tuple[StateRule, ...] = ()
    exclude: tuple[StateRule, ...] = ()
    output_names: tuple[str, ...] = ()
    step: StepDraft | None = None
    times = 1
    """Number of repetitions of a block."""
    _bindings: dict[tuple[Type, ...], Binding] | None = None

    def __init__(self, definition: LayerDefinition, attributes: Attributes) -> None:
        self.definition, self.attributes = definition, attributes

    def binding(self, types: tuple[Type, ...]) -> Binding:
        """Sizes of all axes for types of the inputs, inferred once. Raises `ShapeError`."""
        # Not all layers need one: activations keep the type of their input.
        if self._bindings is None:
            self._bindings = {}
        found = self._bindings.get(types)
        if found is None:
            found = self._bindings[types] = self.definition.bind_axes(types, self.attributes)
        return found

    @property
    def is_simple(self) -> bool:
        """Whether the layer can be wired alone: no rules, shared parameters, step, block, or values per output."""
        if self.include or self.exclude or self.loss_weight or self.propagate_down:
            return False
        if self.step is not None or isinstance(self.definition, BlockDefinition):
            return False
        return not self.params or all(settings.share is None for settings in self.params.values())

    def present(self, state: PhaseState) -> bool:
        """Whether the layer exists in a state."""
        if self.include:
            return any(rule.meets(state) for rule in self.include)
        return not (self.exclude and any(rule.meets(state) for rule in self.exclude))


class Draft:
    """A layer before wiring; `setup` has the value None if the layer has errors.

    It has its fields with positions (`bound`), or the text and its position there, which is parsed when an error needs
    positions, or neither, if it comes from a checked network.
    """

    __slots__ = ("_bound", "_start", "_text", "definition", "inputs", "name", "offset", "setup")

    def __init__(
        self,
        name: str,
        definition: LayerDefinition | None,
        inputs: tuple[str, ...],
        setup: Setup | None,
        offset: int,
        bound: Bound | None = None,
        text: str = "",
        start: int = 0,
    ) -> None:
        self.name, self.definition, self.inputs = name, definition, inputs
        self.setup, self.offset, self._bound, self._text, self._start = setup, offset, bound, text, start

    @property
    def bound(self) -> Bound | None:
        """The fields of the file with positions; None if it comes from a checked network."""
        # A memoized layer keeps its position in the text only. It is parsed again when an error needs a position, so
        # valid networks of 100,000 layers never hold the fields of all layers.
        if self._bound is None and self._text:
            self._bound = _bound(self._text, self._start)
        return self._bound

    @property
    def broken(self) -> bool:
        """Whether it has a syntax error: fields that seem to be missing may exist."""
        return self._bound is not None and self._bound.broken

    @property
    def step(self) -> StepDraft | None:
        """The layers of one step of a recurrent group."""
        if self.setup is not None:
            return self.setup.step
        return self._bound.values.get("step") if self._bound is not None else None

    @property
    def input_count(self) -> int:
        """The number of inputs that the file lists, invalid ones included."""
        if self._bound is None:
            return len(self.inputs)
        # `input: "a, b"` is a known mistake and reported as such; counting its commas keeps a second error, about the
        # number of inputs, away.
        given = [item[2] for field in self._bound.places.get("input", ()) for item in items(field)]
        return sum(text.count(",") + 1 if isinstance(text, str) else 1 for text in given)

    def explicit_outputs(self) -> tuple[str, ...]:
        """The output names in the file."""
        if self._bound is not None:
            return tuple(self._bound.values.get("output", ()))
        return self.setup.output_names if self.setup else ()

    def place(self, name: str, item: int = 0) -> int:
        """Offset of the value of a field, or of the layer if the field is absent."""
        return self.bound.place(name, item) if self.bound is not None else self.offset

    def attribute_place(self, name: str) -> int:
        """Offset of the value of an attribute, or of the attribute that it defaults to."""
        return self.bound.attribute_place(name) if self.bound is not None else self.offset

    def activation_place(self, attribute: str | None) -> int:
        """Offset of the value of an attribute of the activation, or of its type."""
        block: Bound | None = self.bound.values.get("activation") if self.bound is not None else None
        if block is None:
            return self.attribute_place("act")
        return block.place("type") if attribute is None else block.attribute_place(attribute)

    def input_place(self, item: int | None) -> int:
        """Offset of the name of an input, or of the layer's own name."""
        if item is None or self.bound is None or not self.bound.places.get("input"):
            return self.offset
        return self.bound.place("input", item)

    def param_place(self, name: str, field: str) -> int:
        """Offset of a field of the `param` block of a parameter, or of the layer's own name."""
        blocks = self.bound.values.get("param", ()) if self.bound is not None else ()
        block = next((block for block in blocks if block.values.get("of") == name), None)
        return block.place(field) if block is not None else self.offset


def _bound(text: str, start: int) -> Bound:
    """The valid layer that starts at a position of the text."""
    report = DiagnosticReport(Source("", text))
    layer = TextReader(text, report).block(start)
    return Binder(report).message(layer[2], spec("Layer"), layer[3], "layer")


class StepDraft(NamedTuple):
    """A `step` block: its layers, and the outputs that become the group's."""

    drafts: tuple[Draft, ...]
    outputs: tuple[str, ...]
    bound: Bound
