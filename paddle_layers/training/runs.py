"""State of a training, for callbacks and other listeners."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from paddle_layers.runtime import Net


class Best(NamedTuple):
    """The best validation (or test) according to `save_best`: the steps before it, and its results."""

    step: int
    results: Mapping[str, float]


@dataclass
class Run:
    """State of a training, for callbacks."""

    net: Net
    """The net that is trained."""
    folder: Path
    """Output folder."""
    total: int
    """Number of steps of the training."""
    say: Callable[[str], None] = print
    """Prints a line above the progress."""
    monitored: str = "test"
    """Phase of the evaluations during the training, `validation`, or `test` without validation data."""
    step: int = 0
    """Number of completed steps."""
    epoch: int = 0
    """Index of the epoch of the last step, from 0."""
    epochs: int = 0
    """Number of completed epochs; `epoch` + 1 after the last step of each epoch."""
    loss: float = float("nan")
    """Loss of the last step."""
    rate: float = 0.0
    """Learning rate of the last step."""
    results: dict[str, float] = field(default_factory=dict)
    """Results of the last validation by name, `loss` and metrics; of the last test, if there are no validation data."""
    test_results: dict[str, float] = field(default_factory=dict)
    """Results of the test at the end; empty before it, and without validation data, whose `results` are of tests."""
    best: Best | None = None
    """The validation (or test) whose weights were kept."""
    stopped: str = ""
    """Why the training ends before its last step; empty while it goes on."""

    def stop(self, reason: str) -> None:
        """End the training after this step.

        Args:
            reason: Reason, for the log; the first one counts.
        """
        # The first reason: it is the cause, later ones follow from it.
        self.stopped = self.stopped or reason
