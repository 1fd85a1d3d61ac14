"""Confusion matrices as an image: one square per pair of classes, darker for a larger share of the row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from paddle_layers.define.escaping import xml_text

if TYPE_CHECKING:
    from paddle_layers.training.inference.confusion import Confusion

MOST_COUNTS = 30
"""Classes of a matrix whose squares have margin for their counts and names."""
_SIDE, _GAP, _LETTER = 640, 40, 7.2


def picture(title: str, confusions: Sequence[Confusion]) -> str:
    """SVG text: one matrix below the other."""
    parts: list[str] = []
    top, width = 34.0, 0.0
    for confusion in confusions:
        drawn, right, bottom = _matrix(confusion, top)
        parts += drawn
        top, width = bottom + _GAP, max(width, right)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 20:.0f}" height="{top:.0f}" font-family="sans-serif" '
        'font-size="12">'
    )
    background = '<rect width="100%" height="100%" fill="white"/>'
    heading = f'<text x="20" y="22" font-weight="bold">{xml_text(title)}</text>'
    return "\n".join([head, background, heading, *parts, "</svg>"]) + "\n"


def _matrix(confusion: Confusion, top: float) -> tuple[list[str], float, float]:
    """The matrix, and where it ends to the right and below."""
    names, size = confusion.names, len(confusion.names)
    named = size <= MOST_COUNTS
    shown = [name if len(name) <= 20 else f"{name[:19]}…" for name in names] if named else []
    cell = min(60.0, max(_SIDE / size, 1.0))
    margin = max((len(name) for name in shown), default=0) * _LETTER
    left, above = 44 + margin, top + 24 + (margin if margin > cell else 16)
    right, bottom = left + cell * size, above + cell * size
    parts = [
        f'<text x="20" y="{top + 14:.1f}">{xml_text(confusion.value)} vs. {xml_text(confusion.label)}: '
        f"accuracy {confusion.accuracy:.2%}</text>",
        f'<text transform="translate(16 {(above + bottom) / 2:.1f}) rotate(-90)" text-anchor="middle">'
        "target class</text>",
        f'<text x="{(left + right) / 2:.1f}" y="{bottom + 18:.1f}" text-anchor="middle">predicted class</text>',
    ]
    for k, row in enumerate(confusion.counts.tolist()):
        parts += _row(row, names, k, (left, above + cell * k), cell, counted=named)
    for place, name in enumerate(shown):
        middle = cell * (place + 0.5)
        parts.append(f'<text x="{left - 6:.1f}" y="{above + middle + 4:.1f}" text-anchor="end">{xml_text(name)}</text>')
        turn = " rotate(-90)" if margin > cell else ""
        anchor = "start" if turn else "middle"
        at = f"translate({left + middle + (4 if turn else 0):.1f} {above - 6:.1f}){turn}"
        parts.append(f'<text transform="{at}" text-anchor="{anchor}">{xml_text(name)}</text>')
    parts.append(
        f'<rect x="{left:.1f}" y="{above:.1f}" width="{cell * size:.1f}" height="{cell * size:.1f}" fill="none" '
        'stroke="#888"/>'
    )
    return parts, right, bottom + 18


def _row(
    counts: Sequence[float],
    names: Sequence[str],
    right: int,
    corner: tuple[float, float],
    cell: float,
    *,
    counted: bool,
) -> list[str]:
    """The squares of a target class: correct predictions are blue, errors orange; empty squares are omitted."""
    parts, total = [], sum(counts) or 1.0
    for place, count in enumerate(counts):
        share = count / total
        if count <= 0 and not counted:
            continue
        colour = "31,111,235" if place == right else "209,87,10"
        x, y = corner[0] + cell * place, corner[1]
        depth = math.sqrt(share)  # so that few mistakes are seen
        title = f"{xml_text(names[right])} predicted as {xml_text(names[place])}: {count:,g} ({share:.1%})"
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{cell:.1f}" height="{cell:.1f}" '
            f'fill="rgb({colour})" fill-opacity="{depth:.3f}"><title>{title}</title></rect>'
        )
        if counted:
            ink = "white" if depth > 0.7 else "#444"
            parts.append(
                f'<text x="{x + cell / 2:.1f}" y="{y + cell / 2 + 4:.1f}" text-anchor="middle" fill="{ink}" '
                f'pointer-events="none">{count:,g}</text>'
            )
    return parts
