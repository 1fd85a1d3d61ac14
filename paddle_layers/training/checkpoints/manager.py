"""Checkpoints of a training: save the state of its parts when it is due, and restore it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_layers.data import Position
from paddle_layers.runtime import DeviceError
from paddle_layers.runtime.memory.weights import OURS

from ..problems import TrainingError
from ..results.folders import CHECKPOINTS
from .files import CARRIED, FACTS, OPTIMIZER, WEIGHTS, newest_checkpoint, read_facts, read_states, save_checkpoint
from .state import MOST, names_of, restore_state_files, restore_states, states_of

if TYPE_CHECKING:
    from pathlib import Path

    from paddle_layers.config.training import Training

    from ..events import StepDone
    from ..nan_checks import FiniteWeights
    from ..processes.ranks import SingleProcess
    from ..results.metrics_logger import MetricsLogger
    from ..training_step import TrainingStep


class CheckpointManager:
    """Saves and restores what a training consists of: weights, optimizer, position, log, states of callbacks."""

    def __init__(
        self,
        training: Training,
        step: TrainingStep,
        metrics: MetricsLogger,
        callbacks: Sequence[object],
        finite: FiniteWeights,
        ranks: SingleProcess,
        monitored: str,
    ) -> None:
        self._monitored = monitored
        self.saved = self._saved_weights = -1
        """Numbers of completed steps in the last checkpoint, and in the last weights beside the checkpoints."""
        self._training, self._step, self._metrics, self._callbacks = training, step, metrics, callbacks
        self._run, self._net, self._finite, self._ranks = step.run, step.net, finite, ranks

    def step_done(self, step: StepDone) -> None:
        """Save a checkpoint if it is due."""
        if step.due.save:
            self._step.updater.catch_up()  # as one that goes on from here finds it
            self.save()

    def save(self) -> None:
        """Save a checkpoint."""
        run, (epoch, batch) = self._run, self._step.batches.position
        facts = {"epoch": epoch, "batch": batch, **self._fixed()}
        self._ranks.level_states(self._net)
        # Processes that have diverged are reported here rather than written as a checkpoint of one of them.
        self._ranks.check_equal(self._net)
        facts |= {
            "trained": self._trained(),
            **self._metrics.facts(),
            "callbacks": states_of(self._callbacks),
            "statistics": self._ranks.counted(self._net),
            "skipped": self._step.skipped,
        }
        if self._ranks.first:
            carried = {CARRIED + name: rows for name, rows in self._net.carried.saved().items()}
            # With the pending steps and the values before them: a resumed training makes these steps in the same parts,
            # and so rounds alike.
            states = {**self._step.updater.saved(), **carried}
            self._finite.check(run.step, catch_up=False)  # the states are saved with the pending steps
            self._finite.check_states(states, run.step)
            save_checkpoint(
                run.folder / CHECKPOINTS,
                run.step,
                self._net,
                states,
                facts,
                files=names_of(self._callbacks),
                keep=self._training.checkpoint.keep,
                check=self._check_finite,
            )
        self.saved = run.step

    def save_weights(self) -> None:
        """Write the weights of the last step, their averages where the training has some."""
        run = self._run
        if self._ranks.first:
            with self._step.updater.averaged():
                self._check_finite()
                self._net.save(str(run.folder / WEIGHTS))
        self._saved_weights = run.step

    @contextlib.contextmanager
    def weights_rescued(self) -> Iterator[None]:
        """A context in which an error of a callback, a log or the data leaves the weights of the last step.

        They are no checkpoint, which would lack what was left to do in that step. A loss that is not finite leaves
        none, and neither does a second Ctrl-C.
        """
        try:
            yield
        # These report problems of the training itself, where weights may be useless or memory is exhausted.
        except (TrainingError, DeviceError):
            raise
        except Exception:  # raised again; a callback or a reader may fail in any way, and the weights must survive
            with contextlib.suppress(Exception):  # the disk may be full; what is reported is the first error
                parameters = self._net.arena.by_name.values()
                # Without a step, they are the initial ones, which `predict` would use as trained ones.
                new = self._run.step and self._saved_weights != self._run.step
                if new and all(np.isfinite(one.value).all() for one in parameters):
                    self.save_weights()
                    self._run.say(f"saved the weights of the last step to {self._run.folder / WEIGHTS}")
            raise

    def restore(self) -> None:
        """Restore the newest checkpoint."""
        run, step = self._run, self._step
        checkpoint = newest_checkpoint(run.folder / CHECKPOINTS)
        facts = read_facts(checkpoint, self._fixed(), trained=self._trained(), batches=len(step.batches) or MOST)
        self._net.load(checkpoint / WEIGHTS, layout=OURS)
        self._restore_states(checkpoint, facts)
        run.step = self.saved = facts["step"]
        run.epoch = facts["epoch"] - (facts["batch"] == 0)  # that of the last step
        step.batches.position = Position(facts["epoch"], facts["batch"])
        step.skipped = facts.get("skipped", 0)
        self._metrics.restore(facts)
        restore_states(self._callbacks, facts.get("callbacks", {}), str(checkpoint / FACTS))
        restore_state_files(run.folder, checkpoint, names_of(self._callbacks))
        run.say(f"resuming after step {run.step}")

    def _restore_states(self, checkpoint: Path, facts: dict[str, Any]) -> None:
        """Those of the optimizer, of carried rows and of statistics. Raises `TrainingError` for damaged ones."""
        remedy = f"delete {checkpoint} to resume from the previous one"
        states = read_states(checkpoint, self._step.updater.sizes)
        carried = {name: states.pop(name) for name in list(states) if name.startswith(CARRIED)}
        self._net.carried.restore({name.removeprefix(CARRIED): rows for name, rows in carried.items()})
        try:
            self._step.updater.restore(states)
        except ValueError as error:
            raise TrainingError(f"{checkpoint / OPTIMIZER}: {error}; {remedy}") from None
        try:
            self._net.load_statistics_state(facts.get("statistics", []) if self._ranks.first else [])
        except (TypeError, ValueError):
            raise TrainingError(f"invalid metrics in {checkpoint / FACTS}; {remedy}") from None

    def _check_finite(self) -> None:
        """Raise `TrainingError` for weights that must not be written."""
        self._finite.check(self._run.step)

    def _fixed(self) -> dict[str, Any]:
        """Facts that have to be unchanged when a training is resumed."""
        training, batches = self._training, self._step.batches
        return {
            "seed": batches.seed,
            "batch_size": training.batch_size,
            "accumulate": training.accumulate,
            "rows": batches.count,
            "optimizer": training.optimizer.type,
            "dtype": training.dtype,
            "monitored_phase": self._monitored,  # callbacks remember the best of its results
        }

    def _trained(self) -> list[str]:
        """The trained parameters, in the order of the optimizer states."""
        return [parameter.name for parameter in self._net.arena.trained]
