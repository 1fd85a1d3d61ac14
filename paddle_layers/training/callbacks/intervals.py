"""Base of the callbacks that run at regular intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_layers.define import Int

if TYPE_CHECKING:
    from ..runs import Run


class Repeating:
    """Base of the callbacks that run every given number of steps or epochs."""

    every = Int("interval in steps", default=100, min=1)
    every_epochs = Int("interval in epochs, instead of steps: the last step of an epoch", min=1, optional=True)

    def due(self, run: Run) -> bool:
        """Whether the last step, which is done but for the update of the parameters, is one of these."""
        if not self.every_epochs:
            return run.step % self.every == 0
        return run.epochs > run.epoch and run.epochs % self.every_epochs == 0
