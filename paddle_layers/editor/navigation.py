"""Go to definition: the origin of a name, and the layers of the document."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .block_schema import schema_of
from .document import Document
from .scanner import VALUE, Block, Token


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
    token = document.tree.at(offset)
    if token is None or token.role != VALUE or token.field is None:
        return []
    found = schema_of(document.tree, token.block)
    if found is None or found.header is None:
        return []
    word = document.tree.word(token)
    if token.field.name == "input":
        return _producers(document, word, token.block)
    block = document.block_named(word) if (token.field.name, found.header.name) == ("type", "Layer") else None
    if block is not None:
        return [_target(document, name) for name in block.tokens("name")[:1]]
    if token.field.name == "network" and found.header.name == "Training":
        path = Path(document.path).parent / word
        return [Target(str(path), "", 0, 0)] if word and path.is_file() else []
    return []


def _producers(document: Document, name: str, block: Block) -> list[Target]:
    tokens = [layer.token for layer in document.producers(name, block) if layer.token is not None]
    tokens += [token for token in document.block_inputs(block) if document.tree.word(token) == name]
    if tokens:
        return [_target(document, token) for token in tokens]
    known, network = document.types.get(name), document.network
    if known is None or network is None:
        return []
    source, start = network.source, known[0].span[0]
    start += source.text[start : start + 1] in ("'", '"')
    return [Target(source.name, source.text, start, start + len(known[0].name))]


def _target(document: Document, token: Token) -> Target:
    return Target(document.path, document.text, *document.tree.inside(token))


def symbols(document: Document) -> list[Symbol]:
    """The layers of the file in the order of the text."""
    return [
        Symbol(layer.name, layer.type, layer.block.start, layer.block.end, *document.tree.inside(layer.token))
        for layer in document.layers
        if layer.token is not None and layer.name
    ]
