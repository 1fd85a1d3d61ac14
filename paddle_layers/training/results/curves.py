"""Learning curve: an SVG plot of the loss and the statistics over the steps.

It is generated here and not by a plotting library: matplotlib and its like need tens of megabytes, for a few lines and
ticks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from paddle_layers.define.escaping import xml_text

from .axes import PlotAxis, linear_axis, value_axis

Series = Sequence[tuple[int, float]]

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _GAP = 640, 200, 70, 20, 50, 64
_COLOURS = {"train": "#1f6feb", "test": "#d1570a"}
_OTHERS = ("#2da44e", "#8250df", "#bf3989", "#57606a", "#0a7d91", "#9a6700", "#cf222e", "#116329")
_DASHES = ("", "6 3", "2 3")
"""Dash patterns of further lines, once each color has been used once, then twice."""
_ROW = 16
"""Height of a line of the legend."""
_LARGEST = 1e300
"""Beyond it, sums and differences overflow: marked at the top like numbers that are not finite."""
_FEW = 40
"""Points of a line that are marked each."""


class _Panel(NamedTuple):
    """The position of a panel, and its axes."""

    top: float
    steps: PlotAxis
    values: PlotAxis

    def x(self, step: float) -> float:
        return _LEFT + self.steps.share(step) * _WIDTH

    def y(self, value: float) -> float:
        return self.top + (1 - self.values.share(value)) * _HEIGHT


class _Pen(NamedTuple):
    """Style of a line."""

    colour: str
    dash: str = ""

    @property
    def stroke(self) -> str:
        dash = f' stroke-dasharray="{self.dash}"' if self.dash else ""
        return f'stroke="{self.colour}"{dash}'


def picture(title: str, panels: Mapping[str, Mapping[str, Series]]) -> str:
    """SVG text: one panel above the other, each a name and its lines by name; empty lines are left out.

    A line of one name looks the same in all panels, which say the names beside their own, or, where these are too many,
    a legend does. The step of the lowest loss, on the test if there is one, is marked in all of them; the first panel
    is the loss.
    """
    shown = {name: {label: line for label, line in lines.items() if line} for name, lines in panels.items()}
    shown = {name: lines for name, lines in shown.items() if lines}
    labels = list(dict.fromkeys(label for lines in shown.values() for label in lines))
    pens = _pens(labels)
    last = max((step for lines in shown.values() for line in lines.values() for step, _ in line), default=1)
    best = _best(next(iter(shown.values()), {}))
    crowded = sum(map(_label_width, labels)) > _WIDTH - 7 * max(map(len, shown), default=0)
    legend = list(_legend(labels, pens)) if crowded else []
    top = _TOP + (_ROW * len(labels) + 8 if crowded else 0)
    width, height = _LEFT + _WIDTH + _RIGHT, top + len(shown) * (_HEIGHT + _GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_LEFT}" y="20" font-size="14" font-weight="bold">{xml_text(title)}</text>',
        *legend,
    ]
    for number, (name, lines) in enumerate(shown.items()):
        values = [value for line in lines.values() for _, value in line if _fits(value)]
        frame = _Panel(top + 20 + number * (_HEIGHT + _GAP), linear_axis(0, last, whole=True), value_axis(values))
        parts += [*_axes(name, frame), *_marked(best, frame, first=number == 0), *_lines(lines, pens, frame)]
        parts += [] if crowded else _labels(lines, pens, frame)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _pens(labels: Sequence[str]) -> dict[str, _Pen]:
    others = [label for label in labels if label not in _COLOURS]
    rounds = ((number // len(_OTHERS)) % len(_DASHES) for number in range(len(others)))
    pens = {
        label: _Pen(_OTHERS[number % len(_OTHERS)], _DASHES[again])
        for number, (label, again) in enumerate(zip(others, rounds, strict=True))
    }
    return pens | {label: _Pen(colour) for label, colour in _COLOURS.items()}


def _label_width(label: str) -> int:
    return 7 * len(label) + 34


def _fits(value: float) -> bool:
    return abs(value) <= _LARGEST


def _best(lines: Mapping[str, Series]) -> tuple[str, int] | None:
    """The run with the lowest loss, and its step; None if a line has fewer than two numbers."""
    labels = ["test"] if "test" in lines else list(lines)
    finite = [(value, step, label) for label in labels for step, value in lines[label] if _fits(value)]
    return min(finite)[:0:-1] if len(finite) > 1 else None


def _axes(name: str, frame: _Panel) -> Iterator[str]:
    bottom = frame.top + _HEIGHT
    yield f'<text x="{_LEFT}" y="{frame.top - 8}" font-weight="bold">{xml_text(name)}</text>'
    if frame.values.logarithmic:
        at = f'x="{_LEFT - 8}" y="{frame.top - 8}" text-anchor="end"'
        yield f'<text {at} fill="#57606a" font-size="10">log scale</text>'
    for value, text in frame.values.ticks:
        y = frame.y(value)
        yield f'<path d="M{_LEFT} {y:.1f}h{_WIDTH}" stroke="#e1e4e8"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
    for step, text in frame.steps.ticks:
        yield f'<path d="M{frame.x(step):.1f} {bottom}v5" stroke="#57606a"/>'
        yield f'<text x="{frame.x(step):.1f}" y="{bottom + 18}" text-anchor="middle">{text}</text>'
    yield f'<text x="{_LEFT + _WIDTH}" y="{bottom + 34}" text-anchor="end" fill="#57606a">step</text>'
    yield f'<path d="M{_LEFT} {frame.top}v{_HEIGHT}h{_WIDTH}" fill="none" stroke="#57606a"/>'


def _marked(best: tuple[str, int] | None, frame: _Panel, *, first: bool) -> Iterator[str]:
    if best is None:
        return
    label, step = best
    x = frame.x(step)
    yield f'<path d="M{x:.1f} {frame.top}v{_HEIGHT}" stroke="#57606a" stroke-dasharray="4 3"/>'
    if first:
        words = xml_text(f"lowest {label} loss: step {step:,}")
        end = x > _LEFT + _WIDTH / 2
        yield (
            f'<text x="{x + (-6 if end else 6):.1f}" y="{frame.top + 12}" fill="#57606a" font-size="11" '
            f'text-anchor="{"end" if end else "start"}">{words}</text>'
        )


def _lines(lines: Mapping[str, Series], pens: Mapping[str, _Pen], frame: _Panel) -> Iterator[str]:
    # In reverse: the first line is above the others.
    for label, line in reversed(list(lines.items())):
        pen = pens[label]
        finite = [(frame.x(step), frame.y(value)) for step, value in line if _fits(value)]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in finite)
        yield f'<polyline points="{points}" fill="none" {pen.stroke} stroke-width="1.6" stroke-linejoin="round"/>'
        if len(finite) <= _FEW:
            yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="{pen.colour}"/>' for x, y in finite)
        for step in (step for step, value in line if not _fits(value)):
            yield f'<path d="M{frame.x(step) - 3:.1f} {frame.top}l6 6m0 -6l-6 6" stroke="{pen.colour}"/>'


def _labels(lines: Mapping[str, Series], pens: Mapping[str, _Pen], frame: _Panel) -> Iterator[str]:
    """The names of the lines, above their panel."""
    x = float(_LEFT + _WIDTH)
    for label in reversed(list(lines)):
        pen = pens[label]
        at = f'x="{x:.1f}" y="{frame.top - 8}" text-anchor="end"'
        yield f'<text {at} fill="{pen.colour}">{xml_text(label)}</text>'
        x -= 7 * len(label) + 26
        yield f'<path d="M{x + 6:.1f} {frame.top - 12}h14" {pen.stroke} stroke-width="2"/>'
        x -= 8


def _legend(labels: Sequence[str], pens: Mapping[str, _Pen]) -> Iterator[str]:
    """The names of the lines, below the title."""
    for number, label in enumerate(labels):
        y = _TOP + number * _ROW
        yield f'<path d="M{_LEFT} {y - 4}h24" {pens[label].stroke} stroke-width="2"/>'
        yield f'<text x="{_LEFT + 32}" y="{y}">{xml_text(label)}</text>'
