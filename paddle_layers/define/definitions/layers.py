"""Layer definitions: fields and functions, and the binding of one use."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from ..errors import InvalidAttributes
from ..fields.attribute_values import COMMON, Attributes, bias_attribute
from ..fields.attributes import Attribute
from ..fields.axes import REST, Axis, takes_what_is_left
from ..fields.tensors import Arity, Bias, Entries, Field, Input, Numbers, Output, Param, Stat, State, Temp, arity_of
from ..fields.types import Example, Type, product
from ..functions.host_calls import Joined
from ..functions.point_functions import Function
from .definition import Definition
from .registry import is_built_in

if TYPE_CHECKING:
    from paddle_layers.schema.layer_def_pb2 import LayerDef, LayerOutputDef

    from ..functions.host_calls import OnnxFunction
    from ..functions.point_functions import Facts


class LayerDefinition(Definition, ABC):
    """A layer type: fields by role in the order of declaration, functions in the order of definition.

    `networks` are examples of a layer that is only useful among others; one with `from_message` may have no functions.
    """

    def __init__(
        self, name: str, owner: type, *, common: tuple[str, ...] = (), from_message: bool = False, **options: Any
    ) -> None:
        fields = {key: value for key, value in vars(owner).items() if isinstance(value, Field)}

        def of(role: type) -> dict[str, Any]:
            return {key: value for key, value in fields.items() if type(value) is role}

        self.fields: dict[str, Field] = fields
        self.inputs: dict[str, Input] = of(Input)
        self.outputs: dict[str, Output] = of(Output)
        self.params: dict[str, Param] = of(Param) | of(Bias)
        self.bias: Bias | None = next(iter(of(Bias).values()), None)
        self.states: dict[str, State] = of(State)
        self.temps: dict[str, Temp] = of(Temp)
        self.entries: dict[str, Entries] = of(Entries)
        self.stats: dict[str, Stat] = of(Stat)
        self.numbers = {key: value for key, value in vars(owner).items() if isinstance(value, Numbers)}
        self.functions: list[Function] = []
        self.results: tuple[str, ...] = ()
        """Names of the numbers that `@result` gives; none where it gives one number."""
        self.best: dict[str, str] = {}
        """Which values of a reported number are better, "min" or "max", where `@result` says so."""
        self.hooks: dict[str, Callable[..., Any]] = {}
        self.hook_names: dict[str, tuple[str, ...]] = {}
        self.joined: list[Joined] = []
        self.onnx: OnnxFunction | None = None
        """How it is written as ONNX nodes."""
        self.examples: list[Example] = list(vars(owner).get("examples", ()))
        self.networks: tuple[str, ...] = tuple(vars(owner).get("networks", ()))
        self.common, self.from_message = common, from_message
        super().__init__("layer", name, owner, **options)
        if unknown := set(common) - set(COMMON):
            raise self.error(f"unknown common attribute `{sorted(unknown)[0]}`; available: {', '.join(COMMON)}")
        if self.bias is not None:
            self._add_attribute(bias_attribute(), "bias")
        for group in common:
            self._add_attribute(COMMON[group](), group)
        self._check_fields()
        marked: Any = owner
        marked.__layer__ = self

    def _add_attribute(self, attribute: Attribute[Any], name: str) -> None:
        if name in self.attributes:
            raise self.error(f"attribute `{name}` is declared by the layer and added by the framework")
        attribute.name = name
        self.attributes[name] = attribute

    def add(self, function: Function) -> None:
        """Take a point function; its arguments are checked at once, at the author's line."""
        function.check(self.offered_names | set(function.offsets))
        if not is_built_in(self):
            function.check_writes()  # parsing source takes time at every start; for built-in definitions a test does it
        self._start_anew()
        self.functions.append(function)

    def attach(self, role: str, call: Callable[..., Any]) -> None:
        """Take an `infer`, `output_types`, `body`, `entries` or `result` function."""
        if role in self.hooks:
            raise self.error(f"has more than one @{role} function")
        self._start_anew()
        self.hooks[role] = call
        self.hook_names[role] = tuple(inspect.signature(call).parameters)

    @cached_property
    def axis_names(self) -> set[str]:
        """Names of all axes; each is an argument that gives the axis's size."""
        return {axis.name for field in self.fields.values() for axis in field.axes if axis.name not in ("...", "1")}

    @cached_property
    def groups(self) -> dict[str, str]:
        """Row axes that are grouped: `{"T": "S"}`, and `{"T": "S", "S": "N"}` for `T:S:N`."""
        axes = [axis for field in self.fields.values() for axis in field.axes]
        found = {axis.name: axis.group for axis in axes if axis.group}
        return found | {axis.group: axis.outer for axis in axes if axis.group and axis.outer}

    @cached_property
    def dynamic_rows(self) -> dict[str, str]:
        """Row axes that no input has, outermost first, and what groups them: their starts are computed every time."""
        first = [field.axes[0] for field in self.inputs.values()]
        fed = {name for row in first for name in (row.name, row.group, row.outer)}
        rows = [field.axes[0] for field in self.outputs.values() if field.axes]
        pairs = [pair for row in rows for pair in ((row.group, row.outer), (row.name, row.group))]
        return {row: group for row, group in pairs if row and group and row not in fed}

    @property
    def decisive_temps(self) -> tuple[str, ...]:
        """Temporaries that determine the number of rows of a layer with a dynamic row count."""
        return tuple(name for name in self.hook_names.get("starts", ()) if name in self.temps)

    @cached_property
    def entry_rows(self) -> dict[str, str]:
        """Row axes of entries, and the rows that they are entries of."""
        return {field.axes[0].name: str(field.axes[0].group) for field in self.entries.values()}

    @cached_property
    def offered_names(self) -> set[str]:
        """Everything that a point function may ask for."""
        names = {*self.fields, *self.attributes, *self.numbers, *self.axis_names, *("d" + name for name in self.fields)}
        for group in self.groups.values():
            names |= {group, group.lower(), f"{group}_start", "before", "after", "before_of"}
        names |= {f"{row}_start" for row in self.groups}
        for name, field in self.inputs.items():
            own = ("start", "id", "value") if {"SPARSE", "SPARSE_INT"} & set(field.kinds) else ()
            used = ("used_id", "used_start", "used_row", "used_value", "used_entry")
            names |= {f"{name}_{part}" for part in (*own, *used)}
        for name in self.entries:
            names |= {f"{name}_{part}" for part in ("id", "value", "used_id", "used_start", "used_row", "used_entry")}
        return names | {"training", "key"}

    @property
    def onnx_names(self) -> set[str]:
        """Everything that a function below `@onnx` may ask for."""
        tensors = {*self.inputs, *self.params, *self.states}
        sequences = {f"{row}_{what}" for row in self.groups for what in ("lengths", "mask")}
        return tensors | {*self.attributes} | self.axis_names | {*self.numbers} | sequences

    # ---- derived, by `DerivedLayer`

    @abstractmethod
    def complete(self) -> Self:
        """Check what only the whole module shows: every tensor is computed, there is an example. Once."""

    @property
    @abstractmethod
    def facts(self) -> Facts:
        """Facts derived from the source of the functions: order, reads, in-place use, Mocha's characterizations."""

    @property
    @abstractmethod
    def message(self) -> LayerDef:
        """The definition as a LayerDef protobuf."""

    def infer(self, types: Sequence[Type], attributes: Mapping[str, Any]) -> tuple[Type, ...]:
        """Types of the outputs for types of the inputs, in the order of a config. Raises `ShapeError`."""
        return self.kept_types(types) or self.bind_axes(types, attributes).outputs

    @abstractmethod
    def kept_types(self, types: Sequence[Type]) -> tuple[Type, ...] | None:
        """Types of the outputs where they are those of the inputs, without binding axes; else None."""

    @abstractmethod
    def bind_axes(self, types: Sequence[Type], attributes: Mapping[str, Any]) -> Binding:
        """Sizes of all axes and types of the outputs. Raises `ShapeError`."""

    @abstractmethod
    def _start_anew(self) -> None:
        """Forget what was derived."""

    # ---- read off the fields

    @property
    def definition(self) -> LayerDef:
        """The definition as a LayerDef protobuf."""
        return self.message

    @property
    def is_sink(self) -> bool:
        """Whether nothing has to read what it gives, since it gives nothing or costs only."""
        return all(output.loss for output in self.outputs.values())

    @property
    def is_composite(self) -> bool:
        """Whether it is made of other layers by a body."""
        return "body" in self.hooks

    @property
    def declared_only(self) -> bool:
        """Whether it comes from a message and has no functions: it is validated and documented, and cannot run."""
        return self.from_message and bool(self.inputs) and not self.functions and not self.is_composite

    def check_runs(self) -> None:
        """Raise `DefinitionError` for a layer that is only declared."""
        if self.declared_only:
            named = [f"@each({self.owner.__name__}.{name})" for name in (*self.outputs, *self.stats)]
            raise self.error(f"has no functions, so it cannot run; add {', '.join(named)}")

    @cached_property
    def arity(self) -> Arity:
        """The number of inputs."""
        return arity_of(self.inputs.values())

    @cached_property
    def fixed_positions(self) -> dict[str, tuple[int, ...]] | None:
        """Positions of the inputs where each is given once; None for layers with optional or repeatable inputs."""
        if any(field.optional or field.repeatable for field in self.inputs.values()):
            return None
        return {name: (place,) for place, name in enumerate(self.inputs)}

    @cached_property
    def binding_order(self) -> list[Input]:
        """The inputs in the order in which axes are bound: `C...` is what remains after those of the others."""
        return sorted(self.inputs.values(), key=lambda field: takes_what_is_left(field.axes))

    @cached_property
    def group_attribute(self) -> str | None:
        """The attribute that selects the meaning of the sequence axis of a nested input."""
        return next((name for name, attribute in self.attributes.items() if attribute.groups), None)

    @cached_property
    def axis_attributes(self) -> list[tuple[str, str]]:
        """Axes that an attribute binds, and the attribute."""
        return [(attribute.axis, name) for name, attribute in self.attributes.items() if attribute.axis]

    def report(self, values: Mapping[str, Any]) -> dict[str, float]:
        """The metrics that `@result` computes from sums and attributes, by name; an unnamed single one is ""."""
        found = self.hooks["result"](*(values[name] for name in self.hook_names["result"]))
        names, numbers = (self.results, tuple(found)) if self.results else (("",), (found,))
        if len(names) != len(numbers):
            raise self.error(f"@result names {', '.join(names)}, but returns {len(numbers)} numbers")
        return {name: float(number) for name, number in zip(names, numbers, strict=True)}

    def output_types(self, inputs: Sequence[LayerOutputDef], **attributes: Any) -> list[LayerOutputDef]:
        """Inference alone, from and to LayerOutputDef messages. Raises `ShapeError`, `InvalidAttributes`."""
        bound = self.bind(attributes)
        types = self.infer([Type.from_message(message) for message in inputs], bound)
        return [t.to_message(name) for t, name in zip(types, self.output_names(len(types)), strict=True)]

    def output_names(self, count: int) -> list[str]:
        """Names of the outputs: `y`, or `y_0`, `y_1` ... for a repeatable one."""
        if len(self.outputs) == 1 and count != 1:
            return [f"{name}_{i}" for name in self.outputs for i in range(count)]
        return list(self.outputs)[:count]

    def names_in_network(self, layer: str, count: int) -> tuple[str, ...]:
        """Names of the outputs of a layer that gives none: its own name, `layer.output` for the second and later."""
        if count == 1:
            return (layer,)
        return tuple(f"{layer}.{own}" if i else layer for i, own in enumerate(self.output_names(count)))

    def example_inputs(self, example: Example) -> tuple[list[Type], Attributes]:
        """Input types in the order of a config, and bound attributes. Raises `DefinitionError`."""
        settings = dict(example.settings)
        types: list[Type] = []
        try:
            for name in self.inputs:
                text = settings.pop(name, None)
                texts = [] if text is None else [text] if isinstance(text, str) else text
                types += map(Type.parse, texts)
            return types, self.bind(settings)
        except (ValueError, InvalidAttributes) as error:
            raise self.error(f"example {example!r}: {error}") from error

    # ---- registration checks

    def _check_fields(self) -> None:
        indices = {index for field in self.fields.values() for index in field.indices}
        indices |= {group.lower() for group in self.groups.values()}
        named: dict[str, Any] = {**self.fields, **self.attributes, **self.numbers}
        for name, field in named.items():
            if not field.doc and not isinstance(field, Bias):
                raise self.error(f"field `{name}` needs a description")
            if name in indices:
                raise self.error(f"field `{name}` conflicts with an index of the same name")
            if name in ("which", "before", "after", "before_of", "training", "key", "u", "real", "math"):
                raise self.error(f"field `{name}`: this name is reserved")
            if name.endswith("_"):
                raise self.error(f"field `{name}`: names that end in `_` are reserved for generated code")
        if self.bias is not None and not (self.outputs and self.bias.indices):
            raise self.error(f"bias `{self.bias.name}` needs an output and one of its axes")
        self._check_axes()
        self._check_left()
        repeatable = self._check_inputs()
        for name, param in self.params.items():
            if param.per is not None and param.per != repeatable:
                raise self.error(f"parameter `{name}`: `per` must name a repeatable input, not `{param.per}`")

    def _check_axes(self) -> None:
        placed = {field.axes[0].name for field in self.inputs.values() for axis in field.axes if axis.first}
        for name, field in self.fields.items():
            for attribute in (said for axis in field.axes for said in (axis.first, axis.last) if said):
                if attribute not in self.attributes or self.attributes[attribute].type != "INT":
                    raise self.error(f"`{name}`: `@{attribute}` must name an Int attribute")
            first = field.axes[0] if field.axes else None
            if first is not None and first.rest and first.name not in {REST, *placed}:
                raise self.error(f"`{name}`: `{first.name}...` requires an input with `@`, the position of an axis")

    def _check_left(self) -> None:
        whole = [field for field in self.inputs.values() if field.axes[1:] and field.axes[1].name == REST]
        for name, field in self.inputs.items():
            if takes_what_is_left(field.axes) and not any(not other.optional for other in whole):
                rows = field.axes[0].name
                raise self.error(
                    f"`{name}` has axes {field.text!r}, which require another input with axes `{rows} ...`"
                )

    def _check_inputs(self) -> str:
        """Check the inputs. Returns the name of the repeatable input, or an empty string."""
        repeatable = ""
        for name, field in self.inputs.items():
            if not field.axes:
                raise self.error(f"input `{name}` has no axes; the first one counts the rows")
            if repeatable and field.repeatable:
                raise self.error(f"inputs `{repeatable}` and `{name}` are both repeatable")
            if repeatable and field.optional:
                raise self.error(f"input `{name}` cannot be optional after the repeatable `{repeatable}`")
            repeatable = name if field.repeatable else repeatable
        return repeatable


class Binding(NamedTuple):
    """Result of inference for one use of a layer."""

    positions: dict[str, tuple[int, ...]]
    """Positions in the config's list of inputs, by name; none for an optional input that is absent."""
    sizes: dict[str, Any]
    """Size of each axis; a list for `C_i`; the remaining dims for `...`. Numbers that `@infer` gives, too."""
    levels: dict[str, int]
    """Sequence level of each row axis."""
    outputs: tuple[Type, ...]
    body: Body | None = None
    """The parts of a layer made of layers."""
    merged: Mapping[str, tuple[int, ...]] = {}
    """Axes that functions see as one: `C` of `C...`; of `N...`, the axes after the rows."""

    def rows_factor(self, axis: Axis) -> int:
        """How often the rows are counted: `N...` has the axes before the one of which an attribute gives the place."""
        return product(self.merged.get(axis.name, ())) if axis.rest else 1

    def dims(self, field: Field, item: int = 0) -> tuple[int, ...]:
        """Sizes of a field's axes after the row axis (all axes for parameters), `...` written out."""
        names = field.axis_names
        has_rows = bool(names) and names[0] in self.levels and names[0] != REST
        if field.is_plain:
            return tuple(map(self.sizes.__getitem__, names[has_rows:]))
        dims: list[int] = list(self.merged[names[0]]) if has_rows and field.axes[0].rest else []
        for axis in field.axes[has_rows:]:
            name = axis.name
            if axis.rest and (name == REST or name in self.merged):
                dims += self.sizes[REST] if name == REST else self.merged[name]
            else:
                size: Any = 1 if name == "1" else self.sizes[name]
                dims.append(size[item] if axis.per_item else size)
        return tuple(dims)


class Part(NamedTuple):
    """One layer of a body."""

    name: str
    definition: LayerDefinition
    attributes: Attributes
    activation: tuple[LayerDefinition, Attributes] | None
    inputs: tuple[str, ...]
    input_types: tuple[Type, ...]
    output_names: tuple[str, ...]
    binding: Binding


class Body(NamedTuple):
    """The parts of a composite layer, for attributes and types of inputs."""

    parts: tuple[Part, ...]
    """In the order of the calls, which is a valid one."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    output_types: tuple[Type, ...]

    def layers(self) -> Iterator[LayerDefinition]:
        """Definitions of all parts, their activations and their own parts."""
        for part in self.parts:
            yield part.definition
            if part.activation is not None:
                yield part.activation[0]
            if part.binding.body is not None:
                yield from part.binding.body.layers()
