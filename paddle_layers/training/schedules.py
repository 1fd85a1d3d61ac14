"""How the learning rate changes: `rate(base, step, total)`, with steps counted from 0 and their number `total`.

The formulas are those of Caffe's `lr_policy`; cosine is that of Loshchilov and Hutter (2017) without restarts.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from paddle_layers.define import Float, Floats, Int, Ints, InvalidAttributes, schedule

from .problems import TrainingError

if TYPE_CHECKING:
    from paddle_layers.config.training import ScheduleSettings


class Schedule(Protocol):
    """What a schedule has."""

    def rate(self, base: float, step: int, total: int) -> float:
        """Learning rate of a step."""
        ...


class _Rising:
    """Shared by the built-in schedules: a rise to the base rate before the schedule has its say."""

    warmup = Int("steps in which the rate first rises evenly to its base", default=0, min=0)


def rate_at(chosen: Schedule | None, base: float, step: int, total: int) -> float:
    """The rate of a step: the schedule's, or the base rate; times the rise of the first `warmup` steps.

    Raises `TrainingError` for a rate that is infinite, as that of a `gamma` above 1 is after many steps.
    """
    try:
        rate = base if chosen is None else chosen.rate(base, step, total)
    except OverflowError:
        rate = math.inf
    if not math.isfinite(rate):
        raise TrainingError(
            f"the schedule gives an infinite rate at step {step + 1}: make its factor smaller, or the training shorter"
        )
    return rate * rise(step, getattr(chosen, "warmup", 0))


class Staged:
    """Schedules one behind the other, as `schedule` blocks of a training file are: each counts its steps from 0."""

    def __init__(self, stages: Sequence[ScheduleSettings]) -> None:
        ends = [one.until for one in stages]
        starts = [0, *(end or 0 for end in ends)][: len(ends)]
        made = [one.definition.create(one.attributes) for one in stages]
        self._stages = list(zip(starts, ends, made, (one.base for one in stages), strict=True))

    def rate(self, base: float, step: int, total: int) -> float:
        """The rate of the stage that the step is in."""
        for start, end, chosen, own in self._stages:
            if end is None or step < end:
                return rate_at(chosen, base if own is None else own, step - start, (end or total) - start)
        return base


def rise(step: int, steps: int) -> float:
    """Share of the rate in a rise of so many steps: 1/steps at the first, 1 from the last on."""
    return min(1.0, (step + 1) / steps) if steps else 1.0


def _along_cosine(first: float, last: float, done: float) -> float:
    """From the first to the last number along half a cosine, with this share of the way done."""
    return last + (first - last) * 0.5 * (1.0 + math.cos(math.pi * done))


def logistic(x: float) -> float:
    """1 / (1 + exp(-x)), without overflow."""
    return 0.5 * (1.0 + math.tanh(0.5 * x))


@schedule("fixed", elsewhere={"Caffe": "fixed", "Mocha": "LRPolicy.Fixed", "Paddle": "constant"})
class Fixed(_Rising):
    """Always the base rate."""

    def rate(self, base: float, step: int, total: int) -> float:
        """base."""
        return base


@schedule("warmup")
class Warmup:
    """Rises evenly to the base rate in `steps` steps and stays. The others do the same by their `warmup`."""

    steps = Int("steps of the rise", min=1)

    def rate(self, base: float, step: int, total: int) -> float:
        """base * min(1, (step + 1) / steps)."""
        return base * rise(step, self.steps)


@schedule("step", elsewhere={"Caffe": "step", "Mocha": "LRPolicy.Step", "PyTorch": "StepLR"})
class Step(_Rising):
    """Multiplies the rate by `gamma` every `every` steps."""

    gamma = Float("factor", default=0.1, min=0)
    every = Int("steps between two changes", min=1, aliases=("stepsize",))

    def rate(self, base: float, step: int, total: int) -> float:
        """base * gamma ** (step // every)."""
        return base * self.gamma ** (step // self.every)


@schedule("multistep", elsewhere={"Caffe": "multistep", "Keras": "PiecewiseConstantDecay", "PyTorch": "MultiStepLR"})
class Multistep(_Rising):
    """Multiplies the rate by `gamma` at each of the steps `at`."""

    gamma = Float("factor", default=0.1, min=0)
    at = Ints("steps at which the rate changes", min=0, min_items=1, aliases=("stepvalue",))

    def rate(self, base: float, step: int, total: int) -> float:
        """base * gamma ** (number of entries of `at` that are at most step)."""
        return base * self.gamma ** bisect_right(sorted(self.at), step)


@schedule(
    "exp", elsewhere={"Caffe": "exp", "Mocha": "LRPolicy.Exp", "Keras": "ExponentialDecay", "PyTorch": "ExponentialLR"}
)
class Exponential(_Rising):
    """Multiplies the rate by `gamma` after every step."""

    gamma = Float("factor of one step", above=0)

    def rate(self, base: float, step: int, total: int) -> float:
        """base * gamma ** step."""
        return base * self.gamma**step


@schedule("inv", elsewhere={"Caffe": "inv", "Mocha": "LRPolicy.Inv", "Paddle": "poly"})
class Inverse(_Rising):
    """Falls like a power of the number of steps. Paddle's `poly` counts samples in place of steps."""

    gamma = Float("how fast it falls", default=1e-4, min=0)
    power = Float("exponent", default=0.75, min=0)

    def rate(self, base: float, step: int, total: int) -> float:
        """base * (1 + gamma * step) ** -power."""
        return float(base * (1.0 + self.gamma * step) ** -self.power)


@schedule(
    "poly", elsewhere={"Caffe": "poly", "Paddle": "caffe_poly", "Keras": "PolynomialDecay", "PyTorch": "PolynomialLR"}
)
class Polynomial(_Rising):
    """Falls to zero at the end of the training. Paddle's `caffe_poly` counts samples, up to a number that is given."""

    power = Float("exponent", default=1.0, min=0)

    def rate(self, base: float, step: int, total: int) -> float:
        """base * (1 - step / total) ** power; 0 after the end."""
        return float(base * max(0.0, 1.0 - step / max(total, 1)) ** self.power)


@schedule("linear", elsewhere={"Paddle": "linear"})
class Linear(_Rising):
    """Goes evenly to `to` times the base rate, and stays there. Paddle's counts samples, and says how fast it falls."""

    to = Float("last rate as a multiple of the base rate", default=0.0, min=0)
    steps = Int("steps until then; absent: all of the training", min=1, optional=True)

    def rate(self, base: float, step: int, total: int) -> float:
        """base * (1 + (to - 1) * min(1, step / steps))."""
        return float(base * (1.0 + (self.to - 1.0) * min(1.0, step / max(self.steps or total, 1))))


@schedule("piecewise", elsewhere={"Paddle": "manual, pass_manual"})
class Piecewise(_Rising):
    """Multiplies the base rate by a factor that is given for each piece: `at: [500, 800] factor: [0.5, 0.1]`.

    Paddle counts samples, or passes, in place of steps, and says where a piece ends.
    """

    at = Ints("steps at which pieces begin, rising; before the first one the rate is the base rate", min=0, min_items=1)
    factor = Floats("what the base rate is multiplied by in each of the pieces", min=0, min_items=1)

    def __init__(self) -> None:
        if len(self.at) != len(self.factor):
            problem = f"there are {len(self.at)} pieces in `at`, and {len(self.factor)} factors"
            raise InvalidAttributes("schedule `piecewise`", {"factor": problem})
        if any(later <= first for first, later in zip(self.at, self.at[1:], strict=False)):
            raise InvalidAttributes("schedule `piecewise`", {"at": "each piece begins behind the one before"})

    def rate(self, base: float, step: int, total: int) -> float:
        """base * factor[i] for the last i with at[i] <= step, else base."""
        piece = bisect_right(self.at, step)
        return float(base * self.factor[piece - 1]) if piece else base


@schedule("one_cycle", elsewhere={"PyTorch": "OneCycleLR"})
class OneCycle:
    """Rises to the base rate, then falls far below where it came from, both along half a cosine.

    Smith and Topin 2018, in the form of PyTorch's OneCycleLR, whose `max_lr` is the base rate here.
    """

    rise = Float("share of the steps in which it rises", default=0.3, min=0, max=1)
    start = Float("first rate as a multiple of the base rate", default=0.04, min=0)
    end = Float("last rate as a multiple of the base rate", default=4e-6, min=0)

    def rate(self, base: float, step: int, total: int) -> float:
        """base * (start to 1 in the first rise * total - 1 steps, then 1 to end)."""
        top, last = max(self.rise * total - 1.0, 0.0), max(total - 1.0, 0.0)
        if step < top:
            return base * _along_cosine(self.start, 1.0, step / top)
        return base * _along_cosine(1.0, self.end, min(1.0, (step - top) / (last - top)) if last > top else 0.0)


@schedule("sigmoid", elsewhere={"Caffe": "sigmoid"})
class Sigmoid(_Rising):
    """Goes along a logistic curve whose middle is at step `middle`; a negative `gamma` makes it fall."""

    gamma = Float("steepness")
    middle = Int("step at which the rate is half of the base rate", min=0, aliases=("stepsize",))

    def rate(self, base: float, step: int, total: int) -> float:
        """base / (1 + exp(-gamma * (step - middle)))."""
        return base * logistic(self.gamma * (step - self.middle))


@schedule("cosine")
class Cosine(_Rising):
    """Falls along half a cosine to `floor` times the base rate at the end of the training."""

    floor = Float("last rate as a share of the base rate", default=0.0, min=0, max=1)

    def rate(self, base: float, step: int, total: int) -> float:
        """base * (floor + (1 - floor) * (1 + cos(pi * step / total)) / 2)."""
        return base * _along_cosine(1.0, self.floor, min(1.0, step / max(total, 1)))
