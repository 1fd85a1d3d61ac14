"""The name under the cursor: hover and go to definition; the layers of a document as its outline."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from paddle_layers.codegen.markdown import Markdown, block, code, escape
from paddle_layers.config import Node
from paddle_layers.config.binding.headers import HeaderField
from paddle_layers.config.reading.lexer import Token
from paddle_layers.config.reading.syntax_tree import VALUE, SyntaxBlock
from paddle_layers.config.trainingfiles import UNKNOWN_SIZE
from paddle_layers.config.wiring.nodes import parameter_shapes
from paddle_layers.define import Definition, LayerDefinition, Type, registries
from paddle_layers.define.fields.types import shape_text

from .block_schema import (
    BlockSchema,
    attribute_facts,
    attribute_text,
    definition_text,
    header_facts,
    header_field,
    header_text,
    schema_of,
)
from .document import Document, DocumentLayer


class Hover(NamedTuple):
    """Markdown about the range from `start` to `end`."""

    text: str
    start: int
    end: int


def hover(document: Document, offset: int) -> Hover | None:
    """Hover information about the word at an offset; None without any."""
    located = document.tree.at(offset)
    if located is None:
        return None
    token, (role, block, field) = located
    found = schema_of(block)
    if field is None or found is None:
        return None
    text = _value(document, block, field.name, token.word, found) if role == VALUE else ""
    text = text or _name(document, block, field.name, found)
    return Hover(text.replace(str(UNKNOWN_SIZE), "?"), token.start, token.end) if text else None


def _value(document: Document, block: SyntaxBlock, name: str, word: str, found: BlockSchema) -> str:
    """The target of a reference in a value; empty without any."""
    if found.header is None:
        return _activation(found, name, word)
    message = found.header.name
    if message == "Layer" and name in ("name", "type", "set"):
        layer = document.layer_of.get(id(block))
        return _layer(layer, layer.definition if layer is not None else found.definition)
    if message == "Block" and name == "name" and word in document.blocks:
        return _layer(None, document.blocks[word])
    if name == "type" and found.definition is not None:
        return _title(word, found.definition) + definition_text(found.definition)
    if name == "output" and message == "Layer":
        return _output(document, block, word)
    if name == "input" or (name == "output" and message in ("Step", "Block")):
        return _output(document, block, word)
    if name == "of":
        return _parameter(document, block, word)
    return ""


def _name(document: Document, block: SyntaxBlock, name: str, found: BlockSchema) -> str:
    """The documentation of a field, attribute or attribute block."""
    field = header_field(found, name)
    if field is not None and found.header is not None:
        return _header(found.header.name, field)
    definition = found.definition
    attribute = definition.attribute_by_name.get(name) if definition is not None else None
    if attribute is not None:
        return f"**{escape(attribute.name)}**: {code(attribute_facts(attribute))}\n\n{attribute_text(attribute)}"
    named = registries[found.registry].get(name) if found.header is not None and found.registry else None
    if named is None:
        return ""
    if found.registry == "layer" and named is definition:
        return _layer(document.layer_of.get(id(block)), named)
    return _title(name, named) + definition_text(named)


def _header(message: str, field: HeaderField) -> str:
    return f"**{escape(field.name)}**: {code(header_facts(field))}\n\n{header_text(message, field.name)}"


def _title(name: str, definition: Definition) -> str:
    return f"**{escape(name)}**: {definition.kind}\n\n"


def _activation(found: BlockSchema, name: str, word: str) -> str:
    """The layer that `act` names."""
    chosen: LayerDefinition | None = None
    if name == "act" and isinstance(found.definition, LayerDefinition) and "act" in found.definition.common:
        chosen = registries["layer"].get(word)
    return _title(word, chosen) + definition_text(chosen) if chosen is not None else ""


# ---- layers


def _layer(layer: DocumentLayer | None, definition: Definition | None) -> str:
    """A layer of the file: inferred types, then the description of its type."""
    parts: list[str] = []
    if layer is not None and layer.node is not None:
        parts += [f"**{escape(layer.name)}**: {code(layer.type)}", _inferred(layer.node)]
    elif definition is not None:
        parts.append(f"**{escape(definition.name)}**: {definition.kind}")
    if definition is not None:
        parts.append(definition_text(definition))
    return "\n\n".join(parts)


def _inferred(node: Node) -> Markdown:
    """Types and shapes as code, since editors render other text differently."""
    inputs = _types(zip(node.inputs, node.input_types, strict=True))
    outputs = _types(zip(node.output_names, node.output_types, strict=True))
    lines = [f"{inputs} → {outputs}".lstrip()]
    if shapes := parameter_shapes(node):
        lines.append("parameters " + ", ".join(f"{name} {shape_text(shape)}" for name, shape in shapes.items()))
    return block("\n".join(lines), "text")


def _types(pairs: Iterable[tuple[str, Type]]) -> str:
    return ", ".join(f"{name} {type_}" for name, type_ in pairs)


def _output(document: Document, block: SyntaxBlock, name: str) -> str:
    """The type of an output, and the layer that produces it."""
    known = document.type_of(name, block)
    if known is not None:
        node, type_ = known
        if name in [token.word for token in document.block_inputs(block)]:
            return f"{code(name)}: {code(type_)}\n\ninput of the block, as used by {code(node.name)}"
        made = f"output of {code(node.name)}, a layer of type {code(node.definition.name)}"
        return f"{code(name)}: {code(type_)}\n\n{made}"
    layers = document.producers(name, block)
    if not layers:
        return ""
    return f"{code(name)}: unknown type, since {code(layers[0].name)} or one of its inputs has an error"


def _parameter(document: Document, block: SyntaxBlock, name: str) -> str:
    """The shape and description of a parameter."""
    layer = document.layer_of.get(id(block.parent))
    if layer is None or layer.definition is None:
        return ""
    definition, own = _owner(layer.definition, layer.node, name)
    param = definition.params.get(own) or definition.params.get(own.rpartition("_")[0])
    if param is None:
        return ""
    shape = parameter_shapes(layer.node).get(name) if layer.node is not None else None
    shown = f": {shape_text(shape)}" if shape is not None else ""
    return f"**{escape(name)}**{shown}, axes {code(param.text)}\n\n{escape(param.doc)}"


def _owner(definition: LayerDefinition, node: Node | None, name: str) -> tuple[LayerDefinition, str]:
    """The layer whose parameter it is, and its name there: `gates.weight` is the `weight` of a part."""
    while node is not None and node.inside is not None and "." in name:
        part, _, name = name.partition(".")
        node = next((inner for inner in node.inside.nodes if inner.name == part), None)
        definition = node.definition if node is not None else definition
    return definition, name


# ---- go to definition, outline


class Target(NamedTuple):
    """A part of a file: `text` from `start` to `end`."""

    path: str
    text: str
    start: int
    end: int


class Symbol(NamedTuple):
    """A layer of the file: its block from `start` to `end`, its name from `name_start` to `name_end`."""

    name: str
    type: str
    start: int
    end: int
    name_start: int
    name_end: int


def definitions(document: Document, offset: int) -> list[Target]:
    """The layers that produce the output named at an offset, or the network file named there."""
    located = document.tree.at(offset)
    if located is None:
        return []
    token, (role, block, field) = located
    found = schema_of(block)
    if role != VALUE or field is None or found is None or found.header is None:
        return []
    if field.name == "input":
        return _producers(document, token.word, block)
    named = document.block_named(token.word) if (field.name, found.header.name) == ("type", "Layer") else None
    if named is not None:
        return [_target(document, name) for name in named.tokens("name")[:1]]
    if field.name == "network" and found.header.name == "Training":
        path = Path(document.path).parent / token.word
        return [Target(str(path), "", 0, 0)] if token.word and path.is_file() else []
    return []


def _producers(document: Document, name: str, block: SyntaxBlock) -> list[Target]:
    tokens = [layer.token for layer in document.producers(name, block) if layer.token is not None]
    tokens += [token for token in document.block_inputs(block) if token.word == name]
    if tokens:
        return [_target(document, token) for token in tokens]
    known, network = document.types.get(name), document.network
    if known is None or network is None:
        return []
    source, start = network.source, known[0].span[0]
    start += source.text[start : start + 1] in ("'", '"')
    return [Target(source.name, source.text, start, start + len(known[0].name))]


def _target(document: Document, token: Token) -> Target:
    return Target(document.path, document.text, *token.range)


def symbols(document: Document) -> list[Symbol]:
    """The layers of the file in the order of the text."""
    return [
        Symbol(layer.name, layer.type, layer.block.start, layer.block.end, *layer.token.range)
        for layer in document.layers
        if layer.token is not None and layer.name
    ]
