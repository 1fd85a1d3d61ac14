"""Canonical text of networks: non-default values only, blocks as in the file, without comments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from paddle_layers.define import LayerDefinition

from ..binding.blocks import BlockDefinition, blocks_of
from ..binding.steps import GROUP
from ..wiring.nodes import Node
from .formatter import format_text
from .text import HEADER, fields_text, layer_fields, value_text


def network_text(name: str, nodes: Iterable[Node]) -> str:
    """The canonical text of a network: only what differs from the defaults."""
    nodes = list(nodes)
    title = f"name: {value_text(name)}\n\n" if name else ""
    blocks = "".join(block_text(block) + "\n" for block in blocks_of(_definitions(nodes)))
    layers = "".join(f"{fields_text({'layer': layer_fields(node)})}\n" for node in nodes)
    return format_text(HEADER + title + blocks + layers)


def block_text(block: BlockDefinition) -> str:
    """The canonical text of a block of a valid network."""
    from .binary import plain_fields  # lazy: most networks have no blocks, and importing protobuf is slow

    return format_text(fields_text({"block": plain_fields("Block", block.fields_in_file)}))


def _definitions(nodes: Iterable[Node]) -> Iterator[LayerDefinition]:
    """The definitions of some layers and of the layers in their steps."""
    for node in nodes:
        yield node.definition
        if node.inside is not None and node.definition.name == GROUP:
            yield from _definitions(node.inside.nodes)
