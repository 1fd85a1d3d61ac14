"""Checked networks: immutable, with all types inferred."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from .binding.assignments import PhaseState
from .diagnostics.diagnostic import Diagnostic, Source
from .diagnostics.report import ConfigError
from .diagnostics.suggestions import nearest
from .wiring.network_builder import relink
from .wiring.nodes import Node


class Network:
    """A checked network: layers in topological order; `network["conv1"]` is a node.

    Created by `load` and `loads`, or from the values that the helpers of `paddle_layers.nn` return.

    Args:
        outputs: Values returned by helpers: the outputs and losses, from which the layers follow.
        name: Name of the network.

    Raises:
        ConfigError: The network has errors; with all diagnostics.

    Example::

        x = nn.data(shape=[784])
        network = pl.Network(outputs=[nn.fc(x, size=10)], name="digits")
    """

    def __init__(self, outputs: Sequence[Any] = (), *, name: str = "") -> None:
        # Lazy: networks from files never need the helpers' modules.
        from .building.assembly import build

        self._adopt(*build(outputs, name))

    @classmethod
    def checked(
        cls, name: str, nodes: Iterable[Node], source: Source, states: Mapping[PhaseState, Iterable[Node]] | None = None
    ) -> Network:
        """A network of layers that are checked already.

        Args:
            name: Name of the network.
            nodes: Layers in topological order.
            source: The text, for messages.
            states: Layers by state (phase, level and stages), as far as they are known.

        Returns:
            The network.
        """
        made = object.__new__(cls)
        # Not by `__init__`, which is the public constructor from helper values and checks them.
        made._adopt(name, nodes, source, states or {})
        return made

    def _adopt(
        self, name: str, nodes: Iterable[Node], source: Source, states: Mapping[PhaseState, Iterable[Node]]
    ) -> None:
        self._name, self._nodes, self._source = name, tuple(nodes), source
        self._states = {state: self._part(present, state) for state, present in states.items()}

    @cached_property
    def _index(self) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for node in self._nodes:
            # Layers of different phases may have the same name.
            found.setdefault(node.name, node)
        return found

    def _part(self, nodes: Iterable[Node], state: PhaseState) -> Network:
        """The network in a state."""
        part = Network.checked(self._name, nodes, self._source)
        # The layers of a part keep their rules, so `select` of a part would otherwise wire it again.
        part._states[state] = part
        return part

    @property
    def name(self) -> str:
        """Name of the network; may be empty."""
        return self._name

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All layers, of every phase, in topological order."""
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
        """The network of a phase, by the `include` and `exclude` rules of its layers.

        Args:
            phase: `"train"` or `"test"`.
            level: Level for the rules.
            stages: Stages for the rules.

        Returns:
            The network in this state; the same object if no layer has rules.

        Raises:
            ConfigError: The remaining layers are not a valid network.
            TypeError: `stages` is not a list of names.
            ValueError: Another phase.
        """
        if phase not in ("train", "test"):
            raise ValueError(f'phase must be "train" or "test", not {phase!r}')
        if isinstance(stages, str) or not isinstance(stages, Iterable):
            raise TypeError(f"stages must be a list of names, such as ['deploy'], not {stages!r}")
        if not any(node.include or node.exclude for node in self._nodes):
            return self
        state = PhaseState(phase, level, frozenset(stages))
        if state not in self._states:
            # Lazily: levels and stages can be combined in many ways, of which a program uses one or two. The types may
            # differ, so the layers are wired again.
            self._states[state] = self._part(relink(self._nodes, self._source, state), state)
        return self._states[state]

    def error(self, layer: str, message: str, *, code: str = "E209", help: str = "") -> ConfigError:
        """An error at the position of a layer, for packages that detect it later.

        Args:
            layer: Name of the layer.
            message: Description of the error.
            code: Diagnostic code.
            help: How to fix it.

        Returns:
            The error, to be raised.

        Raises:
            KeyError: Unknown layer.
        """
        node = self[layer]
        return ConfigError([Diagnostic(code, message, self._source, *node.span, help=help)])

    def __getitem__(self, name: str) -> Node:
        try:
            return self._index[name]
        except KeyError:
            near = nearest(name, self._index)
            hint = f"; did you mean `{near}`?" if near else ""
            raise KeyError(f"unknown layer `{name}`{hint}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __repr__(self) -> str:
        return f"<Network {self._name!r}: {len(self._nodes)} layers>"
