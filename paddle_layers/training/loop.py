"""The loop of a training: steps, reports, tests, checkpoints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from paddle_layers.data import Position
from paddle_layers.data.learning import FILE as LEARNED
from paddle_layers.runtime.memory.tensorfiles import write_file
from paddle_layers.runtime.memory.weights import OURS
from paddle_layers.runtime.plan.losses import total_loss

from .callbacks import restore_states, states_of
from .checkpoints import (
    FACTS,
    OPTIMIZER,
    WEIGHTS,
    newest_checkpoint,
    read_facts,
    read_states,
    save_checkpoint,
)
from .data_norms import measure_data_norms
from .evaluation import evaluate, named_costs
from .facts import MOST
from .first_values import load_first, what_became
from .folders import BEST, CHECKPOINTS, CURVE, LOG
from .interrupts import Interrupts
from .ledger import Ledger
from .logs import EVENTS
from .preparation import Job, nan_notes
from .problems import TrainingError
from .progress import Progress, as_text
from .runs import Report, Run, call, left_out_text, take_statistics
from .schedules import rate_at

if TYPE_CHECKING:
    from paddle_layers.config.training import Training, WeightsSettings


class Trainer:
    """One training from its start, or a checkpoint, to its end."""

    def __init__(
        self, training: Training, job: Job, folder: Path, progress: Progress, callbacks: Sequence[object]
    ) -> None:
        self.training, self.job, self.progress = training, job, progress
        self.run = Run(job.net, folder, job.total, progress.say)
        self.callbacks = callbacks
        chosen = training.schedule
        self._schedule = chosen.definition.create(chosen.attributes) if chosen is not None else None
        self._ledger = Ledger()
        self._statistics: dict[str, float] = {}
        self._tested = self._saved = -1

    def begin(self, *, resume: bool, weights: WeightsSettings | None) -> None:
        """Start afresh, from `weights` or from the newest checkpoint."""
        if resume:
            self._restore(newest_checkpoint(self.run.folder / CHECKPOINTS))
        else:
            net, training = self.job.net, self.training
            report = load_first(net, weights)
            measure_data_norms(net, training, self.job.train, known=report.loaded if report is not None else ())
            if text := what_became(net, training, weights, report):
                self.progress.say(text)
        if self.job.learned:
            write_file(self.run.folder / LEARNED, self.job.learned.text().encode())
        run, names = self.run, [*self.job.losses.values(), *self.job.statistics.values()]
        due = _due(run.step, self.training.test.every)
        at, tested = run.step if resume else None, due or run.step == run.total
        formats = self.training.log.format
        self._ledger.open(run.folder / LOG, names, resume_at=at, tested=tested, formats=formats)
        if due and (results := self._ledger.records.test_at(run.step)):  # callbacks know of it: it came before saving
            run.results, self._tested = results, run.step

    def run_steps(self) -> None:
        """Do the steps that are left; Ctrl-C, SIGTERM and `Run.stop` end this early."""
        run, training = self.run, self.training
        with Interrupts() as interrupts:
            while run.step < run.total and not run.stopped:
                self._step()
                if interrupts.asked:
                    run.stop(interrupts.asked)
                test_due, save_due = _due(run.step, training.test.every), _due(run.step, training.checkpoint.every)
                if test_due or save_due or run.step == run.total or _due(run.step, training.log.every):
                    self._report()
                if test_due:
                    self._test()
                if save_due:
                    self.job.updater.catch_up()  # as one that goes on from here finds it
                    self._save()
                if self.job.train.position.epoch > run.epoch:
                    call(self.callbacks, "on_epoch", run)

    def finish(self, file: str) -> Report:
        """Test, save, draw the curve. Gives the report that is printed; `file` names the training in commands."""
        run = self.run
        if self._saved != run.step:
            self._save()
        if self._tested != run.step:
            self._test()
        curve = run.folder / CURVE
        run.net.save(str(run.folder / WEIGHTS))
        self._ledger.draw(curve, self.training.network.name or run.folder.name)
        call(self.callbacks, "on_end", run)
        weights = run.folder / (WEIGHTS if run.best is None else BEST)
        commands = [(f"paddle-layers predict {file} --weights {quote(str(weights))}", "Use it")] if file else []
        if file and run.step < run.total:
            commands.append((f"paddle-layers train {file} --output {quote(str(run.folder))} --resume", "Go on"))
        if "tensorboard" in self.training.log.format:
            commands.append((f"tensorboard --logdir {quote(str(run.folder / EVENTS))}", "Look at it"))
        log = self._ledger.records.path
        left_out = left_out_text(self.job.train, self.job.test)
        return Report(run.folder, weights, log, curve, run.step, run.results, run.stopped, run.best, commands, left_out)

    def close(self) -> None:
        """Close the logs, however the training has ended."""
        self._ledger.close()

    def _step(self) -> None:
        job, run = self.job, self.run
        run.epoch = job.train.position.epoch
        run.rate = rate_at(self._schedule, self.training.optimizer.learning_rate, run.step, run.total)
        batch = job.train.take()
        rows = max((len(value) for value in batch.values()), default=0)
        job.net.forward(batch, phase="train", step=run.step)
        sums = job.net.loss_sums()
        run.loss = total_loss(sums.values())
        if not math.isfinite(run.loss):
            raise self._not_finite()
        job.net.backward()
        run.step += 1
        job.updater.step(run.rate, run.step)
        self._ledger.add({"loss": run.loss, **named_costs(sums, job.losses)})
        self.progress.step(run.step, run.total, {"loss": run.loss, **self._statistics}, rows)
        call(self.callbacks, "on_step", run)

    def _report(self) -> None:
        """A line of the log and of the progress: the mean loss since the last one, and the statistics."""
        run = self.run
        means = self._ledger.means()
        if not means:
            return
        self._statistics = take_statistics(run.net, self.job.statistics)
        self._ledger.write(run, "train", {**means, "rate": run.rate, **self._statistics})
        self.progress.report(run.step, run.total, {**means, **self._statistics})

    def _test(self) -> None:
        run, tested = self.run, self._tested >= 0
        self._tested = run.step
        job, test, seen = self.job, self.job.test, partial(call, self.callbacks, "on_test_batch", run)
        if test is None:
            return
        run.results = evaluate(job.net, test, job.statistics, job.losses, seen)
        self._ledger.write(run, "test", run.results)
        self.progress.say(f"step {run.step}: on the held-out data  {as_text(run.results)}")
        for note in nan_notes(self.training, run.results) if not tested else ():
            self.progress.say(f"note: {note}")
        call(self.callbacks, "on_test", run)

    def _save(self) -> None:
        run, (epoch, batch) = self.run, self.job.train.position
        facts = {"epoch": epoch, "batch": batch, "capacities": run.net.capacities(), **self._fixed()}
        facts |= {
            "trained": self._trained(),
            **self._ledger.facts(),
            "callbacks": states_of(self.callbacks),
            "statistics": run.net.counted(),
        }
        keep = self.training.checkpoint.keep
        save_checkpoint(run.folder / CHECKPOINTS, run.step, run.net, self.job.updater.saved(), facts, keep=keep)
        self._saved = run.step

    def _restore(self, checkpoint: Path) -> None:
        net, batches = self.job.net, len(self.job.train) or MOST
        trained, capacities = self._trained(), net.capacities()
        facts = read_facts(checkpoint, self._fixed(), trained=trained, batches=batches, capacities=capacities)
        net.load(checkpoint / WEIGHTS, layout=OURS)
        sizes = {name: state.size for name, state in self.job.updater.states.items()}
        try:
            self.job.updater.restore(read_states(checkpoint, sizes))
        except ValueError as error:
            remedy = f"delete {checkpoint} to use the one before"
            raise TrainingError(f"{checkpoint / OPTIMIZER}: {error}; {remedy}") from None
        net.reserve(facts["capacities"])
        try:
            net.count_on(facts.get("statistics", []))
        except (TypeError, ValueError):
            raise TrainingError(f"the statistics in {checkpoint / FACTS} are none; delete {checkpoint}") from None
        self.run.step = self._saved = facts["step"]
        self.run.epoch = facts["epoch"] - (facts["batch"] == 0)  # that of the last step
        self.job.train.position = Position(facts["epoch"], facts["batch"])
        self._ledger.restore(facts)
        restore_states(self.callbacks, facts.get("callbacks", {}), str(checkpoint / FACTS))
        self.progress.say(f"going on after step {self.run.step}")

    def _fixed(self) -> dict[str, Any]:
        """What has to be the same when a training goes on."""
        job, training = self.job, self.training
        return {
            "seed": job.train.seed,
            "batch_size": training.batch_size,
            "rows": job.train.count,
            "optimizer": training.optimizer.type,
            "dtype": training.dtype,
        }

    def _trained(self) -> list[str]:
        """The parameters that learn, in the order in which the optimizer's states lie."""
        return [parameter.name for parameter in self.job.net.arena.trained]

    def _not_finite(self) -> TrainingError:
        run = self.run
        layer = run.net.find_non_finite()
        where = f"the first layer whose output is not finite is `{layer}`" if layer else "every output is finite"
        return TrainingError(
            f"the loss is {run.loss} at step {run.step + 1}: {where}. Checkpoints made before are unchanged. "
            f"Try a smaller learning_rate (now {run.rate:.3g}), clip {{ norm: 1 }}, or a longer warmup"
        )


def _due(step: int, every: int | None) -> bool:
    return every is not None and step % every == 0
