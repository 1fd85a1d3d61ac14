"""The learning curve: an SVG picture of the loss and the statistics over the steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from paddle_layers.define.escaping import xml_text

Series = Sequence[tuple[int, float]]

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 640, 200, 60, 30, 60
_COLOURS = ("#1f6feb", "#d1570a", "#2da44e", "#8250df")
_MARKS = 5


def picture(title: str, panels: Mapping[str, Mapping[str, Series]]) -> str:
    """SVG text: one panel above the other, each a name and its lines by name; empty lines are left out."""
    shown = {name: {label: line for label, line in lines.items() if line} for name, lines in panels.items()}
    shown = {name: lines for name, lines in shown.items() if lines}
    last = max((step for lines in shown.values() for line in lines.values() for step, _ in line), default=1)
    height = _TOP + len(shown) * (_HEIGHT + _GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + 20}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_LEFT}" y="18" font-weight="bold">{xml_text(title)}</text>',
    ]
    for number, (name, lines) in enumerate(shown.items()):
        parts += _panel(name, lines, _TOP + 20 + number * (_HEIGHT + _GAP), last)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(name: str, lines: Mapping[str, Series], top: int, last: int) -> list[str]:
    values = [value for line in lines.values() for _, value in line if math.isfinite(value)]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    low = 0.0 if 0 < low < high / 3 else low
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    bottom = top + _HEIGHT
    parts = [f'<text x="{_LEFT}" y="{top - 6}">{xml_text(name)}</text>']
    for mark in range(_MARKS):
        share = mark / (_MARKS - 1)
        y, x = bottom - share * _HEIGHT, _LEFT + share * _WIDTH
        parts.append(f'<path d="M{_LEFT} {y:.1f}h{_WIDTH}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{low + share * (high - low):.3g}</text>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{round(share * last)}</text>')
    for number, (label, line) in enumerate(lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        points = " ".join(
            f"{_LEFT + step / max(last, 1) * _WIDTH:.1f},{bottom - (value - low) / (high - low) * _HEIGHT:.1f}"
            for step, value in line
            if math.isfinite(value)
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        x = _LEFT + 100 + 90 * number
        parts.append(f'<text x="{x}" y="{top - 6}" fill="{colour}">{xml_text(label)}</text>')
    return parts
