"""A checked network: immutable, every type known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_layers.define import Attributes, LayerDefinition, Type

from .diagnostics import ConfigError, Diagnostic, Source
from .settings import ParamSettings, State, StateRule
from .suggestions import nearest

if TYPE_CHECKING:
    from paddle_layers.schema.layer_def_pb2 import LayerOutputDef

    from .steps import Step


class Setup:
    """Everything a layer says beside its name and its inputs. Equal texts share one, so treat it as constant."""

    __slots__ = (
        "activation", "attributes", "definition", "exclude", "include", "insides", "loss_weight", "memo",
        "output_names", "params", "propagate_down", "step",
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
        self.memo: dict[tuple[Type, ...], tuple[Type, ...]] = {}
        self.insides: dict[tuple[Type, ...], Inside] = {}

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


class Inside(NamedTuple):
    """The network inside a layer: of a layer made of layers, or of one step of a recurrent group."""

    nodes: tuple[Node, ...]
    """In a valid order; their names and those of their outputs are known inside only."""
    inputs: tuple[str, ...]
    """The name inside of each input of the layer."""
    outputs: tuple[str, ...]
    """The name inside of each output of the layer."""


class Node:
    """One layer of a network: what the file says, and the types that follow from it."""

    __slots__ = ("_input_types", "_inputs", "_inside", "_name", "_offset", "_output_names", "_output_types", "_setup")

    def __init__(
        self,
        name: str,
        inputs: tuple[str, ...],
        output_names: tuple[str, ...],
        setup: Setup,
        input_types: tuple[Type, ...],
        output_types: tuple[Type, ...],
        offset: int,
        inside: Inside | None = None,
    ) -> None:
        self._name, self._inputs, self._output_names, self._setup = name, inputs, output_names, setup
        self._input_types, self._output_types, self._offset = input_types, output_types, offset
        self._inside = inside

    @property
    def name(self) -> str:
        """Name of the layer."""
        return self._name

    @property
    def definition(self) -> LayerDefinition:
        """The definition that its type names."""
        return self._setup.definition

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the outputs it reads."""
        return self._inputs

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of its outputs."""
        return self._output_names

    @property
    def attributes(self) -> Attributes:
        """Values of all attributes."""
        return self._setup.attributes

    @property
    def params(self) -> dict[str, ParamSettings]:
        """Settings by name in the definition; parameters without settings are absent."""
        return self._setup.params

    @property
    def activation(self) -> tuple[LayerDefinition, Attributes] | None:
        """The layer applied to every output; None for linear."""
        return self._setup.activation

    @property
    def loss_weight(self) -> tuple[float, ...] | None:
        """Weight of each output in the loss; None: 1 for costs, 0 for the others."""
        return self._setup.loss_weight

    @property
    def propagate_down(self) -> tuple[bool, ...]:
        """For each input, whether its gradient is computed; empty: where it is needed."""
        return self._setup.propagate_down

    @property
    def include(self) -> tuple[StateRule, ...]:
        """The layer is there only in states that meet one of these."""
        return self._setup.include

    @property
    def exclude(self) -> tuple[StateRule, ...]:
        """The layer is absent in states that meet one of these."""
        return self._setup.exclude

    @property
    def input_types(self) -> tuple[Type, ...]:
        """Types of the inputs."""
        return self._input_types

    @property
    def output_types(self) -> tuple[Type, ...]:
        """Types of the outputs."""
        return self._output_types

    @property
    def outputs(self) -> list[LayerOutputDef]:
        """Types of the outputs as protobuf messages."""
        return [type_.to_message(name) for name, type_ in zip(self._output_names, self._output_types, strict=True)]

    @property
    def inside(self) -> Inside | None:
        """The network inside a layer made of layers or a recurrent group; None for all others."""
        return self._inside

    @property
    def setup(self) -> Setup:
        """What nodes with the same text share."""
        return self._setup

    @property
    def span(self) -> tuple[int, int]:
        """Offsets of the layer's name in the source."""
        return self._offset, self._offset + len(self._name)

    def __repr__(self) -> str:
        shapes = ", ".join(map(str, self._output_types))
        return f"<{self.definition.name} {self._name!r}: {shapes}>"


class Network:
    """Layers in an order in which each comes after those it reads; `network["conv1"]` is a node.

    Made by `load` and `loads`, or from the values that the helpers of `paddle_layers.nn` return:
    `Network(outputs=[cost], name="lenet")`. Raises `ConfigError` with every fault.
    """

    def __init__(self, outputs: Sequence[Any] = (), *, name: str = "") -> None:
        from .assembly import build

        self._adopt(build(outputs, name))

    @classmethod
    def checked(cls, name: str, nodes: Iterable[Node], source: Source) -> Network:
        """A network of nodes that were checked already."""
        made = object.__new__(cls)
        made._name, made._nodes, made._source = name, tuple(nodes), source
        made._index, made._states = {}, {}
        for node in made._nodes:
            made._index.setdefault(node.name, node)
        return made

    _name: str
    _nodes: tuple[Node, ...]
    _source: Source
    _index: dict[str, Node]
    _states: dict[State, Network]

    def _adopt(self, other: Network) -> None:
        self._name, self._nodes, self._source = other._name, other._nodes, other._source
        self._index, self._states = other._index, other._states

    @property
    def name(self) -> str:
        """Name of the network; may be empty."""
        return self._name

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All layers, of every phase, in a valid order."""
        return self._nodes

    @property
    def source(self) -> Source:
        """The text, for messages."""
        return self._source

    @property
    def outputs(self) -> tuple[str, ...]:
        """Outputs that no layer reads."""
        read = {name for node in self._nodes for name in node.inputs}
        names = (name for node in self._nodes for name in node.output_names)
        return tuple(dict.fromkeys(name for name in names if name not in read))

    def select(self, phase: str, level: int = 0, stages: Iterable[str] = ()) -> Network:
        """The layers that are there in a state. Raises `ConfigError` when they do not make a network."""
        if phase not in ("train", "test"):
            raise ValueError(f'phase is {phase!r}, must be "train" or "test"')
        if not any(node.include or node.exclude for node in self._nodes):
            return self
        state = State(phase, level, frozenset(stages))
        if state not in self._states:
            from .wiring import relink

            self._states[state] = relink(self, state)
        return self._states[state]

    def error(self, layer: str, message: str, *, code: str = "E209", help: str = "") -> ConfigError:
        """An error at the place of a layer, for rooms that find a fault later."""
        node = self[layer]
        return ConfigError([Diagnostic(code, message, self._source, *node.span, help=help)])

    def __getitem__(self, name: str) -> Node:
        try:
            return self._index[name]
        except KeyError:
            near = nearest(name, self._index)
            hint = f"; did you mean `{near}`?" if near else ""
            raise KeyError(f"no layer is called `{name}`{hint}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __repr__(self) -> str:
        return f"<Network {self._name!r}: {len(self._nodes)} layers>"
