"""Callbacks: objects that are called during a training.

A callback has any of these methods, each given a `Run`:

    on_resume       before the first step, where the training goes on from a checkpoint
    on_gradients    before a step changes the parameters
    on_step         after it
    on_test_batch   after each batch of a validation; of a test, if there are no validation data
    on_test         after a validation (test), with averaged weights if the training has weight averaging
    after_test      after the weights of the step are restored
    on_epoch        after an epoch
    on_end          at the end

Gradients of parameters outlive the backward pass for trainings with a callback that has on_gradients or on_step. A
`Run` knows the step, the loss, the latest results of the validation and the net; `run.stop(reason)` ends the training
after this step, `run.say(text)` shows a line. State that a checkpoint has to contain is returned by `state()`, as JSON
values, and restored by `restore(state)`. Files that the state needs are named by `files()`, as paths in the output
folder: each checkpoint contains and restores them. A training that ends between two tests runs one more; the changes of
that test are discarded when the training is resumed. Values of the network that it reads by `run.net.value(name)` and
`run.net.gradient(name)` are named in its attribute `keep`, where `*` matches any text; its attribute `phase` is "test"
if it reads them after batches of a test, and `reads_sparse` is True if they may be sparse rows, a `Csr`. A result of
the test that it needs is named in `watch`, those that it adds to `run.results` in `gives`; the learning rate is
multiplied by its attribute `rate_factor`, if it has one. `prepare(base)` is called first, with the folder of the
training file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from paddle_layers.define import Int, registries
from paddle_layers.define.errors import brief

if TYPE_CHECKING:
    from ..events import Event, Run, StepDone
    from ..processes.ranks import SingleProcess

HOOKS = ("on_resume", "on_gradients", "on_step", "on_test_batch", "on_test", "after_test", "on_epoch", "on_end")


def check_callbacks(callbacks: Any) -> None:
    """Raises `TypeError` for what is no list of callbacks, and for an object that nothing would ever call."""
    if isinstance(callbacks, str) or not isinstance(callbacks, Iterable):
        raise TypeError(f"callbacks must be a list of callback objects, not {brief(callbacks)}")
    for listener in callbacks:
        if isinstance(listener, type):
            raise TypeError(f"callbacks must be objects, not classes: write {listener.__name__}(...)")
        if not any(hasattr(listener, name) for name in (*HOOKS, "rate_factor")):
            raise TypeError(f"{brief(listener)} is not a callback: it has none of the methods {', '.join(HOOKS)}")


def make_callback(name: str, **settings: Any) -> Any:
    """A registered callback with these settings, for `pl.train(..., callbacks=[...])`. Raises `InvalidAttributes`."""
    definition = registries["callback"][name]
    return definition.create(definition.bind(settings))


class Repeating:
    """Base of the callbacks that run every given number of steps or epochs."""

    every = Int("interval in steps", default=100, min=1)
    every_epochs = Int("interval in epochs, instead of steps: the last step of an epoch", min=1, optional=True)

    def due(self, run: Run) -> bool:
        """Whether the last step, which is done but for the update of the parameters, is one of these."""
        if not self.every_epochs:
            return run.step % self.every == 0
        return run.epochs > run.epoch and run.epochs % self.every_epochs == 0


class CallbackList:
    """The callbacks of a training: calls of their hooks at its events, and their decisions in all processes."""

    def __init__(self, callbacks: Sequence[object], ranks: SingleProcess) -> None:
        # Files and messages would come from every process otherwise; decisions of callbacks are passed on by `ranks`.
        self.called = callbacks if ranks.first else ()
        self._ranks = ranks
        self._adapting = any(hasattr(listener, "rate_factor") for listener in callbacks)
        self._reloading = any(getattr(listener, "reload", False) for listener in callbacks)

    def call(self, hook: str, run: Run) -> None:
        """Call the method of this name of each callback that has it."""
        for listener in self.called:
            method = getattr(listener, hook, None)
            if method is not None:
                method(run)

    def hook(self, name: str) -> Callable[[Event], None]:
        """A listener that calls a hook."""
        return lambda event: self.call(name, event.run)

    def end_of_epoch(self, step: StepDone) -> None:
        """Call `on_epoch` after the last step of an epoch."""
        if step.due.epoch:
            self.call("on_epoch", step.run)

    def weights_restored(self, event: Event) -> None:
        """Call `after_test`; weights that a callback may have restored are then those of all processes."""
        self.call("after_test", event.run)
        if self._reloading:
            self._ranks.take_first(event.run.net)

    def rate_factor(self) -> float:
        """The factor of the learning rate."""
        if not self._adapting:
            return 1.0
        return self._ranks.of_first(math.prod(getattr(listener, "rate_factor", 1.0) for listener in self.called))
