"""A network as one self-contained HTML page: its diagram, its layers, its errors, its layers' pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import jinja2
from markdown_it import MarkdownIt

from paddle_layers.config import render_text
from paddle_layers.config.binding.blocks import BlockDefinition
from paddle_layers.config.writing.canonical import block_text
from paddle_layers.define.machine import as_bytes

from .network_picture import picture
from .pages import page
from .words import config_text

if TYPE_CHECKING:
    from paddle_layers.config import Network
    from paddle_layers.config.diagnostics.diagnostic import Diagnostic
    from paddle_layers.config.wiring.nodes import Node
    from paddle_layers.define import LayerDefinition
    from paddle_layers.runtime.plan.dry_run import Footprint


class LayerRow(NamedTuple):
    """A layer on the page."""

    path: str
    name: str
    type: str
    kind: str
    inputs: list[tuple[str, str, str]]
    """Name, type and path of the layer that makes it; no path where it comes from outside."""
    outputs: list[tuple[str, str]]
    settings: list[tuple[str, str]]
    """Attributes that are not at their defaults."""
    parameters: list[tuple[str, int]]
    training: str
    inside: list[LayerRow]


def network_page(network: Network, costs: Footprint, faults: Sequence[Diagnostic], batch_size: int) -> str:
    """HTML text; `faults`: what a check of its file found."""
    rows = _rows(network.nodes, costs, "")
    used = {row.type: None for row in _all(rows)}
    definitions = {node.definition.name: node.definition for node in _nodes(network.nodes)}
    return _environment().get_template("network.html.j2").render(
        title=network.name or "network",
        faults=render_text(faults) if faults else "",
        picture=picture(network, costs, lambda path: f"#layer-{quote(path)}"),
        rows=rows,
        pages=[(name, _html(definitions[name])) for name in sorted(used)],
        parameters=f"{costs.parameters:,}",
        training=as_bytes(costs.training),
        inference=as_bytes(costs.inference),
        batch_size=batch_size,
        count=len(network.nodes),
    )  # fmt: skip


def _rows(nodes: Iterable[Node], costs: Footprint, path: str) -> list[LayerRow]:
    makers: dict[str, str] = {}
    rows = []
    for node in nodes:
        own = path + node.name
        rows.append(
            LayerRow(
                own,
                node.name,
                node.definition.name,
                node.definition.name + (f" + {node.activation[0].name}" if node.activation else ""),
                [
                    (name, str(type_), makers.get(name, ""))
                    for name, type_ in zip(node.inputs, node.input_types, strict=False)
                ],
                [(name, str(type_)) for name, type_ in zip(node.output_names, node.output_types, strict=False)],
                _settings(node),
                [
                    (name.removeprefix(f"{own}."), size)
                    for name, size in costs.sizes.items()
                    if name.startswith(f"{own}.") and (node.inside is None or not path)
                ],
                as_bytes(costs.layers[node.name].training) if not path else "",
                _rows(node.inside.nodes, costs, f"{own}.") if node.inside is not None else [],
            )
        )
        makers |= dict.fromkeys(node.output_names, own)
    return rows


def _settings(node: Node) -> list[tuple[str, str]]:
    """Attributes that say something else than their default does."""
    found = []
    for name, value in node.attributes.items():
        attribute = node.definition.attribute_by_name.get(name)
        if attribute is not None and value is not None:
            usual = node.attributes[attribute.default_from] if attribute.default_from else attribute.default
            if value != usual:
                found.append((name, config_text(value)))
    return found


def _all(rows: Iterable[LayerRow]) -> Iterable[LayerRow]:
    for row in rows:
        yield row
        yield from _all(row.inside)


def _nodes(nodes: Iterable[Node]) -> Iterable[Node]:
    for node in nodes:
        yield node
        if node.inside is not None:
            yield from _nodes(node.inside.nodes)


def _html(definition: LayerDefinition) -> str:
    """The page of a layer; its anchors would be those of other pages too."""
    if isinstance(definition, BlockDefinition):
        text = f"# {definition.name}\n\nA block of this file.\n\n```textproto\n{block_text(definition)}```\n"
    else:
        text = re.sub(r'<a id="[^"]*"></a>', "", page(definition, formulas=False))
    return str(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))


def _environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    # Names of layers are untrusted text in HTML here, unlike in the Markdown pages, which escape by `finalize`.
    environment = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, autoescape=True, trim_blocks=True)
    environment.filters["quote"] = quote
    return environment
