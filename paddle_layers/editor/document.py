"""Open documents: text, syntax tree, the results of the config reader, and problems at positions in the file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from paddle_layers.config import Diagnostic, Examined, Fix, Network, Node, Source, examine
from paddle_layers.config.binding.blocks import BlockDefinition, declared
from paddle_layers.config.binding.steps import GROUP
from paddle_layers.config.diagnostics.report import DiagnosticReport, TooManyFaults
from paddle_layers.config.reading.fields import BLOCK as FIELDS
from paddle_layers.config.reading.lexer import Token
from paddle_layers.config.reading.syntax import read
from paddle_layers.config.reading.syntax_tree import SyntaxBlock, SyntaxTree
from paddle_layers.define import LayerDefinition, Type, registries

STEP, BLOCK = "step", "block"

LARGEST = 2_000_000
"""Maximum length of a document that is analyzed during editing; a longer one would take seconds per change."""

_RELATED = 20
"""Maximum number of errors of another file that are listed at its name."""


class DocumentLayer(NamedTuple):
    """A layer of the text; `node` is the result of inference, None if the layer is invalid."""

    block: SyntaxBlock
    name: str
    type: str
    token: Token | None
    """The value of `name`."""
    node: Node | None
    definition: LayerDefinition | None
    """The definition that `type` names, registered or a block of the text."""


class Document:
    """One version of a file; `path` is its location, whose content may differ."""

    def __init__(self, text: str, path: str = "<text>") -> None:
        self.text, self.path = text, path

    @cached_property
    def tree(self) -> SyntaxTree:
        """Blocks, fields and tokens; empty for a document that is too large."""
        return SyntaxTree(self.text if len(self.text) <= LARGEST else "")

    @cached_property
    def examined(self) -> Examined:
        """Valid layers and errors. An unexpected exception of a plugin is an error, too."""
        if len(self.text) > LARGEST:
            message = f"the file is too large for the editor: {len(self.text):,} characters, maximum {LARGEST:,}"
            help_ = "check it with `paddle-layers validate`"
            return Examined(None, [Diagnostic("W002", message, Source(self.path, self.text), 0, help=help_)])
        try:
            return examine(self.text, self.path)
        except (Exception, SystemExit) as error:
            message = f"this file cannot be checked: a plugin or the library raised {type(error).__name__}: {error}"
            return Examined(None, [Diagnostic("E401", message, Source(self.path, self.text), 0)])

    @property
    def network(self) -> Network | None:
        """The valid layers of this file, or of the one that `network` names."""
        return self.examined.network

    @cached_property
    def layers(self) -> list[DocumentLayer]:
        """The layers in this text, including those in steps and blocks, in order."""
        nets = [part for net in self._nets for part in (net, *net.blocks(BLOCK))]
        found = (block for net in nets for block in _layer_blocks(net))
        return [self._layer(block) for block in sorted(found, key=lambda block: block.start)]

    @property
    def _nets(self) -> list[SyntaxBlock]:
        return [self.tree.root, *self.tree.root.blocks("net")]

    @cached_property
    def blocks(self) -> dict[str, BlockDefinition]:
        """The blocks of this text by name, as far as it can be parsed."""
        report, found = DiagnosticReport(Source(self.path, self.text)), []
        with contextlib.suppress(TooManyFaults):
            fields = read(report) if len(self.text) <= LARGEST else []
            found = [fields, *(field[2] for field in fields if field[0] == "net" and field[1] == FIELDS)]
        return {block.name: block for inner in found for block in declared(inner) if block.name}

    def block_named(self, name: str) -> SyntaxBlock | None:
        """The block of this text with a name."""
        found = (block for net in self._nets for block in net.blocks(BLOCK))
        return next((block for block in found if block.word("name") == name), None)

    def beside(self, block: SyntaxBlock) -> list[DocumentLayer]:
        """The layers of the network, or of the step, that contains a block."""
        net = net_of(block)
        return [layer for layer in self.layers if layer.block.parent is net]

    def group_around(self, block: SyntaxBlock) -> DocumentLayer | None:
        """The recurrent group whose step contains a block."""
        net = net_of(block)
        return self.layer_of.get(id(net.parent)) if net.name == STEP else None

    def block_inputs(self, block: SyntaxBlock) -> list[Token]:
        """The inputs of the block definition that contains a layer; empty outside of block definitions."""
        net = net_of(block)
        return net.tokens("input") if net.name == BLOCK else []

    def _layer(self, block: SyntaxBlock) -> DocumentLayer:
        tokens = block.tokens("name")
        token = tokens[0] if tokens else None
        name = token.word if token is not None else ""
        node = self._nodes.get(token.start) if token is not None else None
        kind = block.word("type")
        definition: LayerDefinition | None = registries["layer"].get(kind) if kind else None
        return DocumentLayer(block, name, kind, token, node, definition or self.blocks.get(kind))

    @cached_property
    def _nodes(self) -> dict[int, Node]:
        """Valid layers by the position of their names, at the quote."""
        network = self.network
        if network is None or network.source.own != self.text:
            return {}
        found: dict[int, Node] = {}
        for node in _with_inner(network.nodes):  # of several uses of a block, the first
            start = node.span[0]
            found.setdefault(start - (self.text[start : start + 1] not in ("'", '"')), node)
        return found

    @cached_property
    def uses(self) -> dict[str, Node]:
        """The first layer that uses each block."""
        found: dict[str, Node] = {}
        for node in _with_inner(self.network.nodes if self.network is not None else ()):
            if isinstance(node.definition, BlockDefinition):
                found.setdefault(node.definition.name, node)
        return found

    @cached_property
    def layer_of(self) -> dict[int, DocumentLayer]:
        """Layers by the identity of their blocks."""
        return {id(layer.block): layer for layer in self.layers}

    def producers(self, name: str, block: SyntaxBlock) -> list[DocumentLayer]:
        """The layers of this text that produce the output that a block calls `name`; several in different phases."""
        found = [layer for layer in self.beside(block) if name in self.output_names(layer)]
        group = self.group_around(block)
        return found if found or group is None else self.producers(name, group.block)

    def type_of(self, name: str, block: SyntaxBlock) -> tuple[Node, Type] | None:
        """The type of the output that a block calls `name`, and its producer, if that is valid."""
        own = self._types_by_net.get(id(net_of(block)), {})
        if name in own:
            return own[name]
        group = self.group_around(block)
        if group is None:
            return self._input_type(name, block) if net_of(block).name == BLOCK else self.types.get(name)
        found = self.type_of(name, group.block)
        if found is None or group.node is None or name in group.node.attributes["static"]:
            return found
        return found[0], found[1]._replace(level=max(found[1].level - 1, 0))

    def _input_type(self, name: str, block: SyntaxBlock) -> tuple[Node, Type] | None:
        """The type that an input of a block has in its first use, and the layer that uses it."""
        use = self.uses.get(net_of(block).word("name"))
        names = [token.word for token in self.block_inputs(block)]
        if use is None or name not in names or names.index(name) >= len(use.input_types):
            return None
        return use, use.input_types[names.index(name)]

    @cached_property
    def _types_by_net(self) -> dict[int, dict[str, tuple[Node, Type]]]:
        """Types of the outputs of valid layers, with the layer, by the identity of the enclosing network or step."""
        found: dict[int, dict[str, tuple[Node, Type]]] = {}
        for layer in self.layers:
            if layer.node is not None:
                _add_types(layer.node, found.setdefault(id(layer.block.parent), {}))
        return found

    def output_names(self, layer: DocumentLayer) -> tuple[str, ...]:
        """Names of a layer's outputs, as far as they are known."""
        if layer.node is not None:
            return layer.node.output_names
        given = tuple(filter(None, layer.block.words("output")))
        return given or ((layer.name,) if layer.name else ())

    @cached_property
    def types(self) -> dict[str, tuple[Node, Type]]:
        """Types of the outputs of valid layers, with the layer, in this file or the one that `network` names."""
        found: dict[str, tuple[Node, Type]] = {}
        for node in self.network.nodes if self.network is not None else ():
            _add_types(node, found)
        return found

    def data_layers(self) -> list[str]:
        """Outputs of the layers without inputs, which sources feed."""
        names = [name for name, (node, _) in self.types.items() if not node.definition.inputs]
        for layer in self.layers:
            if layer.definition is not None and not layer.definition.inputs:
                names += self.output_names(layer)
        return list(dict.fromkeys(names))


def _add_types(node: Node, found: dict[str, tuple[Node, Type]]) -> None:
    """The first producer of a name counts; others produce it in other phases."""
    for name, type_ in zip(node.output_names, node.output_types, strict=True):
        found.setdefault(name, (node, type_))


def net_of(block: SyntaxBlock) -> SyntaxBlock:
    """The innermost network, step or block definition around a block."""
    while block.parent is not None and block.name not in ("net", STEP, BLOCK):
        block = block.parent
    return block


def _layer_blocks(net: SyntaxBlock) -> Iterator[SyntaxBlock]:
    for block in net.blocks("layer"):
        yield block
        for step in block.blocks(STEP):
            yield from _layer_blocks(step)


def _with_inner(nodes: Iterable[Node]) -> Iterator[Node]:
    """Layers and those of their steps and blocks in the same text."""
    for node in nodes:
        yield node
        if node.inside is not None and (node.definition.name == GROUP or isinstance(node.definition, BlockDefinition)):
            yield from _with_inner(node.inside.nodes)


# ---- problems


class Related(NamedTuple):
    """Another position that belongs to a problem; an offset of `text`, the contents of `path`."""

    message: str
    path: str
    text: str
    start: int
    end: int


class Problem(NamedTuple):
    """An error in a range of the open file."""

    code: str
    severity: str
    message: str
    start: int
    end: int
    related: tuple[Related, ...] = ()
    fix: Fix | None = None


def problems(document: Document) -> list[Problem]:
    """All errors; those of the network file that a training file names are one error at its name."""
    faults = document.examined.faults
    own = [fault for fault in faults if fault.source.text is document.text]
    elsewhere = [fault for fault in faults if fault.source.text is not document.text]
    return [*_elsewhere(document, elsewhere), *map(_problem, own)]


def _problem(fault: Diagnostic) -> Problem:
    message = f"{fault.message}\n{fault.help}" if fault.help else fault.message
    related = []
    for note in fault.notes:
        if note.source is None:
            message += f"\n{note.message}"
        else:
            end = note.source.token_end(note.start)
            related.append(Related(note.message, note.source.name, note.source.text, note.start, end))
    end = min(fault.end, len(fault.source.text))  # a missing field is reported after the last character
    return Problem(fault.code, fault.severity, message, min(fault.start, end), end, tuple(related), fault.fix)


def _elsewhere(document: Document, faults: list[Diagnostic]) -> list[Problem]:
    if not faults:
        return []
    tokens = document.tree.root.tokens("network")
    start, end = (tokens[0].start, tokens[0].end) if tokens else (0, 0)
    first, count = faults[0], len(faults)
    message = f"{first.file}:{first.line}: {first.message}" + (f" (and {count - 1} more)" if count > 1 else "")
    related = tuple(Related(f.message, f.file, f.source.text, f.start, f.end) for f in faults[:_RELATED])
    severity = "error" if any(fault.severity == "error" for fault in faults) else "warning"
    return [Problem(first.code, severity, message, start, end, related)]
