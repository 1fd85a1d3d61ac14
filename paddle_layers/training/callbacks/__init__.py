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

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from paddle_layers.define import registries
from paddle_layers.define.errors import brief

from ..problems import TrainingError

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


def states_of(callbacks: Sequence[object]) -> dict[str, Any]:
    """The states of the callbacks, by position and class."""
    return {
        # By position and class: a list of callbacks that was changed between two sittings does not restore states of
        # others.
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
                raise TrainingError(f"{origin}: cannot restore the state of callback `{key}`: {error}") from error
