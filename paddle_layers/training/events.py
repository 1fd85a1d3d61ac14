"""Events and state of a training: listeners hear the kinds that concern them, in a fixed order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from paddle_layers.runtime import Net
    from paddle_layers.runtime.plan.metrics import LossSum


class Due(NamedTuple):
    """Actions that are due after a step, in this order."""

    report: bool
    """A line of the log and of the progress, which also precedes every test and every checkpoint."""
    test: bool
    epoch: bool
    """The hook `on_epoch` of callbacks."""
    save: bool


@dataclass(frozen=True)
class Event:
    """Base class of the events of a training."""

    run: Run


@dataclass(frozen=True)
class GradientsReady(Event):
    """The gradients of a step are computed, and its parameters not updated yet."""


@dataclass(frozen=True)
class StepDone(Event):
    """A step is done."""

    costs: Mapping[str, LossSum]
    """Sums of the costs; empty if the step was skipped, as its values were not finite."""
    rows: int
    """Rows of its batches, in all processes."""
    due: Due


@dataclass(frozen=True)
class Reported(Event):
    """The log has a new line."""

    losses: Mapping[str, float]
    """Mean losses since the last line."""
    statistics: Mapping[str, float]


@dataclass(frozen=True)
class TestBatchDone(Event):
    """The forward pass of a batch of the first source of an evaluation during the training is done."""


@dataclass(frozen=True)
class TestDone(Event):
    """`run.results` are new; the parameters are the averaged ones, if the training has weight averaging."""

    notes: Sequence[str]
    """References to explanations of results that are NaN, at the first test."""


@dataclass(frozen=True)
class FinalTestDone(Event):
    """`run.test_results` are new: the test at the end of a training with validation data."""

    weights_of: int
    """Number of completed steps of the tested weights: those that `save_best` kept, else those of the last step."""


@dataclass(frozen=True)
class WeightsRestored(Event):
    """After a test, the parameters are those of the last step again."""


E = TypeVar("E", bound=Event)


class Events:
    """Calls listeners for each event, in the order in which they were added for its kind."""

    def __init__(self) -> None:
        self._listeners: defaultdict[type[Event], list[Callable[[Any], None]]] = defaultdict(list)

    def listen(self, kind: type[E], *listeners: Callable[[E], None]) -> None:
        """Add listeners for a kind of event."""
        self._listeners[kind].extend(listeners)

    def emit(self, event: Event) -> None:
        """Call the listeners for this kind of event."""
        for listener in self._listeners[type(event)]:
            listener(event)

    def close(self) -> None:
        """Remove all listeners.

        They hold this object, too: without the reference cycle, files of data are closed at the end of a training and
        not when the garbage collector runs.
        """
        self._listeners.clear()


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
