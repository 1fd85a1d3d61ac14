"""Learning curve: an SVG plot of the loss and the statistics over the steps, with round tick values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from paddle_layers.define.svg import element, image, label

_TICKS = 5
_DECADES = 2
"""From so many powers of ten on, positive numbers have a logarithmic axis."""
_SMALLEST = 1e-290
"""Values that differ by no more are one constant; what is below has no power of ten of full precision."""


class PlotAxis(NamedTuple):
    """Axis from `low` to `high`, which differ; `ticks` are positions on it with their labels."""

    low: float
    high: float
    ticks: list[tuple[float, str]]
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """Relative position of a value: 0 at the low end, 1 at the high end."""
        if self.logarithmic:
            low, high = math.log10(self.low), math.log10(self.high)
            return (math.log10(value) - low) / (high - low)
        return (value - self.low) / (self.high - self.low)


def value_axis(values: Sequence[float]) -> PlotAxis:
    """The axis of values up to 1e300: around a constant, logarithmic over more than two decades, from 0 where near."""
    if not values:
        return linear_axis(0, 1)
    low, high = min(values), max(values)
    if high - low <= max(1e-9 * max(abs(low), abs(high)), _SMALLEST):
        spread = abs(low) / 2 if abs(low) > _SMALLEST else 1.0
        return PlotAxis(low - spread, low + spread, [(low, f"{low:.4g}")])
    if low > _SMALLEST and high / low > 10**_DECADES:
        return _log_axis(low, high)
    return linear_axis(0.0 if 0 < low < high / 3 else low, high)


def linear_axis(low: float, high: float, *, whole: bool = False) -> PlotAxis:
    """Axis with ticks at multiples of 1, 2 or 5 times a power of ten; at least 1 if they are `whole`.

    The ends are ticks, too, except for integers, where the axis ends with the last value.
    """
    high = high if high > low else low + 1
    step = _round_step((high - low) / _TICKS)
    step = max(1.0, step) if whole else step
    if not math.isfinite(step) or step <= 0:
        return PlotAxis(low, high, [(low, f"{low:.3g}"), (high, f"{high:.3g}")])
    # Tolerance for quotients such as 0.3 / 0.1, which is below 3.
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    decimals = max(0, -math.floor(math.log10(step)))
    ticks = [(number * step, _text(number * step, decimals)) for number in range(first, last + 1)]
    if whole:
        return PlotAxis(low, high, [tick for tick in ticks if low <= tick[0] <= high])
    return PlotAxis(ticks[0][0], ticks[-1][0], ticks)


def _log_axis(low: float, high: float) -> PlotAxis:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(1, math.ceil((last - first) / _TICKS))
    ticks = [(10.0**power, f"{10.0**power:g}") for power in range(first, last + 1, every)]
    return PlotAxis(10.0**first, 10.0**last, ticks, logarithmic=True)


def _round_step(step: float) -> float:
    if step <= 0 or not math.isfinite(step):
        return step
    power = 10.0 ** math.floor(math.log10(step))
    return power * next(factor for factor in (1, 2, 5, 10) if step <= factor * power * (1 + 1e-9))


def _text(value: float, decimals: int) -> str:
    if value and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3g}"
    # Adding zero turns -0.0 into 0.0.
    return f"{value + 0.0:,.{decimals}f}"


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
