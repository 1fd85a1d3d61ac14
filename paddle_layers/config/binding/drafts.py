"""Layers as the file gives them, each by itself: attributes bound, not yet wired."""

from __future__ import annotations

from typing import NamedTuple

from paddle_layers.define import Attributes, LayerDefinition

from ..reading.fields import items
from .binder import Bound
from .settings import ParamSettings, State, StateRule

LINEAR = "linear"


class Setup:
    """Everything a layer says beside its name and its inputs. Equal texts share one, so treat it as constant."""

    __slots__ = (
        "activation", "attributes", "definition", "exclude", "include", "loss_weight", "output_names",
        "params", "propagate_down", "step",
    )  # fmt: skip

    def __init__(self, definition: LayerDefinition, attributes: Attributes) -> None:
        self.definition, self.attributes = definition, attributes
        self.params: dict[str, ParamSettings] = {}
        self.activation: tuple[LayerDefinition, Attributes] | None = None
        self.loss_weight: tuple[float, ...] | None = None
        self.propagate_down: tuple[bool, ...] = ()
        self.include: tuple[StateRule, ...] = ()
        self.exclude: tuple[StateRule, ...] = ()
        self.output_names: tuple[str, ...] = ()
        self.step: Step | None = None

    @property
    def plain(self) -> bool:
        """Whether nothing here needs a look at other layers: no rules, shares or step, nothing counted per output."""
        shares = any(settings.share is not None for settings in self.params.values())
        return not (self.include or self.exclude or self.loss_weight or self.propagate_down or self.step or shares)

    def present(self, state: State) -> bool:
        """Whether the layer is there in a state."""
        if self.include:
            return any(rule.meets(state) for rule in self.include)
        return not any(rule.meets(state) for rule in self.exclude)


class Draft:
    """A layer before wiring. `setup` is None when the layer is faulty; `bound` is None when it was read fast."""

    __slots__ = ("bound", "definition", "inputs", "name", "offset", "setup")

    def __init__(
        self,
        name: str,
        definition: LayerDefinition | None,
        inputs: tuple[str, ...],
        setup: Setup | None,
        offset: int,
        bound: Bound | None = None,
    ) -> None:
        self.name, self.definition, self.inputs = name, definition, inputs
        self.setup, self.offset, self.bound = setup, offset, bound

    def input_place(self, item: int | None) -> int:
        """Offset of the name of an input, or of the layer's own name."""
        if self.bound is None or item is None or not self.bound.places.get("input"):
            return self.offset
        return self.bound.place("input", item)

    @property
    def step(self) -> Step | None:
        """The layers of one step, where it is a recurrent group."""
        if self.setup is not None:
            return self.setup.step
        return self.bound.values.get("step") if self.bound is not None else None

    @property
    def input_count(self) -> int:
        """How many inputs the file lists, faulty ones included."""
        if self.bound is None:
            return len(self.inputs)
        return sum(len(items(field)) for field in self.bound.places.get("input", ()))

    def explicit_outputs(self) -> tuple[str, ...]:
        """The names of outputs that the file gives."""
        if self.bound is not None:
            return tuple(self.bound.values.get("output", ()))
        return self.setup.output_names if self.setup else ()

    def param_place(self, name: str, field: str) -> int:
        """Offset of a field of the `param` block of a parameter, or of the layer's own name."""
        blocks = self.bound.values.get("param", ()) if self.bound is not None else ()
        block = next((block for block in blocks if block.values.get("of") == name), None)
        return block.place(field) if block is not None else self.offset


class Step(NamedTuple):
    """What a `step` block says: its layers, and the outputs that become the group's."""

    drafts: tuple[Draft, ...]
    outputs: tuple[str, ...]
    bound: Bound
