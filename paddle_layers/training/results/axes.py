"""Plot axes: limits and round tick values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

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
