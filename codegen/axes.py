"""Diagram of a layer's axes: inputs and parameters left of the arrow, outputs right of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from paddle_layers.define import LayerDefinition
from paddle_layers.define.fields.axes import Axis
from paddle_layers.define.fields.tensors import Field
from paddle_layers.define.svg import element, image, label

# A fixed height for all layers, so that images are aligned on pages and in lists.
SIDE, DEPTH, GAP, TOP, HEIGHT = 56, 9, 34, 22, 122
# The text cannot be measured without a browser; this is the width of a letter of the monospace fonts at 13 px.
LETTER = 7.5
"""Width of a letter, to reserve space for a label."""

COLOURS = {"input": "#4c8dd6", "parameter": "#d98a2b", "output": "#3fa36b"}
STYLE = (
    "text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328}"
    "path,rect{stroke:#6e7781}"
    # Boxes are translucent and suit both color schemes; only text needs another color.
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}}"
)


class _Box(NamedTuple):
    """One tensor of the diagram."""

    name: str
    role: str
    axes: tuple[Axis, ...]
    several: bool


def axes_picture(layer: LayerDefinition) -> str:
    """The diagram as SVG; empty for a layer without tensors."""
    left = [_box(field, "input") for field in layer.inputs.values()]
    left += [_box(field, "parameter") for field in layer.params.values()]
    right = [_box(field, "output") for field in layer.outputs.values()]
    parts: list[str] = []
    x = 8.0
    for box in left:
        x = _tensor(parts, box, x) + GAP
    if left and right:
        x = _arrow(parts, x - GAP / 2)
    for box in right:
        x = _tensor(parts, box, x) + GAP
    width = max(x - GAP + 8, 40)
    title = f"Axes of {layer.name}: " + ", ".join(f"{b.name} [{_words(b.axes)}]" for b in (*left, *right))
    return image(width, HEIGHT, *parts, title=title, style=STYLE)


def _box(field: Field, role: str) -> _Box:
    return _Box(field.name, role, field.axes, field.repeatable or field.per is not None)


def _words(axes: Sequence[Axis]) -> str:
    return " ".join(_label(axis) for axis in axes) or "scalar"


def _label(axis: Axis) -> str:
    """`T in S` for grouped rows, dots after an axis that matches the remaining ones."""
    name = axis.name if axis.name == "..." or not axis.rest else f"{axis.name}..."
    return " in ".join(filter(None, (name, axis.group, axis.outer)))


def _tensor(parts: list[str], box: _Box, x: float) -> float:
    """Draw a tensor with its left edge at `x`; returns the right edge."""
    labels = [_label(axis) for axis in box.axes if axis.name != "1"]
    depth, down, across = _places(box, labels)
    x += LETTER * len(down) + 6
    back = DEPTH * (2 if depth else 0) or (DEPTH if box.several else 0)
    width = SIDE if across else 18
    height = SIDE if down or labels == ["..."] else 18
    centre = x + (width + back) / 2
    y = TOP + 2 * DEPTH
    parts.append(_text(centre, y - back - 8, box.name + (" ..." if box.several else "")))
    for step in range(back // DEPTH, -1, -1):
        place = {"x": x + step * DEPTH, "y": y - step * DEPTH, "width": width, "height": height}
        opacity = 0.35 if step == 0 else 0.15
        parts.append(element("rect", **place, fill=COLOURS[box.role], fill_opacity=opacity))
    if box.axes and box.axes[0].group and not depth:
        # Unequal cuts, because the sequences of a batch have different lengths.
        parts += [element("path", d=f"M{x:g} {y + height * cut:g}h{width}") for cut in (0.3, 0.75)]
    if down:
        parts.append(_text(x - 5, y + height / 2 + 4, down, "end"))
    if across:
        parts.append(_text(x + width / 2, y + height + 16, across))
    if depth:
        parts.append(_text(x + width + back + 5, y - back / 2 + 4, depth, "start"))
    edge = x + width + back + (LETTER * len(depth) + 6 if depth else 0)
    # A long name may be wider than its box.
    return max(edge, centre + LETTER * len(box.name) / 2)


def _places(box: _Box, labels: list[str]) -> tuple[str, str, str]:
    """Assignment of axes to depth, height and width: the last two are the sides, those before them the depth."""
    if box.role != "parameter" and len(labels) == 1:
        return ("", "", labels[0]) if labels[0] == "..." else ("", labels[0], "")
    if len(labels) == 1:
        return "", "", labels[0]
    if len(labels) <= 2:
        return "", (labels or [""])[0], (labels or [""])[-1]
    return ", ".join(labels[:-2]), labels[-2], labels[-1]


def _arrow(parts: list[str], x: float) -> float:
    y = TOP + 2 * DEPTH + SIDE / 2
    parts.append(element("path", d=f"M{x:g} {y:g}h28m-7 -5l7 5l-7 5", fill="none", stroke_width=1.6))
    return x + 28 + GAP / 2


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return label(text, x, y, text_anchor=anchor)
