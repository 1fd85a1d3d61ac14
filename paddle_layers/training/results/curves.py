"""Learning curve: an SVG plot of the loss and the statistics over the steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from paddle_layers.define.svg import element, image, label

from .axes import PlotAxis, linear_axis, value_axis

Series = Sequence[tuple[int, float]]

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _GAP = 640, 200, 70, 20, 50, 64
_COLOURS = {"train": "#1f6feb", "validation": "#d1570a", "test": "#d1570a"}
_OTHERS = ("#2da44e", "#8250df", "#bf3989", "#57606a", "#0a7d91", "#9a6700", "#cf222e", "#116329")
_GREY = "#57606a"
_BACKGROUND = element("rect", width="100%", height="100%", fill="white")
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

    def line(self, points: str) -> str:
        """A line from `x,y x,y ...`, or along the commands of a path."""
        style = {"stroke": self.colour, "stroke_dasharray": self.dash}
        if points.startswith("M"):
            return element("path", d=points, **style, stroke_width=2)
        return element("polyline", points=points, fill="none", **style, stroke_width=1.6, stroke_linejoin="round")


def picture(title: str, panels: Mapping[str, Mapping[str, Series]]) -> str:
    """SVG text: one panel above the other, each a name and its lines by name; empty lines are left out.

    A line of one name looks the same in all panels, which say the names beside their own, or, where these are too many,
    a legend does. The step of the lowest loss, of the validation or test if there is one, is marked in all of them; the
    first panel is the loss.
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
    parts = [_BACKGROUND, label(title, _LEFT, 20, font_size=14, font_weight="bold"), *legend]
    for number, (name, lines) in enumerate(shown.items()):
        values = [value for line in lines.values() for _, value in line if _fits(value)]
        frame = _Panel(top + 20 + number * (_HEIGHT + _GAP), linear_axis(0, last, whole=True), value_axis(values))
        parts += [*_axes(name, frame), *_marked(best, frame, first=number == 0), *_lines(lines, pens, frame)]
        parts += [] if crowded else _labels(lines, pens, frame)
    return image(width, height, *parts, font_family="sans-serif", font_size=12)


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
    labels = [label for label in ("validation", "test") if label in lines] or list(lines)
    finite = [(value, step, label) for label in labels for step, value in lines[label] if _fits(value)]
    return min(finite)[:0:-1] if len(finite) > 1 else None


def _axes(name: str, frame: _Panel) -> Iterator[str]:
    bottom = frame.top + _HEIGHT
    yield label(name, _LEFT, frame.top - 8, font_weight="bold")
    if frame.values.logarithmic:
        yield label("log scale", _LEFT - 8, frame.top - 8, text_anchor="end", fill=_GREY, font_size=10)
    for value, text in frame.values.ticks:
        y = frame.y(value)
        yield element("path", d=f"M{_LEFT} {y:.1f}h{_WIDTH}", stroke="#e1e4e8")
        yield label(text, _LEFT - 8, y + 4, text_anchor="end")
    for step, text in frame.steps.ticks:
        yield element("path", d=f"M{frame.x(step):.1f} {bottom}v5", stroke=_GREY)
        yield label(text, frame.x(step), bottom + 18, text_anchor="middle")
    yield label("step", _LEFT + _WIDTH, bottom + 34, text_anchor="end", fill=_GREY)
    yield element("path", d=f"M{_LEFT} {frame.top}v{_HEIGHT}h{_WIDTH}", fill="none", stroke=_GREY)


def _marked(best: tuple[str, int] | None, frame: _Panel, *, first: bool) -> Iterator[str]:
    if best is None:
        return
    name, step = best
    x = frame.x(step)
    yield element("path", d=f"M{x:.1f} {frame.top}v{_HEIGHT}", stroke=_GREY, stroke_dasharray="4 3")
    if first:
        shift, anchor = (-6, "end") if x > _LEFT + _WIDTH / 2 else (6, "start")
        words = f"lowest {name} loss: step {step:,}"
        yield label(words, x + shift, frame.top + 12, fill=_GREY, font_size=11, text_anchor=anchor)


def _lines(lines: Mapping[str, Series], pens: Mapping[str, _Pen], frame: _Panel) -> Iterator[str]:
    # In reverse: the first line is above the others.
    for name, line in reversed(list(lines.items())):
        pen = pens[name]
        finite = [(frame.x(step), frame.y(value)) for step, value in line if _fits(value)]
        yield pen.line(" ".join(f"{x:.1f},{y:.1f}" for x, y in finite))
        if len(finite) <= _FEW:
            yield from (element("circle", cx=x, cy=y, r=2.2, fill=pen.colour) for x, y in finite)
        for step in (step for step, value in line if not _fits(value)):
            yield element("path", d=f"M{frame.x(step) - 3:.1f} {frame.top}l6 6m0 -6l-6 6", stroke=pen.colour)


def _labels(lines: Mapping[str, Series], pens: Mapping[str, _Pen], frame: _Panel) -> Iterator[str]:
    """The names of the lines, above their panel."""
    x = float(_LEFT + _WIDTH)
    for name in reversed(list(lines)):
        yield label(name, x, frame.top - 8, text_anchor="end", fill=pens[name].colour)
        x -= 7 * len(name) + 26
        yield pens[name].line(f"M{x + 6:.1f} {frame.top - 12}h14")
        x -= 8


def _legend(labels: Sequence[str], pens: Mapping[str, _Pen]) -> Iterator[str]:
    """The names of the lines, below the title."""
    for number, name in enumerate(labels):
        y = _TOP + number * _ROW
        yield pens[name].line(f"M{_LEFT} {y - 4}h24")
        yield label(name, _LEFT + 32, y)
