"""Callbacks: things that are told how a training goes.

A callback has any of the methods `on_step(run)`, `on_test(run)`, `on_epoch(run)` and `on_end(run)`. `run` is a `Run`:
it knows the step, the loss, the latest results of the test and the net, and `run.stop(reason)` ends the training after
this step. What has to outlive a checkpoint is given by `state()`, as JSON can hold it, and taken back by
`restore(state)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paddle_layers.define import Choice, Float, Int, String, callback

from .folders import BEST
from .problems import TrainingError

if TYPE_CHECKING:
    from .runs import Run

_MODES = {"min": "smaller values are better", "max": "larger values are better"}


class _Watching:
    """Shared by the callbacks that look for the best result of a test."""

    watch = String("what to look at: `loss`, or a statistic such as `accuracy`", default="loss")
    mode = Choice("which values are better", options=_MODES, default="min")

    def better(self, run: Run, best: float | None) -> float | None:
        """The new result if it beats `best`, else None; `TrainingError` when the test gives nothing of this name."""
        if self.watch not in run.results:
            known = ", ".join(f"`{name}`" for name in run.results)
            raise TrainingError(f"`watch` is `{self.watch}`, but the test gives {known}")
        value = run.results[self.watch]
        beaten = best is None or (value < best if self.mode == "min" else value > best)
        return value if beaten else None


@callback("early_stop")
class EarlyStop(_Watching):
    """Stops the training when a result of the test has not become better for a while."""

    patience = Int("tests without a better result before the training stops", default=5, min=1)
    margin = Float("a result counts as better from this difference on", default=0.0, min=0)

    def __init__(self) -> None:
        self._best: float | None = None
        self._worse = 0

    def on_test(self, run: Run) -> None:
        """Count the tests without a better result."""
        shift = 0.0 if self._best is None else self.margin if self.mode == "max" else -self.margin
        value = self.better(run, None if self._best is None else self._best + shift)
        if value is not None:
            self._best, self._worse = value, 0
            return
        self._worse += 1
        if self._worse >= self.patience:
            run.stop(f"`{self.watch}` has not become better than {self._best:.4g} for {self._worse} tests")

    def state(self) -> dict[str, Any]:
        """The best result, and the tests since."""
        return {"best": self._best, "worse": self._worse}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on counting."""
        self._best, self._worse = state["best"], state["worse"]


@callback("save_best")
class SaveBest(_Watching):
    """Saves the weights of the best result of the test as `best.safetensors` in the output folder."""

    def __init__(self) -> None:
        self._best: float | None = None

    def on_test(self, run: Run) -> None:
        """Save when this is the best result so far."""
        value = self.better(run, self._best)
        if value is not None:
            self._best = value
            run.net.save(str(run.folder / BEST))

    def state(self) -> dict[str, Any]:
        """The best result."""
        return {"best": self._best}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from the best result."""
        self._best = state["best"]


def states_of(callbacks: Sequence[object]) -> dict[str, Any]:
    """What the callbacks want to keep, by place and class."""
    return {
        f"{place} {type(listener).__name__}": listener.state()
        for place, listener in enumerate(callbacks)
        if hasattr(listener, "state")
    }


def restore_states(callbacks: Sequence[object], states: Mapping[str, Any]) -> None:
    """Give every callback what it wanted to keep; those that were not there before start afresh."""
    for place, listener in enumerate(callbacks):
        key = f"{place} {type(listener).__name__}"
        if key in states and hasattr(listener, "restore"):
            listener.restore(states[key])
