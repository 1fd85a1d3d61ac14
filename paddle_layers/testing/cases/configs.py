"""Config variations of an example: axes, data types, levels, inputs, attributes, batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from paddle_layers.define import Example, Input, LayerDefinition, Type
from paddle_layers.define.fields.axes import REST, Axis, split_dims

from .batches import BATCHES, BatchLayout
from .case import network_text
from .values import ABSENT


@dataclass(frozen=True)
class Config:
    """Types of the inputs, attributes and a batch; it may be legal or not."""

    definition: LayerDefinition
    types: Mapping[str, tuple[Type, ...]]
    attributes: Mapping[str, Any]
    batch: BatchLayout
    features: frozenset[Any] = field(default=frozenset(), compare=False)
    """Features that an example may lack."""

    @property
    def places(self) -> tuple[Type, ...]:
        """Types in the order of a config."""
        return tuple(type_ for types in self.types.values() for type_ in types)

    @property
    def text(self) -> str:
        """The network, without names for the outputs, whose number only inference knows."""
        return network_text(self.definition, self.places, self.attributes)

    @property
    def example(self) -> Example:
        """The same as an example."""
        inputs: dict[str, Any] = {}
        for name, types in self.types.items():
            texts = [str(type_) for type_ in types]
            if texts:
                inputs[name] = texts if self.definition.inputs[name].repeatable else texts[0]
        return Example(**inputs, **self.attributes)

    @property
    def elements(self) -> int:
        """Numbers that are fed."""
        return sum(self.batch.rows_at(t.level) * (t.columns if t.kind == "INT" else t.size) for t in self.places)


class ConfigDraft:
    """A config that is being changed: sizes by axis, levels by row axis, kinds by input."""

    def __init__(self, definition: LayerDefinition, example: Example) -> None:
        types, attributes = definition.example_inputs(example)
        binding = definition.bind_axes(types, attributes)
        positions, self.sizes = binding.positions, binding.sizes
        self.bound = attributes
        self.definition = definition
        self.attributes = {name: v for name, v in example.settings.items() if name not in definition.inputs}
        self.kinds: dict[str, list[str]] = {}
        self.dims: dict[tuple[str, int], tuple[int, ...]] = {}
        self.ids: dict[str, int] = {}
        self.levels: dict[str, int] = {}
        self.features: set[Any] = set()
        for name, places in positions.items():
            self.kinds[name] = [types[place].kind for place in places]
            for item, place in enumerate(places):
                self._read(name, item, types[place])

    def _read(self, name: str, item: int, type_: Type) -> None:
        axes = self.definition.inputs[name].axes
        self.levels[axes[0].name] = type_.level
        if type_.kind == "INT":
            self.ids[name] = type_.size
        inner, dims = axes if axes[0].rest else axes[1:], type_.dims
        if len(axes) > 1 and axes[1].first is not None:
            for axis, sizes in zip(axes, self._placed(axes[1], dims), strict=False):
                self.dims[axis.name, item if axis.per_item else 0] = sizes
            return
        if [axis.name for axis in inner] == ["1"]:  # which a single number a row has without an axis
            return
        for axis, sizes in split_dims(inner, dims, len(self.sizes.get(REST, ()))):
            self.dims[axis.name, item if axis.per_item else 0] = sizes if axis.rest else (sizes,)

    def _placed(self, axis: Axis, dims: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """The axes before the one whose position an attribute selects, that one, and those after it."""

        def place(attribute: str) -> int:
            said = int(self.bound[attribute])
            return said + len(dims) + 1 if said < 0 else said

        first = place(axis.first or "")
        last = place(axis.last) if axis.last is not None else len(dims) if axis.rest else first
        return dims[: first - 1], dims[first - 1 : last], dims[last:]

    def type_of(self, name: str, item: int) -> Type:
        """The type that an item of an input has now."""
        axes, kind = self.definition.inputs[name].axes, self.kinds[name][item]
        level = self.levels.get(axes[0].name, 0)
        if kind == "INT":
            return Type.ids(self.ids.get(name, 3), level, self._dims_of(name, item))
        dims = self._dims_of(name, item)
        if kind == "DENSE":
            return Type.dense(*dims, level=level)
        return Type.sparse(Type.dense(*dims).size, level, values=kind == "SPARSE")

    def _dims_of(self, name: str, item: int) -> tuple[int, ...]:
        axes = self.definition.inputs[name].axes
        inner = axes if axes[0].rest else axes[1:]
        keys = [(axis.name, item if axis.per_item else 0) for axis in inner if axis.name != "1"]
        return tuple(size for key in keys for size in self.dims.get(key, self.dims.get((key[0], 0), (2,))))

    def config(self, batch: BatchLayout) -> Config:
        """The config as it is now."""
        types = {
            name: tuple(self.type_of(name, item) for item in range(len(kinds))) for name, kinds in self.kinds.items()
        }
        attributes = {name: value for name, value in self.attributes.items() if value is not ABSENT}
        features = frozenset({*self.features, ("samples", batch.samples), ("batch", batch)})
        return Config(self.definition, types, attributes, batch, features)

    @property
    def deepest(self) -> int:
        """The deepest level of the inputs; that of the output of a layer without inputs is not known."""
        given = [name for name, kinds in self.kinds.items() if kinds]
        return max((self.type_of(name, 0).level for name in given), default=0)

    # ---- what can be changed

    def knobs(self) -> Iterator[tuple[str, str]]:
        """Possible variations, as the kind of change and its subject."""
        yield from (("attribute", name) for name in self.definition.attributes)
        for name, input_ in self.definition.inputs.items():
            if len(input_.kinds) > 1:
                yield "kind", name
            if input_.repeatable:
                yield "count", name
            if input_.optional:
                yield "given", name
            if "INT" in input_.kinds:
                yield "ids", name
        yield from (("size", axis) for axis in dict.fromkeys(name for name, _ in self.dims) if axis != "1")
        yield from (("level", axis) for axis in self.row_axes if len(self.levels_of(axis)) > 1)

    @property
    def row_axes(self) -> list[str]:
        """Row axes of the inputs."""
        return list(dict.fromkeys(input_.axes[0].name for input_ in self.definition.inputs.values()))

    def levels_of(self, axis: str) -> list[int]:
        """Levels that all inputs with this row axis take."""
        inputs: list[Input] = [i for i in self.definition.inputs.values() if i.axes[0].name == axis]
        return [level for level in range(3) if all(level in input_.seq for input_ in inputs)]

    def is_rest(self, axis: str) -> bool:
        """Whether the axis matches all remaining ones."""
        return any(a.rest for i in self.definition.inputs.values() for a in i.axes if a.name == axis)


def batches_of(level: int) -> tuple[BatchLayout, ...]:
    """Batches for values of this level, the smallest first."""
    return BATCHES[level]
