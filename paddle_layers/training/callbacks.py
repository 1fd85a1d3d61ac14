"""Callbacks: things that are called while a training runs.

A callback has any of the methods `on_step(run)`, `on_test_batch(run)`, `on_test(run)`, `on_epoch(run)` and
`on_end(run)`. `run` is a `Run`: it knows the step, the loss, the latest results of the test and the net, and
`run.stop(reason)` ends the training after this step; `run.say(text)` shows a line. What has to outlive a checkpoint is
given by `state()`, as JSON can hold it, and taken back by `restore(state)`. Values of the network that it reads by
`run.net.value(name)` and `run.net.gradient(name)` are named in its attribute `keep`; its attribute `phase` is "test"
where it reads them behind batches of a test. A result of the test that it needs is named in `watch`, those that it adds
to `run.results` in `gives`; the learning rate is multiplied by its attribute `rate_factor`, if it has one.
`prepare(base)` is called first, with the folder of the training file.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from paddle_layers.define import Choice, Float, Int, String, Strings, callback, registries

from .facts import is_count, is_number
from .problems import TrainingError
from .value_files import WriteValues  # noqa: F401  a file of its own; with this one it is registered

if TYPE_CHECKING:
    from .runs import Run

_MODES = {"min": "smaller values are better", "max": "larger values are better"}


class Watching:
    """Shared by the callbacks that look for the best result of a test."""

    watch = String("what to look at: `loss`, or a statistic such as `accuracy` or `chunks.F1`", default="loss")
    mode = Choice("which values are better", options=_MODES, default="min")

    def better(self, run: Run, best: float | None) -> float | None:
        """The new result if it beats `best`, else None; `TrainingError` when the test gives nothing of this name."""
        if self.watch not in run.results:
            known = ", ".join(f"`{name}`" for name in run.results)
            raise TrainingError(f"`watch` is `{self.watch}`, but the test gives {known}")
        value = run.results[self.watch]
        beaten = best is None or (value < best if self.mode == "min" else value > best)
        return value if beaten and not math.isnan(value) else None

    def better_by(self, run: Run, best: float | None, margin: float) -> float | None:
        """As `better`, where only a result counts that is better by the margin."""
        return self.better(run, None if best is None else best + (margin if self.mode == "max" else -margin))


class Waiting(Watching, ABC):
    """Shared by the callbacks that do something when no test has been better than the best one for a while."""

    patience: int
    margin: float

    def __init__(self) -> None:
        self._best: float | None = None
        self._worse = 0

    def on_test(self, run: Run) -> None:
        """Count the tests without a better result."""
        value = self.better_by(run, self._best, self.margin)
        if value is not None:
            self._best, self._worse = value, 0
            return
        self._worse += 1
        if self._worse >= self.patience:
            self.out_of_patience(run)

    @abstractmethod
    def out_of_patience(self, run: Run) -> None:
        """What is done then, and after each further test."""

    def state(self) -> dict[str, Any]:
        """The best result, and the tests since."""
        return {"best": self._best, "worse": self._worse}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on counting."""
        self._best, self._worse = _best(state), state["worse"]
        if not is_count(self._worse):
            raise ValueError("`worse` has to be a whole number from 0 on")


@callback("early_stop", elsewhere={"Keras": "EarlyStopping"})
class EarlyStop(Waiting):
    """Stops the training when a result of the test has not become better for a while."""

    patience = Int("tests without a better result before the training stops", default=5, min=1)
    margin = Float("a result counts as better from this difference on", default=0.0, min=0)

    def out_of_patience(self, run: Run) -> None:
        """Stop."""
        best = f"become better than {self._best:.4g}" if self._best is not None else "been a number"
        run.stop(f"`{self.watch}` has not {best} for {self._worse} tests")


@callback("plateau", elsewhere={"Keras": "ReduceLROnPlateau", "PyTorch": "ReduceLROnPlateau"})
class Plateau(Waiting):
    """Lowers the learning rate when a result of the test has not become better for a while.

    What the schedule gives is multiplied by `gamma` each time. Mocha's DecayOnValidation goes back to the last snapshot
    as well; this one goes on from where it is.
    """

    gamma = Float("what the learning rate is multiplied by", default=0.5, above=0, below=1)
    patience = Int("tests without a better result before the rate is lowered", default=1, min=1)
    margin = Float("a result counts as better from this difference on", default=0.0, min=0)
    floor = Float("the rate becomes no smaller than this share of what the schedule gives", default=0.0, min=0, max=1)

    def __init__(self) -> None:
        super().__init__()
        self.rate_factor = 1.0

    def out_of_patience(self, run: Run) -> None:
        """Lower the rate, and begin to count anew."""
        if self.rate_factor <= self.floor:
            return
        self.rate_factor, self._worse = max(self.rate_factor * self.gamma, self.floor), 0
        factor = f"{self.rate_factor:.3g} times what the schedule gives"
        run.say(f"step {run.step}: `{self.watch}` has not become better: the learning rate is {factor}")

    def state(self) -> dict[str, Any]:
        """The best result, the tests since, and the factor."""
        return {**super().state(), "factor": self.rate_factor}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on counting."""
        super().restore(state)
        self.rate_factor = state["factor"]
        if not is_number(self.rate_factor) or not 0 <= self.rate_factor <= 1:
            raise ValueError("`factor` has to be a number from 0 to 1")


@callback("save_best", elsewhere={"Keras": "ModelCheckpoint"})
class SaveBest(Watching):
    """Saves the weights of the best result of the test as `best.safetensors` in the output folder.

    `predict` takes these, and the closing words of the training name them.
    """

    def __init__(self) -> None:
        self._best: float | None = None
        self._step = 0
        self._results: dict[str, float] = {}

    def on_test(self, run: Run) -> None:
        """Save when this is the best result so far."""
        from .folders import BEST  # with it comes the runtime, which the check of a file does without

        value = self.better(run, self._best)
        if value is not None:
            self._best, self._step, self._results = value, run.step, dict(run.results)
            run.net.save(str(run.folder / BEST))

    def on_end(self, run: Run) -> None:
        """Say which test was the best."""
        from .runs import Best  # as above

        if self._best is not None:
            run.best = Best(self._step, self._results)

    def state(self) -> dict[str, Any]:
        """The best result, and the test it is of."""
        return {"best": self._best, "step": self._step, "results": self._results}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from the best result; checkpoints of earlier versions have nothing else."""
        self._best = _best(state)
        self._step, self._results = state.get("step", 0), state.get("results", {})
        if not is_count(self._step):
            raise ValueError("`step` has to be a whole number from 0 on")
        if not isinstance(self._results, dict) or {type(value) for value in self._results.values()} - {int, float}:
            raise ValueError("`results` has to be an object of numbers")


@callback(
    "print",
    elsewhere={"Paddle": "value_printer, gradient_printer, max_id_printer, seq_text_printer, print"},
)
class Print:
    """Shows values of the network while it learns, and their gradients: the first rows of a batch.

    `best: 1` shows the best class of every row, as Paddle's `max_id_printer`; with the labels beside it in `values`,
    where a row is wrong. With a `dictionary` ids are words, so sequences of ids are text, which Paddle's
    `seq_text_printer` writes into a file.
    """

    values = Strings("values that are shown", default=())
    gradients = Strings("values whose gradients are shown", default=())
    every = Int("steps between two times", default=100, min=1)
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

        if run.step % self.every:
            return
        for name in self.values:
            run.say(f"step {run.step}: {name}\n{value_text(run.net.value(name), self.rows, self.best, self._words)}")
        for name in self.gradients:
            run.say(f"step {run.step}: gradient of {name}\n{value_text(_gradient(run, name), self.rows, None, ())}")


def _best(state: Mapping[str, Any]) -> float | None:
    best = state["best"]
    if best is not None and not is_number(best):
        raise ValueError("`best` has to be a number or null")
    return cast("float | None", best)


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
