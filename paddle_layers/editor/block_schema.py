"""The schema of the blocks of a document: messages, or attribute blocks of registered definitions."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from paddle_layers.config.binding.headers import HeaderField, MessageSpec, spec
from paddle_layers.define import Definition, registries

from .scanner import Block, Tree

UNDECIDED = "File"
"""Name of the header of a file that may still become a network file or a training file."""


class BlockSchema(NamedTuple):
    """A block with a header is a message; one without is the attribute block of its definition."""

    header: MessageSpec | None
    registry: str = ""
    """The registry of the `type` of a message."""
    definition: Definition | None = None


def schema_of(tree: Tree, block: Block) -> BlockSchema | None:
    """The schema of a block; None for an unknown block."""
    found: BlockSchema | None = BlockSchema(root_header(tree))
    for inner in block.path()[1:]:
        found = _inside(tree, found, inner)
        if found is None:
            return None
    return found


def root_header(tree: Tree) -> MessageSpec:
    """The header of the file: that of a network, of a training, or of both while either is possible."""
    names = {field.name for field in tree.root.fields}
    network, training = spec("Network"), spec("Training")
    if "layer" in names:
        return network
    if names & (set(training.fields) - set(network.fields)):
        return training
    return network if names & set(network.fields) else _either()


@cache
def _either() -> MessageSpec:
    return MessageSpec(UNDECIDED, spec("Network").fields | spec("Training").fields)


def header_field(found: BlockSchema, name: str) -> HeaderField | None:
    """The field of a message with this name."""
    return found.header.fields.get(name) if found.header is not None else None


def _inside(tree: Tree, outer: BlockSchema | None, block: Block) -> BlockSchema | None:
    if outer is None or outer.header is None:
        return None
    field = outer.header.fields.get(block.name)
    if field is not None and field.message:
        type_ = tree.first(block, "type") if field.registry else ""
        definition = registries[field.registry].get(type_) if type_ else None
        return BlockSchema(spec(field.message), field.registry, definition)
    if outer.registry:
        definition = registries[outer.registry].get(block.name)
        if definition is not None:
            return BlockSchema(None, outer.registry, definition)
    return None
