"""A network as a drawing: one box for each layer, one arrow for each value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .drawing import Box, draw

if TYPE_CHECKING:
    from paddle_layers.config import Network
    from paddle_layers.config.wiring.nodes import Node
    from paddle_layers.runtime.plan.footprint import Footprint


def picture(network: Network, costs: Footprint) -> str:
    """SVG text. Layers of one name in different phases stand side by side."""
    keys = {id(node): f"{number} {node.name}" for number, node in enumerate(network.nodes)}
    makers: dict[str, list[str]] = {}
    for node in network.nodes:
        for name in node.output_names:
            makers.setdefault(name, []).append(keys[id(node)])
    boxes = []
    for node in network.nodes:
        above = [key for name in node.inputs for key in makers[name] if key != keys[id(node)]]
        boxes.append(Box(keys[id(node)], _lines(node, costs), _style(node), above))
    return draw(boxes, network.name)


def _lines(node: Node, costs: Footprint) -> list[str]:
    activation = f" + {node.activation[0].name}" if node.activation else ""
    lines = [node.name, node.definition.name + activation, ", ".join(map(str, node.output_types))]
    parameters = costs.layers[node.name].parameters
    return [*lines, f"{parameters:,} parameters"] if parameters else lines


def _style(node: Node) -> str:
    facts = node.definition.facts
    styles = (("source", facts.is_source), ("loss", facts.has_loss), ("report", facts.has_stats))
    return next((style for style, holds in styles if holds), "weights" if facts.has_param else "")
