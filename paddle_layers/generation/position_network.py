"""Splitting a language model for incremental decoding: the source part, and one position of the generated sequence.

The first part runs once per batch. The second one processes a single word of each sequence; the state of recurrent
layers is fed and read at every position, so that the caller may keep, copy and permute sequences.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from paddle_layers.config import Network
from paddle_layers.config.binding.drafts import Setup
from paddle_layers.config.wiring.data_layers import carried_values
from paddle_layers.config.wiring.nodes import Inside, Node
from paddle_layers.define import Type

from .incremental_layers import FED, FORMS, CarriedState, NetworkSplit, Scope, SplitValue, data_layer, names_of

GROUP, MEMORY = "recurrent_group", "memory"
BEST, PLACES, LOGARITHM = "(best)", "(places)", "(log)"
"""Values computed from the scores; no config can use these layer names."""


class Positions(NamedTuple):
    """A network split for incremental decoding."""

    source: Network
    """The part that depends on the source only; data layers only, if there is nothing else."""
    given: tuple[str, ...]
    """Values of the source that a position reads."""
    position: Network
    words: str
    """The data layer of the previous word; one id per sequence."""
    carried: tuple[CarriedState, ...]
    logarithm: str
    """Log-probabilities of the next word."""
    vocabulary: int
    places: dict[str, int]
    """Data layers of the position index, with the number of positions."""
    zeros: dict[str, Type]
    """Data layers of the source that are carried over from the previous batch in training: sequences begin with
    zeros.
    """


def cut(network: Network, words: str, scores: str, *, probabilities: bool, best: int | None) -> Positions:
    """Splits a network at the data layer `words` of the previous words; `scores` are those of the next.

    `best` returns only so many of the best words of each sequence. Raises `ConfigError` for a layer that needs more of
    the sequence than one position and carried state.
    """
    return _Splitter(network, words).run(scores, probabilities=probabilities, best=best)


class _Splitter(NetworkSplit):
    def __init__(self, network: Network, words: str) -> None:
        super().__init__(network, words)
        self.from_before = carried_values(network.nodes)
        self.zeros: dict[str, Type] = {}

    def run(self, scores: str, *, probabilities: bool, best: int | None) -> Positions:
        """Builds both networks."""
        for node in self.network.nodes:
            self.layer = node.name
            self.add(node, self.scope, "")
        found = self.scope[scores]
        if not found.moving:
            raise self.fault(
                f"`{scores}` does not depend on the words `{self.words}`", "name the data layer of the generated words"
            )
        logarithm = self._logarithm(found, probabilities=probabilities)
        if best is not None:
            self.add_layer("top_k", BEST, (logarithm,), (BEST, PLACES), k=min(best, found.type.size))
        feeds = {one.name: one.type for one in self.carried} | FED | self.given
        feeds |= {name: Type.ids(count) for name, count in self.places.items()}
        layers = [data_layer(name, type_) for name, type_ in feeds.items()]
        # Losses, metrics and layers that only they read are dropped: their labels do not exist here.
        nodes = _needed([*layers, *self.position], [LOGARITHM, BEST, *(one.next for one in self.carried)])
        boots = {one.boot for one in self.carried if isinstance(one.boot, str)}
        given = tuple(name for name in self.given if any(name in node.output_names for node in nodes))
        source = _needed(self.source, {*given, *boots})
        checked = (Network.checked(self.network.name, part, self.network.source) for part in (source, nodes))
        before, after = checked
        zeros = {name: type_ for name, type_ in self.zeros.items() if name in before}
        return Positions(
            before, given, after, self.words, tuple(self.carried), LOGARITHM, found.type.size, self.places, zeros
        )

    def add(self, node: Node, scope: Scope, prefix: str) -> None:
        """Adds a layer to its part; its outputs enter the scope."""
        inputs = [scope[name] for name in node.inputs]
        if not node.definition.inputs:
            outputs = [self._feed(node)]
        # Anything that does not depend on generated words is computed once per batch.
        elif not any(value.moving for value in inputs):
            outputs = self._as_it_is(node, inputs, prefix)
        elif node.definition.name == GROUP and node.inside is not None:
            outputs = self._step(node, node.inside, inputs, f"{prefix}{node.name}.")
        elif node.inside is not None:
            outputs = self._parts(node, node.inside, inputs, prefix)
        else:
            outputs = self._one_position(node, inputs, prefix)
        scope.update(zip(node.output_names, outputs, strict=True))

    def _feed(self, node: Node) -> SplitValue:
        name, type_ = node.output_names[0], node.output_types[0]
        if name != self.words:
            if name in self.from_before:
                # Training continues where the last batch ended; a generated sequence has no batch before it.
                self.zeros[name], node = type_, data_layer(name, type_)
            self.source.append(node)
            return SplitValue(name, type_, moving=False)
        if type_.kind != "INT" or type_.level != 1:
            raise self.fault(
                f"`{name}` is {type_}, expected a sequence of ids", "set `words` in `generate` to their data layer"
            )
        self.position.append(data_layer(name, type_._replace(level=0)))
        return SplitValue(name, type_._replace(level=0), moving=True)

    def _as_it_is(self, node: Node, inputs: list[SplitValue], prefix: str) -> list[SplitValue]:
        """A layer of the source, or a layer that is identical for one position."""
        names = names_of(node, prefix)
        made = Node(
            prefix + node.name,
            tuple(value.name for value in inputs),
            names,
            node.setup,
            tuple(value.type for value in inputs),
            node.output_types,
            node.span[0],
            node.inside,
        )
        self.source.append(made)
        return [SplitValue(name, type_, moving=False) for name, type_ in zip(names, node.output_types, strict=True)]

    # ---- composite layers and recurrent groups

    def _parts(self, node: Node, inside: Inside, inputs: list[SplitValue], prefix: str) -> list[SplitValue]:
        inner = dict(zip(inside.inputs, inputs, strict=True))
        for part in inside.nodes:
            self.add(part, inner, f"{prefix}{node.name}.")
        outputs = [inner[name] for name in inside.outputs]
        if node.activation is not None:
            definition, attributes = node.activation
            name = names_of(node, prefix)[0]
            self.put(f"{prefix}{node.name}.act", Setup(definition, attributes), outputs[:1], (name,))
            outputs[0] = outputs[0]._replace(name=name)
        return outputs

    def _step(self, node: Node, inside: Inside, inputs: list[SplitValue], prefix: str) -> list[SplitValue]:
        """One step of a recurrent group instead of the group; its memories are carried."""
        static = node.attributes["static"]
        if node.attributes["reverse"]:
            raise self.fault("it runs backward over the sequence, but words are generated forward", "remove `reverse`")
        for name, value in zip(inside.inputs, inputs, strict=True):
            if name in static and value.moving:
                raise self.fault(
                    f"its static input `{name}` is the whole sequence, of which only a prefix is generated"
                )
            if name not in static and not value.moving:
                raise self.fault(
                    f"it steps through `{name}`, which does not depend on the words `{self.words}`",
                    f'to pass all of it to every step, write `recurrent_group {{ static: "{name}" }}`',
                )
        inner = dict(zip(inside.inputs, inputs, strict=True))
        memories = [part for part in inside.nodes if part.definition.name == MEMORY]
        for memory in memories:
            inner[memory.output_names[0]] = SplitValue(names_of(memory, prefix)[0], memory.output_types[0], moving=True)
        for part in inside.nodes:
            if part.definition.name != MEMORY:
                self.add(part, inner, prefix)
        for memory in memories:
            self._remember(memory, inner)
        return [inner[name] for name in inside.outputs]

    def _remember(self, memory: Node, inner: Scope) -> None:
        attributes, own = memory.attributes, inner[memory.output_names[0]]
        boot: str | float = attributes["value"] if attributes["id"] is None else attributes["id"]
        if memory.inputs:
            boot = inner[memory.inputs[0]].name
        # Read as a value of the position: it may be one of the source, which then has to be fed.
        self.carried.append(CarriedState(own.name, self.read(inner[attributes["of"]]).name, boot, own.type))

    # ---- single layers

    def _one_position(self, node: Node, inputs: list[SplitValue], prefix: str) -> list[SplitValue]:
        form = FORMS.get(node.definition.name)
        if form is not None:
            return [form(self, node, inputs, prefix)]
        facts = node.definition.facts
        if not facts.rows_independent and not facts.has_state:
            raise self.fault(f"`{node.definition.name}` mixes the rows of different sequences")
        return self.put(prefix + node.name, node.setup, inputs, names_of(node, prefix))

    def _logarithm(self, scores: SplitValue, *, probabilities: bool) -> SplitValue:
        if scores.type.kind != "DENSE" or len(scores.type.dims) != 1:
            raise self.fault(f"`{scores.name}` is {scores.type}, expected one score per word of the vocabulary")
        return self.add_layer("log" if probabilities else "log_softmax", LOGARITHM, (scores,), (LOGARITHM,))


def _needed(nodes: list[Node], values: Iterable[str]) -> list[Node]:
    """The layers that values depend on."""
    wanted, found = set(values), []
    for node in reversed(nodes):
        if not wanted.isdisjoint(node.output_names):
            wanted.update(node.inputs)
            found.append(node)
    return found[::-1]
