"""Shared parameters: all layers must agree on the shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paddle_layers.define import ShapeError

from ..binding.drafts import Draft
from ..diagnostics.report import Report
from .nodes import Node

First = dict[str, tuple[Node, str, tuple[int, ...]]]
"""The first parameter of each `share` name, and its shape."""


def check_shared(
    drafts: Sequence[Draft], found: Mapping[int, Node], first: First, report: Report, seen: set[tuple[str, int, int]]
) -> None:
    """Compare the shapes of parameters with the same `share` name; the first mismatch of each is reported."""
    for index, node in found.items():
        for name, settings in node.params.items():
            if settings.share is None:
                continue
            shape = parameter_shape(node, name)
            other, other_name, other_shape = first.setdefault(settings.share, (node, name, shape))
            if shape == other_shape:
                continue
            start = drafts[index].param_place(name, "share")
            if ("E212", start, 0) in seen:
                continue
            seen.add(("E212", start, 0))
            report.add(
                "E212",
                f"shared parameter `{settings.share}` has shape {_show(shape)} as `{name}` of layer `{node.name}`, "
                f"but {_show(other_shape)} as `{other_name}` of layer `{other.name}`",
                start,
                help="shared parameters must have the same shape",
                notes=(report.note(f"layer `{other.name}` is here", other.span[0]),),
            )


def parameter_shape(node: Node, name: str) -> tuple[int, ...]:
    """Shape of a parameter; `weight_1` is that of the second item of an input, `gates.weight` that of a part."""
    if node.inside is not None:
        part, _, name = name.partition(".")
        inner = next((inner for inner in node.inside.nodes if inner.name == part), None)
        return parameter_shape(inner, name) if inner is not None else ()
    params = node.definition.params
    item = 0
    if name not in params:
        name, _, number = name.rpartition("_")
        item = int(number) if number.isdecimal() else 0
    try:
        return node.definition.bind_axes(node.input_types, node.attributes).dims(params[name], item)
    except (ShapeError, IndexError, KeyError):  # an item that does not exist; the layer itself was checked before
        return ()


def _show(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "a scalar"
