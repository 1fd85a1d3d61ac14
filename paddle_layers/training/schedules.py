"""Schedules of learning rate and momentum: `rate(base, step, total)`, with steps from 0 and their number `total`.

The formulas are those of Caffe's `lr_policy`; cosine is that of Loshchilov and Hutter (2017) without restarts.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from paddle_layers.define import Float, Floats, Int, Ints, InvalidAttributes, schedule
from paddle_layers.define.errors import brief

from .problems import TrainingError

if TYPE_CHECKING:
    from paddle_layers.config.training import ScheduleSettings, Training

CHECKED_RATES = 1000
"""Steps whose learning rate is checked before a training begins, evenly; it is checked again in each step."""
CHECKED = 100_000
"""Steps that are looked at before a training begins; of a longer one as many, evenly."""


class RateSchedule(Protocol):
    """Interface of a learning-rate schedule."""

    def rate(self, base: float, step: int, total: int) -> float:
        """Learning rate of a step."""
        ...


class _Rising:
    """Base class of the built-in schedules: linear warmup to the base rate before the schedule begins."""

    warmup = Int("number of warmup steps, in which the rate rises linearly to its base", default=0, min=0)


def rate_at(chosen: RateSchedule | None, base: float, step: int, total: int) -> float:
    """Learning rate of a step: the schedule's, or the base rate; times the factor of the first `warmup` steps.

    Raises `TrainingError` for an infinite rate, as that of a `gamma` above 1 after many steps, and for a negative one.
    """
    try:
        rate = base if chosen is None else chosen.rate(base, step, total)
    except OverflowError:
        rate = math.inf
    if not isinstance(rate, (int, float, np.number)) or rate < 0:
        raise TrainingError(
            f"the schedule returned {brief(rate)} at step {step + 1}: `rate` of {type(chosen).__name__} must return a "
            "number >= 0"
        )
    if not math.isfinite(rate):
        raise TrainingError(
            f"the learning rate is infinite at step {step + 1}: reduce the factor of the schedule, or train fewer steps"
        )
    return float(rate) * rise(step, getattr(chosen, "warmup", 0))


class Staged:
    """Sequential schedules, as the `schedule` blocks of a training file: each counts its steps from 0."""

    def __init__(self, stages: Sequence[ScheduleSettings]) -> None:
        ends = [one.until for one in stages]
        starts = [0, *(end or 0 for end in ends)][: len(ends)]
        made = [one.definition.create(one.attributes) for one in stages]
        self._stages = list(zip(starts, ends, made, (one.base for one in stages), strict=True))

    def rate(self, base: float, step: int, total: int) -> float:
        """The rate of the stage of a step."""
        for start, end, chosen, own in self._stages:
            if end is None or step < end:
                return rate_at(chosen, base if own is None else own, step - start, (end or total) - start)
        return base


def momentum_at(training: Training, total: int) -> Callable[[int], float | None]:
    """The momentum by the number of the step, from 0; None where none is scheduled.

    Raises `ConfigError` where it would not stay from 0 to below 1.
    """
    if not training.momentum_schedule:
        return lambda _: None
    schedule, base = Staged(training.momentum_schedule), float(training.optimizer.attributes["momentum"])
    # Before the training: a momentum of 1 or more diverges, possibly only after days.
    for step in range(0, total, -(-total // CHECKED)):
        try:
            momentum = schedule.rate(base, step, total)
        except TrainingError:
            momentum = math.inf
        if not 0 <= momentum < 1:
            help_ = "end the schedule at an earlier step with `until` and add another `momentum_schedule`"
            message = f"the momentum is {momentum:.4g} at step {step}, must be below 1"
            raise training.error("momentum_schedule[0]", message, code="E103", help=help_)
    return lambda step: schedule.rate(base, step, total)


def check_rates(training: Training, total: int) -> None:
    """Raise `ConfigError` where a schedule returns a negative learning rate, or none."""
    schedule, base = Staged(training.schedule), training.optimizer.learning_rate
    for step in range(0, total, -(-total // CHECKED_RATES)):
        try:
            schedule.rate(base, step, total)
        except TrainingError as error:
            raise training.error("schedule[0]", str(error), code="E103") from None


def rise(step: int, steps: int) -> float:
    """Warmup factor of the rate: 1/steps at the first step, 1 from the last warmup step on."""
    return min(1.0, (step + 1) / steps) if steps else 1.0


def _along_cosine(first: float, last: float, done: float) -> float:
    """Cosine interpolation from the first to the last value, at the share `done`."""
    return last + (first - last) * 0.5 * (1.0 + math.cos(math.pi * done))


def logistic(x: float) -> float:
    """1 / (1 + exp(-x)), without overflow."""
    # `exp(-x)` overflows for large negative x; tanh saturates.
    return 0.5 * (1.0 + math.tanh(0.5 * x))


@schedule(
    "fixed",
    elsewhere={"Caffe": "fixed", "Mocha": "LRPolicy.Fixed", "Paddle": "constant"},
    terms=("constant learning rate",),
)
class Fixed(_Rising):
    """Constant learning rate: the base rate."""

    def rate(self, base: float, step: int, total: int) -> float:
        """Returns `base`."""
        return base


@schedule("warmup", terms=("linear warmup", "learning rate warmup"))
class Warmup:
    """Linear warmup to the base rate in `steps` steps, then constant. Other schedules have the attribute `warmup`."""

    steps = Int("number of warmup steps", min=1)

    def rate(self, base: float, step: int, total: int) -> float:
        """Returns `base * min(1, (step + 1) / steps)`."""
        return base * rise(step, self.steps)


@schedule("step", elsewhere={"Caffe": "step", "Mocha": "LRPolicy.Step", "PyTorch": "StepLR"}, terms=("step decay",))
class Step(_Rising):
    """Step decay: multiplies the rate by `gamma` every `every` steps."""

    gamma = Float("decay factor", default=0.1, min=0)
    every = Int("number of steps between two changes", min=1, aliases=("stepsize",))

    def rate(self, base: float, step: int, total: int) -> float:
        """Returns `base * gamma ** (step // every)`."""
        return base * self.gamma ** (step // self.every)


@schedule(
    "multistep",
    elsewhere={"Caffe": "multistep", "Keras": "PiecewiseConstantDecay", "PyTorch": "MultiStepLR"},
    terms=("multi-step decay", "milestones"),
)
class Multistep(_Rising):
    """Multi-step decay: multiplies the rate by `gamma` at each of the steps `at`."""

    gamma = Float("decay factor", default=0.1, min=0)
    at = Ints("steps at which the rate changes", min=0, min_items=1, aliases=("stepvalue",))

    def rate(self, base: float, step: int, total: int) -> float:
        """Returns `base * gamma ** n`, where n is the number of entries of `at` that are at most `step`."""
        return base * self.gamma ** bisect_right(sorted(self.at), step)


@schedule(
    "exp",
    elsewhere={"Caffe": "exp", "Mocha": "LRPolicy.Exp", "Keras": "ExponentialDecay", "PyTorch": "ExponentialLR"},
    terms=("exponential decay",),
)
class Exponential(_Rising):
    """Exponential decay: multiplies the rate by `gamma` after every step."""

    gamma = Float("decay factor per step", above=0)

    def rate(self, base: float, step: int, total: int) -> float:
        """Returns `base * gamma ** step`."""
        return base * self.gamma**step


@schedule(
    "inv",
    elsewhere={"Caffe": "inv", "Mocha": "LRPolicy.Inv", "Paddle": "poly"},
    terms=("inverse decay", "inverse time decay"),
)
class Inverse(_Rising):
    """Inverse decay: base * (1 + gamma * step) ** -power. Paddle's `poly` counts samples instead of steps."""

    gamma = Float("decay rate", default=1e-4, min=0)
    power = Float("exponent", default=0.75, min=0)

    def rate(self, base: float, step: int, total: int) -> float:
        """Returns `base * (1 + gamma * step) ** -power`."""
        return float(base * (1.0 + self.gamma * step) ** -self.power)


@schedule(
    "poly",
    elsewhere={"Caffe": "poly", "Paddle": "caffe_poly", "Keras": "PolynomialDecay", "PyTorch": "PolynomialLR"},
    terms=("polynomial decay",),
)
class Polynomial(_Rising):
    """Polynomial decay to zero at the end of the training. Paddle's `caffe_poly` counts samples, to a given number."""

    power = Float("exponent", default=1.0, min=0)

    def rate(self, base: float, step: int, total: int) -> float:
        """Returns `base * (1 - step / total) ** power`; 0 after the end."""
        return float(base * max(0.0, 1.0 - step / max(total, 1)) ** self.power)


@schedule("linear", elsewhere={"Paddle": "linear"}, terms=("linear decay", "LinearLR"))
class Linear(_Rising):
    """Linear decay or growth to `to` times the base rate, then constant.

    Paddle's counts samples, and has a decay per sample.
    """

    to = Float("final rate as a multiple of the base rate", default=0.0, min=0)
    steps = Int("number of steps until the final rate; absent: the whole training", min=1, optional=True)

    def rate(self, base: float, step: int, total: int) -> float:
        """Returns `base * (1 + (to - 1) * min(1, step / steps))`."""
        return float(base * (1.0 + (self.to - 1.0) * min(1.0, step / max(self.steps or total, 1))))


@schedule("piecewise", elsewhere={"Paddle": "manual, pass_manual"}, terms=("piecewise constant",))
class Piecewise(_Rising):
    """Piecewise constant learning rate, by a factor for each piece: `at: [500, 800] factor: [0.5, 0.1]`.

    Paddle counts samples, or passes, instead of steps, and lists the ends of the pieces.
    """

    at = Ints(
        "first steps of the pieces, in ascending order; before the first one the base rate holds", min=0, min_items=1
    )
    factor = Floats("factor of the base rate for each piece", min=0, min_items=1)

    def __init__(self) -> None:
        if len(self.at) != len(self.factor):
            problem = f"expected one factor per step in `at` ({len(self.at)}), got {len(self.factor)}"
            raise InvalidAttributes("schedule `piecewise`", {"factor": problem})
        if any(later <= first for first, later in zip(self.at, self.at[1:], strict=False)):
            raise InvalidAttributes("schedule `piecewise`", {"at": "steps must be in ascending order"})

    def rate(self, base: float, step: int, total: int) -> float:
        """Returns `base * factor[i]` for the last i with `at[i] <= step`, else `base`."""
        piece = bisect_right(self.at, step)
        return float(base * self.factor[piece - 1]) if piece else base


@schedule("one_cycle", elsewhere={"PyTorch": "OneCycleLR"}, terms=("one-cycle policy", "super-convergence"))
class OneCycle:
    """One-cycle policy: cosine rise to the base rate, then cosine decay far below the initial rate.

    Smith and Topin 2018, in the form of PyTorch's OneCycleLR, whose `max_lr` is the base rate here.
    """

    rise = Float("share of the steps in which the rate rises", default=0.3, min=0, max=1)
    start = Float("initial rate as a multiple of the base rate", default=0.04, min=0)
    end = Float("final rate as a multiple of the base rate", default=4e-6, min=0)

    def rate(self, base: float, step: int, total: int) -> float:
        """Returns `base` times: start to 1 in the first `rise * total - 1` steps, then 1 to end."""
        # PyTorch counts from 0 to total - 1: the last step has exactly the final rate.
        top, last = max(self.rise * total - 1.0, 0.0), max(total - 1.0, 0.0)
        if step < top:
            return base * _along_cosine(self.start, 1.0, step / top)
        return base * _along_cosine(1.0, self.end, min(1.0, (step - top) / (last - top)) if last > top else 0.0)


@schedule("sigmoid", elsewhere={"Caffe": "sigmoid"}, terms=("sigmoid decay", "logistic"))
class Sigmoid(_Rising):
    """Sigmoid schedule: a logistic curve centered at the step `middle`; a negative `gamma` makes it a decay."""

    gamma = Float("slope; negative for a decay")
    middle = Int("step at which the rate is half of the base rate", min=0, aliases=("stepsize",))

    def rate(self, base: float, step: int, total: int) -> float:
        """Returns `base / (1 + exp(-gamma * (step - middle)))`."""
        return base * logistic(self.gamma * (step - self.middle))


@schedule(
    "cosine",
    terms=("cosine decay", "cosine annealing"),
)
class Cosine(_Rising):
    """Cosine decay (cosine annealing) to `floor` times the base rate at the end of the training."""

    floor = Float("final rate as a share of the base rate", default=0.0, min=0, max=1)

    def rate(self, base: float, step: int, total: int) -> float:
        """Returns `base * (floor + (1 - floor) * (1 + cos(pi * step / total)) / 2)`."""
        return base * _along_cosine(1.0, self.floor, min(1.0, step / max(total, 1)))
