"""Training loop: steps, reports, tests, checkpoints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from paddle_layers.data import Batches, Position, Stream
from paddle_layers.data.fitted_preprocessing import FILE as LEARNED
from paddle_layers.runtime.memory.tensorfiles import write_file
from paddle_layers.runtime.memory.weights import OURS
from paddle_layers.runtime.plan.losses import total_loss

from .callbacks.monitoring import BEST
from .checkpoints.files import (
    CARRIED,
    FACTS,
    OPTIMIZER,
    WEIGHTS,
    newest_checkpoint,
    read_facts,
    read_states,
    save_checkpoint,
)
from .checkpoints.state import MOST, names_of, restore_state_files, restore_states, states_of
from .evaluation import evaluate, first_batches, named_costs
from .initial_weights import load_first, measure_data_norms, what_became
from .job import Job
from .nan_checks import FiniteWeights
from .problems import SIGNALS, Interrupts, TrainingError
from .processes.ranks import SINGLE_PROCESS, SingleProcess
from .progress import Progress, as_text
from .results.folders import CHECKPOINTS, CURVE, LOG
from .results.logs import EVENTS
from .results.metrics_logger import MetricsLogger
from .results.result_names import further_names, nan_notes
from .results.run_files import RunFacts
from .runs import Run, TrainingReport, call, left_out_text, skipped_text, take_statistics
from .schedules import Staged, momentum_at, rate_at
from .training_step import StepPasses

if TYPE_CHECKING:
    from paddle_layers.config.training import Training, WeightsSettings


class Trainer:
    """One training from its start, or a checkpoint, to its end."""

    def __init__(
        self,
        training: Training,
        job: Job,
        folder: Path,
        progress: Progress,
        callbacks: Sequence[object],
        ranks: SingleProcess = SINGLE_PROCESS,
    ) -> None:
        self.training, self.job, self.progress, self.ranks = training, job, progress, ranks
        self.run = Run(job.net, folder, job.total, progress.say)
        if ranks.count > 1:
            job.net.add_up = ranks.add_up
        # Files and messages would come from every process otherwise; decisions of callbacks are passed on by `ranks`.
        self.callbacks = callbacks if ranks.first else ()
        self._adapting = any(hasattr(listener, "rate_factor") for listener in callbacks)
        self._reloading = any(getattr(listener, "reload", False) for listener in callbacks)
        self._schedule = Staged(training.schedule)
        self._momentum = momentum_at(training, job.total)
        self._metrics = MetricsLogger()
        self._statistics: dict[str, float] = {}
        self._tested = self._saved = self.saved_weights = -1
        self._finite: FiniteWeights | None = None
        self._passes = StepPasses(training, job, self.run, ranks)

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
        # After the weights are loaded: which parameters may hold infinite values is read off the initial ones.
        self._finite = FiniteWeights(self.job.net)
        for batches in self._data():
            if isinstance(batches, Batches):  # not before: what is measured for layers needs all rows
                batches.share(self.ranks.number, self.ranks.count)
        self.job.net.arena.data = self.job.learned.line() if self.job.learned else ""
        if self.job.learned and self.ranks.first:
            write_file(self.run.folder / LEARNED, self.job.learned.text().encode())
        run, names = self.run, [*self.job.losses.values(), *self.job.statistics.values()]
        names += [long for name in self.job.tests for long in further_names(self.training, name).values()]
        due, path = self._test_due(), run.folder / LOG if self.ranks.first else None
        self._metrics.open(path, names, self._last_lines() if resume else None, self.training.log.format)
        tested, results = self._metrics.last_test(run.step + due)
        if step := self.ranks.any_of(str(tested) if results else ""):  # callbacks know of it: it came before saving
            run.results, self._tested = results, int(step)
        if resume:
            call(self.callbacks, "on_resume", run)

    def _last_lines(self) -> dict[str, int]:
        """The steps up to which a log is kept, by phase.

        A line of the step itself is left out where one that was never interrupted has none: the end of a sitting that
        stops in between is a line and a test more. With nothing left to do it stays.
        """
        step, end, test_due = self.run.step, self.run.step == self.run.total, self._test_due()
        report_due = test_due or self._save_due() or _due(step, self.training.log.every)
        return {"train": step - (not end and not report_due), "test": step - (not end and not test_due)}

    def run_steps(self) -> None:
        """Do the steps that are left; Ctrl-C, SIGTERM and `Run.stop` end this early."""
        run, training = self.run, self.training
        with Interrupts() as interrupts:
            if run.step == 0 and self._test_due() and self._tested != 0:
                self._test()
            while run.step < run.total:
                # Asked in every process at the same step: one that stops alone would leave the others waiting in a sum.
                if reason := self.ranks.any_of(interrupts.asked or run.stopped):
                    run.stop(reason)  # in all processes; callbacks are asked in the first one only
                    break
                self._step()
                test_due, save_due = self._test_due(), self._save_due()
                if test_due or save_due or _due(run.step, training.log.every):
                    self._report()
                if test_due:
                    self._test()
                if self.job.train.position.epoch > run.epoch:
                    call(self.callbacks, "on_epoch", run)
                if save_due:  # last, so that the states of callbacks are those after the step
                    self.job.updater.catch_up()  # as one that goes on from here finds it
                    self._save()

    def finish(self, file: str) -> TrainingReport:
        """Save, test, plot the learning curve. Returns the printed report; `file` names the training in commands.

        A final test that is not due at this step comes after the checkpoint, which does not include it.
        """
        run = self.run
        # A checkpoint first: the weights, the test and the plot can be repeated from it if one of them fails.
        if self._saved != run.step:
            self._save()
        self.save_weights()
        if run.step == run.total:
            self._report()
        if self._tested != run.step:
            self._test()
        curve = run.folder / CURVE
        self._metrics.draw(curve, self.training.network.name or run.folder.name, list(self.job.tests))
        call(self.callbacks, "on_end", run)
        weights = run.folder / (WEIGHTS if run.best is None else BEST)
        use = "predict" if self.training.generate is None else "generate"
        commands = [(f"paddle-layers {use} {file} --weights {quote(str(weights))}", use.capitalize())] if file else []
        if file and run.step < run.total:
            commands.append((f"paddle-layers train {file} --output {quote(str(run.folder))} --resume", "Resume"))
        if "tensorboard" in self.training.log.format:
            commands.append((f"tensorboard --logdir {quote(str(run.folder / EVENTS))}", "Monitor"))
        log = run.folder / LOG
        left_out = "\n".join(filter(None, (left_out_text(*self._data()), skipped_text(self._passes.skipped))))
        return TrainingReport(
            run.folder, weights, log, curve, run.step, run.results, run.stopped, run.best, commands, left_out
        )

    def save_weights(self) -> None:
        """Write the weights of the last step, their averages where the training has some."""
        if self.ranks.first:
            with self.job.updater.averaged():
                self._check_finite()
                self.run.net.save(str(self.run.folder / WEIGHTS))
        self.saved_weights = self.run.step

    def facts_at_the_end(self, facts: RunFacts) -> RunFacts:
        """The run record at the end of a sitting: after a signal, the training is incomplete."""
        run = self.run
        ended = "all steps" if run.step >= run.total else run.stopped if run.stopped not in SIGNALS.values() else ""
        best = dict(run.best.results) if run.best is not None else {}
        seconds = self._metrics.seconds
        return replace(facts, ended=ended, step=run.step, seconds=seconds, results=run.results, best=best)

    def close(self) -> None:
        """Close the logs, however the training has ended."""
        self._metrics.close()

    def _data(self) -> list[Batches | Stream | None]:
        return [self.job.train, self.job.test, *self.job.tests.values()]

    def _test_due(self) -> bool:
        test = self.training.test
        if self.run.step == 0:
            return test.at_start
        return _due(self.run.step, test.every) or self._epoch_due(test.every_epochs)

    def _save_due(self) -> bool:
        checkpoint = self.training.checkpoint
        return _due(self.run.step, checkpoint.every) or self._epoch_due(checkpoint.every_epochs)

    def _epoch_due(self, every: int | None) -> bool:
        """Whether the last step was the end of an epoch, after so many of them."""
        done = self.job.train.position.epoch
        return done > self.run.epoch and _due(done, every)

    def _step(self) -> None:
        job, run = self.job, self.run
        run.epoch = job.train.position.epoch
        run.rate = rate_at(self._schedule, self.training.optimizer.learning_rate, run.step, run.total)
        if self._adapting:
            factor = math.prod(getattr(listener, "rate_factor", 1.0) for listener in self.callbacks)
            run.rate *= self.ranks.of_first(factor)
        # Before the passes, which make the step themselves where updates are part of the backward pass.
        job.updater.begin_step(run.rate, run.step + 1, self._momentum(run.step))
        sums = self._passes.run()
        if sums:
            run.loss = total_loss(sums.values())
        run.step += 1
        run.epochs = job.train.position.epoch
        if sums:  # else all its batches were skipped
            call(self.callbacks, "on_gradients", run)
            if self._passes.update(self._momentum(run.step - 1)):
                self._metrics.add({"loss": run.loss, **named_costs(sums, job.losses)})
        rows = self._passes.rows * self.ranks.count
        self.progress.step(run.step, run.total, {"loss": run.loss, **self._statistics}, rows)
        call(self.callbacks, "on_step", run)

    def _catch_up_alike(self) -> None:
        """Make pending steps of all rows, where each process has read other ones: made in other parts they round."""
        if self.ranks.count > 1:
            self.job.updater.catch_up()

    def _report(self) -> None:
        """A line of the log and of the progress: the mean loss since the last one, and the statistics."""
        run = self.run
        means = self._metrics.means()
        if not means:
            return
        self.ranks.join_counts(run.net)
        self._statistics = take_statistics(run.net, self.job.statistics)
        self._metrics.write(run, "train", {**means, "rate": run.rate, **self._statistics})
        self.progress.report(run.step, run.total, {**means, **self._statistics})

    def _test(self) -> None:
        run, tested = self.run, self._tested >= 0
        self._tested = run.step
        job, test, seen = self.job, self.job.test, partial(call, self.callbacks, "on_test_batch", run)
        if test is None:
            return
        # Running averages of `batch_norm` are moved by each process's own rows: a test uses their mean.
        self.ranks.level_states(job.net)
        self._catch_up_alike()
        # Metrics are those of the averaged weights, which are also the ones that are saved for use.
        with job.updater.averaged():
            self._check_finite()  # callbacks save what is tested
            batches = first_batches(test, self.training.test.batches)
            run.results = evaluate(job.net, batches, job.statistics, job.losses, seen, self.ranks)
            for name, further in job.tests.items():
                batches = first_batches(further, self.training.test.batches)
                found = evaluate(job.net, batches, job.statistics, job.losses, None, self.ranks)
                names = further_names(self.training, name)
                run.results |= {names[short]: value for short, value in found.items()}
            self._metrics.write(run, "test", run.results)
            self.progress.say(f"step {run.step}: test  {as_text(run.results)}")
            for note in nan_notes(self.training, run.results) if not tested else ():
                self.progress.say(f"note: {note}")
            call(self.callbacks, "on_test", run)
        # Outside of the averages: callbacks such as `plateau` save and restore the weights of the training itself.
        call(self.callbacks, "after_test", run)
        if self._reloading:
            self.ranks.take_first(run.net)

    def _save(self) -> None:
        run, (epoch, batch) = self.run, self.job.train.position
        facts = {"epoch": epoch, "batch": batch, **self._fixed()}
        self.ranks.level_states(run.net)
        # Processes that have diverged are reported here rather than written as a checkpoint of one of them.
        self.ranks.check_equal(run.net)
        facts |= {
            "trained": self._trained(),
            **self._metrics.facts(),
            "callbacks": states_of(self.callbacks),
            "statistics": self.ranks.counted(run.net),
            "skipped": self._passes.skipped,
        }
        keep = self.training.checkpoint.keep
        if self.ranks.first:
            carried = {CARRIED + name: rows for name, rows in run.net.carried.saved().items()}
            # With the pending steps and the values before them: a resumed training makes these steps in the same parts,
            # and so rounds alike.
            states = {**self.job.updater.saved(), **carried}
            if self._finite is not None:
                self._finite.check(run.step, catch_up=False)  # the states are saved with the pending steps
                self._finite.check_states(states, run.step)
            folder, files, check = run.folder / CHECKPOINTS, names_of(self.callbacks), self._check_finite
            save_checkpoint(folder, run.step, run.net, states, facts, files=files, keep=keep, check=check)
        self._saved = run.step

    def _check_finite(self) -> None:
        """Raise `TrainingError` for weights that must not be written."""
        if self._finite is not None:
            self._finite.check(self.run.step)

    def _restore(self, checkpoint: Path) -> None:
        net, batches = self.job.net, len(self.job.train) or MOST
        facts = read_facts(checkpoint, self._fixed(), trained=self._trained(), batches=batches)
        net.load(checkpoint / WEIGHTS, layout=OURS)
        states = read_states(checkpoint, self.job.updater.sizes)
        carried = {name: states.pop(name) for name in list(states) if name.startswith(CARRIED)}
        net.carried.restore({name.removeprefix(CARRIED): rows for name, rows in carried.items()})
        try:
            self.job.updater.restore(states)
        except ValueError as error:
            remedy = f"delete {checkpoint} to resume from the previous one"
            raise TrainingError(f"{checkpoint / OPTIMIZER}: {error}; {remedy}") from None
        try:
            net.load_statistics_state(facts.get("statistics", []) if self.ranks.first else [])
        except (TypeError, ValueError):
            raise TrainingError(
                f"invalid metrics in {checkpoint / FACTS}; delete {checkpoint} to resume from the previous one"
            ) from None
        self.run.step = self._saved = facts["step"]
        self.run.epoch = facts["epoch"] - (facts["batch"] == 0)  # that of the last step
        self.job.train.position = Position(facts["epoch"], facts["batch"])
        self._metrics.restore(facts)
        self._passes.skipped = facts.get("skipped", 0)
        restore_states(self.callbacks, facts.get("callbacks", {}), str(checkpoint / FACTS))
        restore_state_files(self.run.folder, checkpoint, names_of(self.callbacks))
        self.progress.say(f"resuming after step {self.run.step}")

    def _fixed(self) -> dict[str, Any]:
        """Facts that have to be unchanged when a training is resumed."""
        job, training = self.job, self.training
        return {
            "seed": job.train.seed,
            "batch_size": training.batch_size,
            "accumulate": training.accumulate,
            "rows": job.train.count,
            "optimizer": training.optimizer.type,
            "dtype": training.dtype,
        }

    def _trained(self) -> list[str]:
        """The trained parameters, in the order of the optimizer states."""
        return [parameter.name for parameter in self.job.net.arena.trained]


def _due(step: int, every: int | None) -> bool:
    return every is not None and step % every == 0
