"""Callbacks: objects that are called during a training.

A callback has any of these methods, each given a `Run`:

    on_resume       before the first step, where the training goes on from a checkpoint
    on_gradients    before a step changes the parameters
    on_step         after it
    on_test_batch   after each batch of a test
    on_test         after a test, with averaged weights if the training has weight averaging
    after_test      after the weights of the step are restored
    on_epoch        after an epoch
    on_end          at the end

Gradients of parameters outlive the backward pass for trainings with a callback that has on_gradients or on_step. A
`Run` knows the step, the loss, the latest results of the test and the net; `run.stop(reason)` ends the training after
this step, `run.say(text)` shows a line. State that a checkpoint has to contain is returned by `state()`, as JSON
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

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from paddle_layers.define import Int, registries
from paddle_layers.define.errors import brief

if TYPE_CHECKING:
    from ..runs import Run

EVENTS = ("on_resume", "on_gradients", "on_step", "on_test_batch", "on_test", "after_test", "on_epoch", "on_end")


def check_callbacks(callbacks: Any) -> None:
    """Raises `TypeError` for what is no list of callbacks, and for an object that nothing would ever call."""
    if isinstance(callbacks, str) or not isinstance(callbacks, Iterable):
        raise TypeError(f"callbacks must be a list of callback objects, not {brief(callbacks)}")
    for listener in callbacks:
        if isinstance(listener, type):
            raise TypeError(f"callbacks must be objects, not classes: write {listener.__name__}(...)")
        if not any(hasattr(listener, name) for name in (*EVENTS, "rate_factor")):
            raise TypeError(f"{brief(listener)} is not a callback: it has none of the methods {', '.join(EVENTS)}")


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
