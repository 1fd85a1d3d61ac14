"""Momentum schedule: the momentum of each step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from .problems import TrainingError
from .schedules import Staged

if TYPE_CHECKING:
    from paddle_layers.config.training import Training

CHECKED = 100_000
"""Steps that are looked at before a training begins; of a longer one as many, evenly."""


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
