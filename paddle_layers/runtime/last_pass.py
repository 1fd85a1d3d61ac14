"""State of the last forward pass of a net: its results belong to the thread that ran it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from paddle_layers.runtime.batch.feeding import Batch
from paddle_layers.runtime.batch.reading import rows_of
from paddle_layers.runtime.plan.losses import LossSum, loss_sums, total_loss
from paddle_layers.runtime.plan.phase import Phase
from paddle_layers.runtime.plan.plan import Plan

from .arguments import no_gradient


@dataclass(eq=False)
class LastPass:
    """A forward pass. It is recorded as a whole, so that no interrupt leaves a part of it."""

    phase: Phase
    plan: Plan
    batch: Batch
    thread: threading.Thread = field(default_factory=threading.current_thread)
    consumed: bool = False
    """Whether a backward pass has overwritten the values, or has begun to."""
    has_gradients: bool = False
    """Whether a backward pass has completed."""

    @functools.cached_property
    def loss(self) -> float:
        """The loss; read once, since a backward pass overwrites values."""
        return total_loss(self.loss_sums().values())

    def loss_sums(self) -> dict[str, LossSum]:
        """The losses by name, as sums."""
        return loss_sums(self.phase.graph, self.plan)

    def gradient(self, name: str, parameters: Container[str]) -> NDArray[Any]:
        """A copy of the gradient of a value. Raises `KeyError` if it does not exist, `RuntimeError` before backward."""
        if not isinstance(name, str) or name not in self.plan.gradients:
            raise no_gradient(name, self.plan.gradients, parameters)
        if not self.has_gradients:
            raise RuntimeError("no gradients: call backward after the last forward pass")
        return rows_of(self.plan, self.plan.gradients[name], self.phase.graph.values[name]).copy()

    @property
    def parts(self) -> tuple[Phase, Plan, Batch]:
        """Phase, plan and batch of the pass."""
        return self.phase, self.plan, self.batch

    def check_thread(self) -> None:
        """Raises `RuntimeError` in another thread than the one that ran the pass."""
        if self.thread is not threading.current_thread():
            raise RuntimeError("the last forward pass ran in another thread; use one Net per training thread")
