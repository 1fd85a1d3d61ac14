"""Callbacks: things that are called while a training runs.

A callback has any of these methods, each given a `Run`:

    on_gradients    before a step changes the parameters
    on_step         behind it
    on_test_batch   behind each batch of a test
    on_test         behind a test, while the parameters are their averages where the training has some
    after_test      when they are those of the step again
    on_epoch        behind an epoch
    on_end          at the end

A `Run` knows the step, the loss, the latest results of the test and the net; `run.stop(reason)` ends the training after
this step, `run.say(text)` shows a line. What has to outlive a checkpoint is given by `state()`, as JSON can hold it,
and taken back by `restore(state)`. Values of the network that it reads by `run.net.value(name)` and
`run.net.gradient(name)` are named in its attribute `keep`, where `*` stands for any text; its attribute `phase` is
"test" where it reads them behind batches of a test. A result of the test that it needs is named in `watch`, those that
it adds to `run.results` in `gives`; the learning rate is multiplied by its attribute `rate_factor`, if it has one.
`prepare(base)` is called first, with the folder of the training file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle_layers.define import Int, String, Strings, callback, registries

from .debugging import Debug  # noqa: F401  a file of its own, as the next two; with this one they are registered
from .problems import TrainingError
from .repeating import Repeating
from .value_files import WriteValues  # noqa: F401
from .watching import EarlyStop, Plateau, SaveBest  # noqa: F401

if TYPE_CHECKING:
    from .runs import Run


@callback(
    "print",
    elsewhere={"Paddle": "value_printer, gradient_printer, max_id_printer, seq_text_printer, print"},
)
class Print(Repeating):
    """Shows values of the network while it learns, and their gradients: the first rows of a batch.

    `best: 1` shows the best class of every row, as Paddle's `max_id_printer`; with the labels beside it in `values`,
    where a row is wrong. With a `dictionary` ids are words, so sequences of ids are text, which Paddle's
    `seq_text_printer` writes into a file.
    """

    values = Strings("values that are shown", default=())
    gradients = Strings("values whose gradients are shown", default=())
    rows = Int("rows of a batch that are shown; sequences where these are ids", default=3, min=1)
    best = Int("shows so many of a row's best columns in place of all, as `column:value`", min=1, optional=True)
    dictionary = String(
        "file of the words of ids, one on each line, or a tokenizer.json, relative to the training file", default=""
    )

    def __init__(self) -> None:
        self.keep = (*self.values, *self.gradients)
        self._words: Sequence[str] = ()

    def prepare(self, base: Path) -> None:
        """Read the dictionary."""
        from paddle_layers.data.dictionaries import read_words

        if self.dictionary:
            self._words = read_words(base / self.dictionary)

    def on_step(self, run: Run) -> None:
        """Show them when it is time."""
        from .printing import value_text

        if not self.due(run):
            return
        for name in self.values:
            run.say(f"step {run.step}: {name}\n{value_text(run.net.value(name), self.rows, self.best, self._words)}")
        for name in self.gradients:
            run.say(f"step {run.step}: gradient of {name}\n{value_text(_gradient(run, name), self.rows, None, ())}")


def _gradient(run: Run, name: str) -> Any:
    try:
        return run.net.gradient(name)
    except KeyError:
        raise TrainingError(
            f"`gradients` names `{name}`, but nothing asks for its gradient: no layer before it learns; "
            "`propagate_down: true` in a layer that reads it makes it computed"
        ) from None


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
