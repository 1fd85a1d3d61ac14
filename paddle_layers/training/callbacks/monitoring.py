"""Callbacks that monitor test results: early stopping, learning rate on plateau, best weights."""

from __future__ import annotations

import math
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from paddle_layers.define import Bool, Choice, Float, Int, String, callback
from paddle_layers.define.output_folders import existing_folder, make_folder, open_folder, remove_matching

from ..checkpoints.state import is_count, is_number
from ..events import Best, Run
from ..problems import TrainingError

BEST, BEST_FOLDER, RELOADED = "best.safetensors", "best", "plateau"
"""File of the best weights; folders of several best weights, and of the weights that `plateau` restores."""
_MODES = {"min": "smaller values are better", "max": "larger values are better"}


class Watching:
    """Base class of the callbacks that monitor the best result of a validation or test."""

    watch = String("result to monitor: `loss`, or a metric such as `accuracy` or `chunks.F1`", default="loss")
    mode = Choice(
        "whether smaller or larger values are better; required if it is unknown for this result, as for those of other "
        "callbacks",
        options=_MODES,
        optional=True,
    )

    known_mode = "min"
    """The mode of the result where it is not set, from the layer that computes the result."""

    @property
    def smaller_is_better(self) -> bool:
        """Whether the result is minimized."""
        return (self.mode or self.known_mode) == "min"

    def better(self, run: Run, best: float | None) -> float | None:
        """The new result if it improves on `best`, else None; `TrainingError` for an unknown result."""
        if self.watch not in run.results:
            known = ", ".join(f"`{name}`" for name in run.results)
            raise TrainingError(f"unknown {run.monitored} result `{self.watch}` in `watch`; available: {known}")
        value = run.results[self.watch]
        beaten = best is None or (value < best if self.smaller_is_better else value > best)
        return value if beaten and not math.isnan(value) else None

    def better_by(self, run: Run, best: float | None, margin: float) -> float | None:
        """As `better`, for improvements of at least the margin.

        0.2 is better than 0.3 by 0.1, though the difference of these two floats is 2e-17 less: it may be off by their
        rounding errors.
        """
        value = self.better(run, best)
        if value is None or best is None:
            return value
        rounding = 2 * sys.float_info.epsilon * max(abs(best), abs(value))
        return value if abs(value - best) >= margin - rounding else None


class Waiting(Watching, ABC):
    """Base class of the callbacks that act after several validations without an improvement."""

    patience: int
    margin: float

    def __init__(self) -> None:
        self._best: float | None = None
        self._worse = 0

    def on_test(self, run: Run) -> None:
        """Count the tests without an improvement."""
        value = self.better_by(run, self._best, self.margin)
        if value is not None:
            self._best, self._worse = value, 0
            return
        self._worse += 1
        if self._worse >= self.patience:
            self.out_of_patience(run)

    @abstractmethod
    def out_of_patience(self, run: Run) -> None:
        """The action at the end of the patience, and after each further test."""

    def state(self) -> dict[str, Any]:
        """The best result, and the number of tests since."""
        return {"best": self._best, "worse": self._worse}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the counter."""
        self._best, self._worse = _best(state), state["worse"]
        if not is_count(self._worse):
            raise ValueError("`worse` must be an integer >= 0")


@callback("early_stop", elsewhere={"Keras": "EarlyStopping"}, terms=("early stopping", "patience", "overfitting"))
class EarlyStop(Waiting):
    """Early stopping: ends the training after `patience` validations without an improvement.

    Without validation data it acts on the tests.
    """

    patience = Int("patience: number of validations without an improvement before the training stops", default=5, min=1)
    margin = Float("minimum improvement (`min_delta`), itself included", default=0.0, min=0)

    def out_of_patience(self, run: Run) -> None:
        """Stop the training."""
        what = f"not improved on {self._best:.4g}" if self._best is not None else "been NaN"
        run.stop(f"`{self.watch}` has {what} for {self._worse} {run.monitored}s")


@callback(
    "plateau",
    elsewhere={"Keras": "ReduceLROnPlateau", "PyTorch": "ReduceLROnPlateau", "Mocha": "DecayOnValidation"},
    terms=("reduce learning rate on plateau",),
)
class Plateau(Waiting):
    """Reduces the learning rate on a plateau: after `patience` validations without an improvement.

    The rate of the schedule is multiplied by `gamma` each time. With `reload: true` the training continues from the
    weights of the best validation, as Mocha's DecayOnValidation does from its snapshot; the states of the optimizer are
    kept. Without validation data it acts on the tests.
    """

    gamma = Float("factor of the learning rate", default=0.5, above=0, below=1)
    patience = Int(
        "patience: number of validations without an improvement before the rate is reduced", default=1, min=1
    )
    margin = Float("minimum improvement (`min_delta`), itself included", default=0.0, min=0)
    floor = Float("minimum learning rate as a share of the rate of the schedule", default=0.0, min=0, max=1)
    reload = Bool("whether the training then restores the weights of the best validation", default=False)

    def __init__(self) -> None:
        super().__init__()
        self.rate_factor = 1.0
        self._step = 0  # of the best test
        self._back = False

    def on_test(self, run: Run) -> None:
        """Count the tests without an improvement."""
        best, self._back = self._best, False
        super().on_test(run)
        self._step = run.step if self._best != best else self._step

    def after_test(self, run: Run) -> None:
        """Save the weights of the best test, or restore them."""
        if not self.reload or self._best is None:
            return
        file = run.folder / self.files()[0]
        if self._step == run.step:
            make_folder(run.folder / RELOADED)
            run.net.save(str(file))
            self.on_resume(run)
        # Only after the test in which the rate was reduced, and not at every test without an improvement.
        elif self._back:
            run.net.load(str(file), layout="paddle_layers")
            run.say(f"step {run.step}: restored the weights of step {self._step}")

    def files(self) -> list[str]:
        """The weights of the best test, if the training may restore them."""
        known = self.reload and self._best is not None
        return [f"{RELOADED}/{_plain(self.watch)}-{self._step:08d}.safetensors"] if known else []

    def on_resume(self, run: Run) -> None:
        """Remove weights of other tests; checkpoints contain those that they restore."""
        pattern = re.compile(re.escape(_plain(self.watch)) + r"-[0-9]{8,15}\.safetensors")
        _remove_others(run.folder, RELOADED, pattern, self.files())

    def out_of_patience(self, run: Run) -> None:
        """Reduce the rate and reset the counter."""
        if self.rate_factor <= self.floor:
            return
        self._back = True
        self.rate_factor, self._worse = max(self.rate_factor * self.gamma, self.floor), 0
        factor = f"{self.rate_factor:.3g} times that of the schedule"
        run.say(f"step {run.step}: `{self.watch}` has not improved; the learning rate is now {factor}")

    def state(self) -> dict[str, Any]:
        """The best result with its step, the number of tests since, and the factor."""
        return {**super().state(), "factor": self.rate_factor, "step": self._step}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the counter."""
        super().restore(state)
        self.rate_factor = state["factor"]
        if not is_number(self.rate_factor) or not 0 <= self.rate_factor <= 1:
            raise ValueError("`factor` must be a number from 0 to 1")
        self._step = _step(state)


@callback("save_best", elsewhere={"Keras": "ModelCheckpoint"}, terms=("best checkpoint", "model checkpoint"))
class SaveBest(Watching):
    """Saves the best weights of the training, by the validation, as `best.safetensors` in the output folder.

    `predict` uses them by default, and the report at the end of the training names them. With `best_tests: 3` the three
    best are also in the folder `best`, each with its step. With validation data, the test at the end uses the best
    weights; without, it acts on the tests.
    """

    best_tests = Int("number of best validations (tests) whose weights are kept", default=1, min=1, max=1000)

    def __init__(self) -> None:
        self._best: float | None = None
        self._step = 0
        self._results: dict[str, float] = {}
        self._kept: list[tuple[float, int]] = []
        self._restored = False

    def on_test(self, run: Run) -> None:
        """Save the weights if this result is the best so far, or among the best."""
        value = self.better(run, self._best)
        if value is not None:
            self._best, self._step, self._results = value, run.step, dict(run.results)
            run.net.save(str(run.folder / BEST))
        if self.best_tests > 1 and not math.isnan(run.results[self.watch]):
            self._keep(run, run.results[self.watch])

    def _keep(self, run: Run, value: float) -> None:
        """Save the weights if they are among the best; of equal results the first are kept."""
        found = sorted([*self._kept, (value, run.step)], key=lambda one: one[0] * (1 if self.smaller_is_better else -1))
        self._kept = found[: self.best_tests]
        if (value, run.step) in self._kept:
            make_folder(run.folder / BEST_FOLDER)
            run.net.save(str(run.folder / _step_file(run.step)))
        _remove_others(run.folder, BEST_FOLDER, _STEP_FILE, self.files())

    def files(self) -> list[str]:
        """The weights that are kept."""
        return ([BEST] if self._best is not None else []) + [_step_file(step) for _, step in self._kept]

    def on_resume(self, run: Run) -> None:
        """Remove weights of tests after the checkpoint."""
        if self._restored and self._best is None:
            remove_matching(run.folder, BEST)
        _remove_others(run.folder, BEST_FOLDER, _STEP_FILE, self.files())

    def on_end(self, run: Run) -> None:
        """Report the best test."""
        if self._best is not None:
            run.best = Best(self._step, self._results)

    def state(self) -> dict[str, Any]:
        """The best result with its step, and the list of kept weights."""
        return {"best": self._best, "step": self._step, "results": self._results, "kept": self._kept}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from the best result; checkpoints of earlier versions have nothing else."""
        self._best, self._restored = _best(state), True
        self._step, self._results = _step(state), state.get("results", {})
        kept = state.get("kept", [])
        if not isinstance(kept, list) or not all(map(_is_kept, kept)):
            raise ValueError("`kept` must be a list of results with their steps")
        self._kept = [(value, step) for value, step in kept]
        if not isinstance(self._results, dict) or {type(value) for value in self._results.values()} - {int, float}:
            raise ValueError("`results` must be an object of numbers")


def _best(state: Mapping[str, Any]) -> float | None:
    best = state["best"]
    if best is not None and not is_number(best):
        raise ValueError("`best` must be a number or null")
    return cast("float | None", best)


def _step(state: Mapping[str, Any]) -> int:
    step = state.get("step", 0)
    if not is_count(step):
        raise ValueError("`step` must be an integer >= 0")
    return cast("int", step)


def _is_kept(one: Any) -> bool:
    return isinstance(one, list) and len(one) == 2 and is_number(one[0]) and is_count(one[1])


_STEP_FILE = re.compile(r"step-[0-9]{8,}\.safetensors")


def _step_file(step: int) -> str:
    return f"{BEST_FOLDER}/step-{step:08d}.safetensors"


def _plain(name: str) -> str:
    """The name of a result as part of a file name."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:100]


def _remove_others(folder: Path, name: str, pattern: re.Pattern[str], kept: Sequence[str]) -> None:
    """Remove the files of a callback from a subfolder of the output, except for those in `kept`."""
    with existing_folder(folder / name) as own:
        if own is not None:
            for file in filter(pattern.fullmatch, own.names()):
                if f"{name}/{file}" not in kept:
                    own.remove(file)


def clear_watched(folder: Path) -> None:
    """Remove the weights that callbacks of an earlier training have saved besides the best ones."""
    with open_folder(folder) as whole:
        for name in (BEST_FOLDER, RELOADED):
            remove_matching(folder / name, "*-[0-9]*.safetensors")
            whole.remove_empty(name)
