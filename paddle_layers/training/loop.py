"""Training loop: makes steps, and sends the events of a training to the parts that listen to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from paddle_layers.data import Batches, Stream
from paddle_layers.data.fitted_preprocessing import FILE as LEARNED
from paddle_layers.runtime.memory.tensorfiles import write_file

from .callbacks import CallbackList
from .callbacks.monitoring import BEST
from .checkpoints.files import WEIGHTS
from .checkpoints.manager import CheckpointManager
from .evaluation import TestRunner
from .events import (
    Due,
    Events,
    FinalTestDone,
    GradientsReady,
    Reported,
    Run,
    StepDone,
    TestBatchDone,
    TestDone,
    WeightsRestored,
)
from .initial_weights import load_first, measure_data_norms, what_became
from .job import Job
from .nan_checks import FiniteWeights
from .problems import SIGNALS, Interrupts
from .processes.ranks import SINGLE_PROCESS, SingleProcess
from .progress import Progress, ProgressListener
from .results.folders import CURVE, LOG
from .results.logs import EVENTS
from .results.metrics_logger import MetricsLogger
from .results.records import PHASES
from .results.result_names import column_names, loss_names, statistic_names
from .results.run_files import RunFacts
from .results.training_report import TrainingReport, left_out_text, skipped_text
from .schedules import Staged, momentum_at, rate_at
from .training_step import TrainingStep

if TYPE_CHECKING:
    from paddle_layers.config.training import Training, WeightsSettings


class TrainingLoop:
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
        self.run = run = Run(job.net, folder, job.total, progress.say, job.monitored.phase)
        if ranks.count > 1:
            job.net.add_up = ranks.add_up
        self._training, self._job, self._ranks = training, job, ranks
        self._schedule, self._momentum = Staged(training.schedule), momentum_at(training, job.total)
        self._events = events = Events()
        self._finite = FiniteWeights(job.net)
        self._callbacks = CallbackList(callbacks, ranks)
        self._metrics = MetricsLogger(loss_names(training), statistic_names(training), ranks, events)
        self._step = TrainingStep(training, run, job.updater, job.train, ranks, events)
        self._tests = TestRunner(training, run, job.updater, job.monitored, job.final, self._finite, ranks, events)
        self.checkpoints = CheckpointManager(
            training, self._step, self._metrics, self._callbacks.called, self._finite, ranks, run.monitored
        )
        self._listen(ProgressListener(progress))

    def _listen(self, progress: ProgressListener) -> None:
        listen, hook, metrics = self._events.listen, self._callbacks.hook, self._metrics
        listen(GradientsReady, hook("on_gradients"))
        listen(
            StepDone,
            progress.step_done,
            hook("on_step"),
            metrics.step_done,
            self._tests.step_done,  # after the log, since a test resets the statistics of the steps
            self._callbacks.end_of_epoch,
            self.checkpoints.step_done,  # last, so that the states of callbacks are those after the step
        )
        listen(Reported, progress.reported)
        listen(TestBatchDone, hook("on_test_batch"))
        # Callbacks last: the results of a test are in the log if one of them fails.
        listen(TestDone, metrics.test_done, progress.test_done, hook("on_test"))
        listen(FinalTestDone, metrics.final_test_done, progress.final_test_done)
        listen(WeightsRestored, self._callbacks.weights_restored)

    def begin(self, *, resume: bool, weights: WeightsSettings | None) -> None:
        """Start afresh, from `weights` or from the newest checkpoint."""
        job, run, training = self._job, self.run, self._training
        if resume:
            self.checkpoints.restore()
        else:
            report = load_first(job.net, weights)
            measure_data_norms(job.net, training, job.train, known=report.loaded if report is not None else ())
            if text := what_became(job.net, training, weights, report):
                run.say(text)
        # After the weights are loaded: which parameters may hold infinite values is read off the initial ones.
        self._finite.exempt_infinite()
        for batches in self._data():
            if isinstance(batches, Batches):  # not before: what is measured for layers needs all rows
                batches.share(self._ranks.number, self._ranks.count)
        job.net.arena.data = job.learned.line() if job.learned else ""
        if job.learned and self._ranks.first:
            write_file(run.folder / LEARNED, job.learned.text().encode())
        path, last = run.folder / LOG if self._ranks.first else None, self._last_lines() if resume else None
        self._metrics.open(path, column_names(training), last, training.log.format)
        tested, results = self._metrics.last_evaluation(job.monitored.phase, run.step + self._due().test)
        if step := self._ranks.any_of(str(tested) if results else ""):  # callbacks know of it: it came before saving
            run.results, self._tests.last = results, int(step)
        if resume:
            self._callbacks.call("on_resume", run)

    def run_steps(self) -> None:
        """Make the steps that are left; Ctrl-C, SIGTERM and `Run.stop` end this early."""
        run, base = self.run, self._training.optimizer.learning_rate
        with Interrupts() as interrupts:
            if run.step == 0 and self._due().test and self._tests.last != 0:
                self._tests.run()
            while run.step < run.total:
                # Asked in every process at the same step: one that stops alone would leave the others waiting in a sum.
                if reason := self._ranks.any_of(interrupts.asked or run.stopped):
                    run.stop(reason)  # in all processes; callbacks are asked in the first one only
                    break
                rate = rate_at(self._schedule, base, run.step, run.total) * self._callbacks.rate_factor()
                costs = self._step.make(rate, self._momentum(run.step))
                self._events.emit(StepDone(run, costs, self._step.rows, self._due()))

    def finish(self, file: str) -> TrainingReport:
        """Save, test, plot the learning curve. Returns the printed report; `file` names the training in commands.

        A last evaluation that is not due at this step comes after the checkpoint, which does not include it. The final
        test of a training with validation data follows unless a signal has ended it: the training is incomplete then.
        """
        run = self.run
        # A checkpoint first: the weights, the test and the plot can be repeated from it if one of them fails.
        if self.checkpoints.saved != run.step:
            self.checkpoints.save()
        self.checkpoints.save_weights()
        if run.step == run.total:
            self._metrics.report(run)
        if self._tests.last != run.step:
            self._tests.run()
        title = self._training.network.name or run.folder.name
        monitored = self._job.monitored
        self._metrics.draw(run.folder / CURVE, title, monitored.phase, list(monitored.further))
        self._callbacks.call("on_end", run)
        if self._is_complete:
            best = self._ranks.any_of(str(run.best.step) if run.best is not None else "")
            self._tests.run_final(run.folder / BEST if best else None, int(best or run.step))
        return self._report(file)

    @property
    def _is_complete(self) -> bool:
        """Whether the training is at its end, and was not ended by a signal."""
        return self.run.step >= self.run.total or self.run.stopped not in SIGNALS.values()

    def _report(self, file: str) -> TrainingReport:
        run, training = self.run, self._training
        weights = run.folder / (WEIGHTS if run.best is None else BEST)
        use = "predict" if training.generate is None else "generate"
        commands = [(f"paddle-layers {use} {file} --weights {quote(str(weights))}", use.capitalize())] if file else []
        if file and run.step < run.total:
            commands.append((f"paddle-layers train {file} --output {quote(str(run.folder))} --resume", "Resume"))
        if "tensorboard" in training.log.format:
            commands.append((f"tensorboard --logdir {quote(str(run.folder / EVENTS))}", "Monitor"))
        return TrainingReport(
            folder=run.folder,
            weights=weights,
            log=run.folder / LOG,
            curve=run.folder / CURVE,
            steps=run.step,
            results=run.results,
            test_results=run.test_results,
            phase=run.monitored,
            stopped=run.stopped,
            best=run.best,
            commands=commands,
            left_out="\n".join(filter(None, (left_out_text(*self._data()), skipped_text(self._step.skipped)))),
        )

    def facts_at_the_end(self, facts: RunFacts) -> RunFacts:
        """The run record at the end of a sitting: after a signal, the training is incomplete."""
        run = self.run
        ended = "" if not self._is_complete else "all steps" if run.step >= run.total else run.stopped
        best = dict(run.best.results) if run.best is not None else {}
        return replace(
            facts,
            ended=ended,
            step=run.step,
            seconds=self._metrics.seconds,
            results=run.results,
            test=run.test_results,
            best=best,
        )

    def close(self) -> None:
        """Close the logs and remove the listeners, however the training has ended."""
        self._metrics.close()
        self._events.close()

    def _data(self) -> list[Batches | Stream]:
        return [self._job.train, *self._job.monitored.batches, *self._job.final.batches]

    def _due(self) -> Due:
        """The actions that are due after the last step; before the first one, a test if it is asked for."""
        run, training, epochs = self.run, self._training, self._job.train.position.epoch
        ends_epoch = epochs > run.epoch

        def is_due(every: int | None, every_epochs: int | None) -> bool:
            return _divides(every, run.step) or (ends_epoch and _divides(every_epochs, epochs))

        test = is_due(training.test.every, training.test.every_epochs) if run.step else training.test.at_start
        save = is_due(training.checkpoint.every, training.checkpoint.every_epochs)
        return Due(test or save or is_due(training.log.every, None), test, ends_epoch, save)

    def _last_lines(self) -> dict[str, int]:
        """The steps up to which a log is kept, by phase.

        A line of the step itself is left out where one that was never interrupted has none: the end of a sitting that
        stops in between is a line and a test more. With nothing left to do it stays.
        """
        step, unfinished, due = self.run.step, self.run.step != self.run.total, self._due()
        last = {
            "train": step - (unfinished and not due.report),
            self._job.monitored.phase: step - (unfinished and not due.test),
        }
        return dict.fromkeys(PHASES, -1) | last  # the final test is made again


def _divides(interval: int | None, number: int) -> bool:
    return interval is not None and number % interval == 0
