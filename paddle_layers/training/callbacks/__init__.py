"""Callbacks: things that are called while a training runs.

A callback has any of these methods, each given a `Run`:

    on_resume       before the first step, where the training goes on from a checkpoint
    on_gradients    before a step changes the parameters
    on_step         behind it
    on_test_batch   behind each batch of a test
    on_test         behind a test, while the parameters are their averages where the training has some
    after_test      when they are those of the step again
    on_epoch        behind an epoch
    on_end          at the end

Gradients of parameters outlive the backward pass for trainings with a callback that has on_gradients or on_step.
A `Run` knows the step, the loss, the latest results of the test and the net; `run.stop(reason)` ends the training after
this step, `run.say(text)` shows a line. What has to outlive a checkpoint is given by `state()`, as JSON can hold it,
and taken back by `restore(state)`. Files that the state needs are named by `files()`, as paths in the output folder:
each checkpoint has them, too, and puts them back. Where a training ends between two tests, one more follows; what it
changes is gone when the training goes on. Values of the network that it reads by `run.net.value(name)` and
`run.net.gradient(name)` are named in its attribute `keep`, where `*` stands for any text; its attribute `phase` is
"test" where it reads them behind batches of a test, and `reads_sparse` is True where they may be sparse rows, a `Csr`.
A result of the test that it needs is named in `watch`, those that it adds to `run.results` in `gives`; the
learning rate is multiplied by its attribute `rate_factor`, if it has one.
`prepare(base)` is called first, with the folder of the training file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from paddle_layers.define import registries
from paddle_layers.define.errors import brief

from ..problems import TrainingError

EVENTS = ("on_resume", "on_gradients", "on_step", "on_test_batch", "on_test", "after_test", "on_epoch", "on_end")


def check_callbacks(callbacks: Any) -> None:
    """Raises `TypeError` for what is no list of callbacks, and for an object that nothing would ever call."""
    if isinstance(callbacks, str) or not isinstance(callbacks, Iterable):
        raise TypeError(f"callbacks is a list of objects, not {brief(callbacks)}")
    for listener in callbacks:
        if isinstance(listener, type):
            raise TypeError(f"callbacks are objects: write {listener.__name__}(...), not the class")
        if not any(hasattr(listener, name) for name in (*EVENTS, "rate_factor")):
            raise TypeError(f"{brief(listener)} is no callback: it has none of the methods {', '.join(EVENTS)}")


def make_callback(name: str, **settings: Any) -> Any:
    """A registered callback with these settings, for `pl.train(..., callbacks=[...])`. Raises `InvalidAttributes`."""
    definition = registries["callback"][name]
    return definition.create(definition.bind(settings))


def states_of(callbacks: Sequence[object]) -> dict[str, Any]:
    """What the callbacks want to keep, by place and class."""
    return {
        f"{place} {type(listener).__name__}": listener.state()
        for place, listener in enumerate(callbacks)
        if hasattr(listener, "state")
    }


def restore_states(callbacks: Sequence[object], states: Mapping[str, Any], origin: str) -> None:
    """Give every callback what it wanted to keep; those that were not there before start afresh.

    Raises `TrainingError` that begins with `origin` where a callback can do nothing with it.
    """
    for place, listener in enumerate(callbacks):
        key = f"{place} {type(listener).__name__}"
        if key in states and hasattr(listener, "restore"):
            try:
                listener.restore(states[key])
            except (KeyError, TypeError, ValueError) as error:
                raise TrainingError(f"{origin}: the state of the callback `{key}` cannot be used: {error}") from error
