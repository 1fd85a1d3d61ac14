"""A network that reads a text word by word, cut in two: what rests on the source alone, and one position of the text.

The first part runs once for a batch. The second one sees a single word of each text; what recurrent layers know of the
words before it is fed to it and read from it, so that whoever runs it may keep, copy and exchange texts as it likes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from paddle_layers.config import ConfigError, Network
from paddle_layers.config.binding.drafts import Setup
from paddle_layers.config.binding.settings import ParamSettings
from paddle_layers.config.wiring.carried import carried_values
from paddle_layers.config.wiring.inference import types_of
from paddle_layers.config.wiring.nodes import Inside, Node
from paddle_layers.define import ShapeError, Type, registries

GROUP, MEMORY = "recurrent_group", "memory"
CODE = "E313"
BEST, PLACES, LOGARITHM = "(best)", "(places)", "(log)"
"""Values behind the scores; no config can name a layer so."""
ONE = "(one)"
"""A data layer of sequences of one row each."""


class Carried(NamedTuple):
    """What a position knows of those before it: a row for each text."""

    name: str
    """Of the data layer that it is fed to."""
    next: str
    """The value that is fed at the next position."""
    boot: str | float
    """Before the first position: a value of the source, or the number, or id, that all have."""
    type: Type
    """Of a row."""
    grows: bool = False
    """Whether it is a sequence of the rows of all positions before, empty at first."""


class Positions(NamedTuple):
    """A network cut in two."""

    source: Network
    """What rests on the source alone; data layers only, where there is no more."""
    given: tuple[str, ...]
    """Values of the source that a position reads."""
    position: Network
    words: str
    """The data layer of the word before; an id for each text."""
    carried: tuple[Carried, ...]
    logarithm: str
    """Logarithms of the probabilities of the next word."""
    vocabulary: int
    places: dict[str, int]
    """Data layers that are fed the number of the position, with how many there are."""
    zeros: dict[str, Type]
    """Data layers of the source that go on from the batch before in training: texts begin with zeros."""


class _Value(NamedTuple):
    """A value as the layers of one network know it."""

    name: str
    type: Type
    moving: bool
    """Whether it rests on the words of the text."""


Scope = dict[str, _Value]
_ONE = Type.ids(1, level=1)


def cut(network: Network, words: str, scores: str, *, probabilities: bool, best: int | None) -> Positions:
    """Cut a network in two at the data layer `words`, that of the word before each; `scores` are those of the next.

    `best` asks for the best words of each text, in the place of all. Raises `ConfigError` for a layer that needs more
    of the text than one position and what is carried on.
    """
    return _Cutter(network, words).run(scores, probabilities=probabilities, best=best)


class _Cutter:
    def __init__(self, network: Network, words: str) -> None:
        self.network, self.words, self.from_before = network, words, carried_values(network.nodes)
        self.source: list[Node] = []
        self.position: list[Node] = []
        self.given: dict[str, Type] = {}
        self.carried: list[Carried] = []
        self.scope: Scope = {}
        self.zeros: dict[str, Type] = {}
        self.places: dict[str, int] = {}
        self.layer = ""
        """The layer of the config that is looked at, for messages."""

    def run(self, scores: str, *, probabilities: bool, best: int | None) -> Positions:
        """Both networks."""
        for node in self.network.nodes:
            self.layer = node.name
            self.add(node, self.scope, "")
        found = self.scope[scores]
        if not found.moving:
            raise self.fault(
                f"`{scores}` does not rest on the words `{self.words}`", "is it the data layer of another text?"
            )
        logarithm = self._logarithm(found, probabilities=probabilities)
        if best is not None:
            self._place("top_k", BEST, (logarithm,), (BEST, PLACES), k=min(best, found.type.size))
        feeds = [_data(one.name, one.type._replace(level=int(one.grows))) for one in self.carried]
        feeds += [_data(name, Type.ids(count)) for name, count in self.places.items()]
        feeds.append(_data(ONE, _ONE))
        feeds += [_data(name, type_) for name, type_ in self.given.items()]
        nodes = _needed([*feeds, *self.position], [LOGARITHM, BEST, *(one.next for one in self.carried)])
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
        """A layer into the part it belongs to; its outputs enter the scope."""
        inputs = [scope[name] for name in node.inputs]
        if not node.definition.inputs:
            outputs = [self._feed(node)]
        elif not any(value.moving for value in inputs):
            outputs = self._as_it_is(node, inputs, prefix)
        elif node.definition.name == GROUP and node.inside is not None:
            outputs = self._step(node, node.inside, inputs, f"{prefix}{node.name}.")
        elif node.inside is not None:
            outputs = self._parts(node, node.inside, inputs, prefix)
        else:
            outputs = self._one_position(node, inputs, prefix)
        scope.update(zip(node.output_names, outputs, strict=True))

    def _feed(self, node: Node) -> _Value:
        name, type_ = node.output_names[0], node.output_types[0]
        if name != self.words:
            if name in self.from_before:
                self.zeros[name], node = type_, _data(name, type_)
            self.source.append(node)
            return _Value(name, type_, moving=False)
        if type_.kind != "INT" or type_.level != 1:
            raise self.fault(f"`{name}` is {type_}; words are ids in sequences", "name their data layer in `generate`")
        self.position.append(_data(name, type_._replace(level=0)))
        return _Value(name, type_._replace(level=0), moving=True)

    def _as_it_is(self, node: Node, inputs: list[_Value], prefix: str) -> list[_Value]:
        """A layer of the source, or one of a step that is the same in all steps."""
        names = _names(node, prefix)
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
        return [_Value(name, type_, moving=False) for name, type_ in zip(names, node.output_types, strict=True)]

    # ---- layers made of layers, and steps

    def _parts(self, node: Node, inside: Inside, inputs: list[_Value], prefix: str) -> list[_Value]:
        inner = dict(zip(inside.inputs, inputs, strict=True))
        for part in inside.nodes:
            self.add(part, inner, f"{prefix}{node.name}.")
        outputs = [inner[name] for name in inside.outputs]
        if node.activation is not None:
            definition, attributes = node.activation
            name = _names(node, prefix)[0]
            self._put(f"{prefix}{node.name}.act", Setup(definition, attributes), outputs[:1], (name,))
            outputs[0] = outputs[0]._replace(name=name)
        return outputs

    def _step(self, node: Node, inside: Inside, inputs: list[_Value], prefix: str) -> list[_Value]:
        """One step of a group in the place of the group; its memories are carried on."""
        static = node.attributes["static"]
        if node.attributes["reverse"]:
            raise self.fault("it runs from the end of the text to its start", "a text is written from its start")
        for name, value in zip(inside.inputs, inputs, strict=True):
            if name in static and value.moving:
                raise self.fault(f"its static input `{name}` is the whole text, of which only the start is known yet")
            if name not in static and not value.moving:
                raise self.fault(
                    f"it steps through `{name}`, which does not rest on the words `{self.words}`",
                    f'if every step may see all of it: `recurrent_group {{ static: "{name}" }}`',
                )
        inner = dict(zip(inside.inputs, inputs, strict=True))
        memories = [part for part in inside.nodes if part.definition.name == MEMORY]
        for memory in memories:
            inner[memory.output_names[0]] = _Value(_names(memory, prefix)[0], memory.output_types[0], moving=True)
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
        self.carried.append(Carried(own.name, self._read(inner[attributes["of"]]).name, boot, own.type))

    # ---- single layers

    def _one_position(self, node: Node, inputs: list[_Value], prefix: str) -> list[_Value]:
        form = FORMS.get(node.definition.name)
        if form is not None:
            return [form(self, node, inputs, prefix)]
        facts = node.definition.facts
        if not facts.rows_independent and not facts.has_state:
            raise self.fault(f"`{node.definition.name}` mixes the rows of different texts")
        return self._put(prefix + node.name, node.setup, inputs, _names(node, prefix))

    def _put(self, name: str, setup: Setup, inputs: Iterable[_Value], outputs: tuple[str, ...]) -> list[_Value]:
        """A layer of the position. Raises `ConfigError` where it takes no single rows."""
        read = [self._read(value) for value in inputs]
        types = tuple(value.type for value in read)
        try:
            found = types_of(setup, types)
        except ShapeError as error:
            raise self.fault(f"`{setup.definition.name}` needs more than one position: {error.message}") from None
        self.position.append(Node(name, tuple(value.name for value in read), outputs, setup, types, found, 0))
        return [_Value(output, type_, moving=True) for output, type_ in zip(outputs, found, strict=True)]

    def _read(self, value: _Value) -> _Value:
        """A value that the position reads; of the source it is fed."""
        if not value.moving:
            if value.type.kind.startswith("SPARSE") or value.type.level == 2:
                raise self.fault(f"`{value.name}` is {value.type}, which no position can be given")
            self.given[value.name] = value.type
        return value

    def _place(
        self,
        layer: str,
        name: str,
        inputs: tuple[_Value, ...],
        outputs: tuple[str, ...],
        params: Mapping[str, ParamSettings] | None = None,
        activation: str = "linear",
        **attributes: Any,
    ) -> _Value:
        """A layer that the config does not have; its first output."""
        setup = _setup(layer, attributes, params)
        if activation != "linear":
            setup.activation = (registries["layer"][activation], registries["layer"][activation].bind({}))
        return self._put(name, setup, inputs, outputs)[0]

    def _logarithm(self, scores: _Value, *, probabilities: bool) -> _Value:
        if scores.type.kind != "DENSE" or len(scores.type.dims) != 1:
            raise self.fault(f"`{scores.name}` is {scores.type}; scores are a number for each word")
        return self._place("log" if probabilities else "log_softmax", LOGARITHM, (scores,), (LOGARITHM,))

    def fault(self, message: str, help_: str = "") -> ConfigError:
        """The error at the layer that is looked at."""
        text = f"no text can be written word by word through layer `{self.layer}`: {message}"
        return self.network.error(self.layer, text, code=CODE, help=help_)

    # ---- recurrent layers: one step, what it needs of the step before is carried

    def recurrent(self, node: Node, inputs: list[_Value], prefix: str) -> _Value:
        """The map of the output of before is an `fc` with the layer's parameters."""
        (x, *before), name, width = inputs, _names(node, prefix)[0], inputs[0].type.size
        past = self._past(node, name, x.type, before, name)
        mapped = self._mapped(node, prefix, past, width, bias=True)
        return self._place(
            "addto", f"{prefix}{node.name}.sums", (x, mapped), (name,), activation=node.attributes["act"]
        )

    def lstmemory(self, node: Node, inputs: list[_Value], prefix: str) -> _Value:
        """An `lstm_step` with the layer's bias, behind an `fc` with its weight."""
        (x, *before), name = inputs, _names(node, prefix)[0]
        type_ = Type.dense(x.type.size // 4)
        if node.attributes["return_state"]:
            raise self.fault("`return_state` asks for the state behind the last word, which is not written yet")
        past = self._past(node, name, type_, before[:1], name)
        state = self._past(node, f"{name}/state", type_, before[1:], f"{name}/next")
        mapped = self._mapped(node, prefix, past, x.type.size, bias=False)
        sums = self._place("addto", f"{prefix}{node.name}.sums", (x, mapped), (f"{name}/sums",))
        attributes = {key: node.attributes[key] for key in ("act", "gate_act", "state_act", "peepholes")}
        outputs = (name, f"{name}/next")
        return self._place("lstm_step", prefix + node.name, (sums, state), outputs, node.params, **attributes)

    def grumemory(self, node: Node, inputs: list[_Value], prefix: str) -> _Value:
        """A `gru_step` with the layer's parameters."""
        (x, *before), name = inputs, _names(node, prefix)[0]
        type_ = Type.dense(x.type.size // 3)
        past = self._past(node, name, type_, before, name)
        attributes = {key: node.attributes[key] for key in ("act", "gate_act", "reset_after")}
        return self._place("gru_step", prefix + node.name, (x, past), (name,), node.params, **attributes)

    def expand(self, node: Node, inputs: list[_Value], prefix: str) -> _Value:
        """A row for each word is that row, for the one word that there is."""
        x, like = inputs
        name, names = prefix + node.name, _names(node, prefix)
        if not like.moving:
            return self._put(name, node.setup, inputs, names)[0]
        setup = _setup("linear", {})
        setup.activation = node.activation
        return self._put(name, setup, (x,), names)[0]

    def position_embedding(self, node: Node, inputs: list[_Value], prefix: str) -> _Value:
        """The row of the table for the number of the position, added."""
        (x,), name = inputs, _names(node, prefix)[0]
        self.places[f"{name}/place"] = node.attributes["max_length"]
        place = _Value(f"{name}/place", Type.ids(node.attributes["max_length"]), moving=True)
        row = self._place("embedding", prefix + node.name, (place,), (f"{name}/row",), node.params, size=x.type.size)
        return self._place("addto", f"{prefix}{node.name}.sum", (x, row), (name,))

    def multi_head_attention(self, node: Node, inputs: list[_Value], prefix: str) -> _Value:
        """One query for each text; of keys and values of the text itself, those of before are kept."""
        query, keys, values = inputs
        if (keys.moving or values.moving) and not node.attributes["causal"]:
            raise self.fault(
                "it looks at the words that are still to be written", "a text is written with `causal: true`"
            )
        name, own = _names(node, prefix)[0], prefix + node.name
        looking = self._one_row(query, f"{name}/query", own)
        seen = tuple(self._kept(value, f"{name}/{what}", own) for what, value in (("keys", keys), ("values", values)))
        attributes = {key: node.attributes[key] for key in ("num_heads", "scale")}
        found = self._place("multi_head_attention", own, (looking, *seen), (f"{name}/found",), **attributes)
        return self._place("seq_last", f"{own}.row", (found,), (name,))

    def _one_row(self, value: _Value, name: str, prefix: str) -> _Value:
        """The row of each text as a sequence."""
        one = _Value(ONE, _ONE, moving=True)
        return self._place("expand", f"{prefix}.{name}", (value, one), (f"{name}/one",))

    def _kept(self, value: _Value, name: str, prefix: str) -> _Value:
        """The rows of all positions up to this one; of the source, its own."""
        if not value.moving:
            return value
        self.carried.append(Carried(f"{name}/before", value.name, 0.0, value.type, grows=True))
        before = _Value(f"{name}/before", value.type._replace(level=1), moving=True)
        return self._place("seq_concat", f"{prefix}.{name}", (before, self._one_row(value, name, prefix)), (name,))

    def _past(self, node: Node, name: str, type_: Type, before: Sequence[_Value], following: str) -> _Value:
        """What a recurrent layer gave at the position before; `before` the first, a value of the source or zeros."""
        if node.attributes["reverse"]:
            raise self.fault("it runs from the end of the text to its start", "a text is written from its start")
        if any(value.moving for value in before):
            raise self.fault("what stands before its first row rests on the words of the text")
        boot = before[0].name if before else 0.0
        self.carried.append(Carried(f"{name}/before", following, boot, type_))
        return _Value(f"{name}/before", type_, moving=True)

    def _mapped(self, node: Node, prefix: str, past: _Value, size: int, *, bias: bool) -> _Value:
        name = prefix + node.name
        return self._place("fc", name, (past,), (f"{name}/mapped",), node.params, size=size, bias=bias)


FORMS = {
    "recurrent": _Cutter.recurrent,
    "lstmemory": _Cutter.lstmemory,
    "grumemory": _Cutter.grumemory,
    "expand": _Cutter.expand,
    "position_embedding": _Cutter.position_embedding,
    "multi_head_attention": _Cutter.multi_head_attention,
}
"""Layers that are another one, or several, where there is only one position."""


def _names(node: Node, prefix: str) -> tuple[str, ...]:
    return tuple(prefix.replace(".", "/") + name for name in node.output_names)


def _setup(layer: str, attributes: Mapping[str, Any], params: Mapping[str, ParamSettings] | None = None) -> Setup:
    definition = registries["layer"][layer]
    setup = Setup(definition, definition.bind(attributes))
    setup.params = dict(params or {})
    return setup


def _data(name: str, type_: Type) -> Node:
    """A data layer of this type."""
    given: dict[str, Any] = {"data_type": type_.kind, "seq_nested_level": type_.level}
    given |= {"size": type_.size} if type_.kind != "DENSE" else {"shape": type_.dims} if type_.dims else {}
    return Node(name, (), (name,), _setup("data", given), (), (type_,), 0)


def _needed(nodes: list[Node], values: Iterable[str]) -> list[Node]:
    """The layers that values rest on."""
    wanted, found = set(values), []
    for node in reversed(nodes):
        if not wanted.isdisjoint(node.output_names):
            wanted.update(node.inputs)
            found.append(node)
    return found[::-1]
