"""Hyperparameter search: trainings with other values of some fields, chosen by Optuna from earlier results.

Every trial is a run in a separate folder. Optuna's journal, a file of JSON lines beside them, lists the trials; several
processes share it, and trials of a killed process are resumed.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import shlex
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from paddle_layers.config.diagnostics.report import ConfigError
from paddle_layers.config.files import load_plugins
from paddle_layers.config.training_builder import resolve_training
from paddle_layers.define.errors import suggestion
from paddle_layers.define.machine import usable_cores
from paddle_layers.define.output_folders import claim
from paddle_layers.define.standard_streams import dropping
from paddle_layers.runtime.devices.cpu.pool import limit_threads, most_threads

from ..phase_data import sizes_from_data
from ..problems import SIGNALS, Interrupts, TrainingError
from ..progress import LineProgress, NullProgress
from ..results.folders import output_folder
from ..results.result_names import best_of, column_names
from ..results.run_files import read_run
from ..trainer import Options, run_training
from .study import Sweep, check_same, next_trial, open_study, parse_varied, reading_journal, settings_of, trial_folder

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial

    from paddle_layers.config import Training

FAILED = "failed"
MOST_FAILED = 5
"""Trials in a row that may fail."""


class TrialResult(NamedTuple):
    """A trial that has ended: its number, the settings, and what came out; None where the training failed."""

    number: int
    settings: tuple[str, ...]
    value: float | None


def prepare_sweep(
    file: str,
    vary: Sequence[str],
    *,
    watch: str = "loss",
    mode: str | None = None,
    trials: int = 20,
    output: str | None = None,
    device: str = "cpu",
    settings: Sequence[str] = (),
    plugins: Sequence[str] = (),
) -> Sweep:
    """Check what is asked for, and that the folder holds nothing else. Raises `ConfigError` and `TrainingError`."""
    varied = parse_varied(vary)
    fixed = {setting.partition("=")[0] for setting in settings}
    if both := [one.field for one in varied if one.field in fixed]:
        raise TrainingError(f"--vary and --set both set `{both[0]}`: remove one of them")
    training, _ = resolve_training(file, "sweep", plugins, settings, sizes_from_data)
    for one in varied:
        for sample in one.samples:
            resolve_training(file, "sweep", (), (*settings, sample), sizes_from_data)
    folder = Path(output) if output is not None else _beside(output_folder(training, None))
    mode = _mode(training, watch, mode)
    plain = (file, tuple(vary), str(folder), watch, mode, trials, training.seed, device)
    sweep = Sweep(*plain, tuple(settings), tuple(map(str, plugins)))
    check_same(sweep, training)
    return sweep


def run_sweep(sweep: Sweep, processes: int, say: Callable[[str], None]) -> list[TrialResult]:
    """Do the trials that are left, by so many processes. Returns all that have ended, the best first."""
    if processes == 1:
        work(sweep, say=say)
    else:
        _share(sweep, processes)
    return ended_trials(sweep)


def ended_trials(sweep: Sweep) -> list[TrialResult]:
    """The trials that have ended, the best first, then those that failed."""
    sign = 1 if sweep.mode == "min" else -1
    varied, study = parse_varied(sweep.vary), open_study(sweep)
    with reading_journal(sweep):
        found = [
            TrialResult(one.number, settings_of(one, varied), one.value if one.state.name == "COMPLETE" else None)
            for one in study.trials
            if one.state.is_finished()
        ]
    return sorted(found, key=lambda one: (one.value is None, sign * (one.value or 0.0), one.number))


def work(sweep: Sweep, *, threads: int | None = None, say: Callable[[str], None] | None = None) -> None:
    """Do trials until there are as many as were asked for: first those that a killed process has left."""
    say = say or LineProgress(dropping(sys.stderr)).say
    if threads is not None:
        limit_threads(threads)
    load_plugins(sweep.plugins)
    study, failed = open_study(sweep), 0
    while True:
        with contextlib.ExitStack() as held:
            held.enter_context(claim(Path(sweep.folder)))  # so that a trial's folder may be no link
            trial = next_trial(sweep, study, held)
            if trial is None:
                return
            outcome = _train(sweep, study, trial, say)
        if outcome in SIGNALS.values():
            say(f"trial {trial.number} stopped: {outcome}; run the same command to resume it")
            return
        failed = failed + 1 if outcome == FAILED else 0
        if failed == MOST_FAILED:
            raise TrainingError(f"{failed} consecutive trials failed; see the messages above")


def _train(sweep: Sweep, study: Study, trial: FrozenTrial, say: Callable[[str], None]) -> str:
    """Train a trial, or go on with it, and tell the study what came out. Returns `FAILED`, or what ended it early."""
    from optuna.trial import TrialState

    own = settings_of(trial, parse_varied(sweep.vary))
    shown = f"trial {trial.number}: {shlex.join(own)}"
    # Trainings are reproducible, so equal settings have equal results.
    for other in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
        if other.params == trial.params and other.value is not None:
            say(f"{shown}  {sweep.watch} {other.value:.4g}, same settings as trial {other.number}")
            study.tell(trial.number, other.value)
            return ""
    try:
        results = _results(sweep, trial.number, own)
        if isinstance(results, str):
            return results
        value = results.get(sweep.watch, math.nan)
        if math.isnan(value):
            raise TrainingError(f"`{sweep.watch}` is NaN")
    except (ConfigError, TrainingError) as error:
        say(f"{shown}  failed: {error}")
        study.tell(trial.number, state=TrialState.FAIL)
        return FAILED
    say(f"{shown}  {sweep.watch} {value:.4g}")
    study.tell(trial.number, value)
    return ""


def _results(sweep: Sweep, number: int, own: Sequence[str]) -> Mapping[str, float] | str:
    """Results of the weights that `predict` takes, the best or the last; or the signal that ended the training.

    They are of the validation data, where there are some: settings that are chosen by test results overfit these.
    """
    folder = trial_folder(sweep, number)
    before = read_run(folder)
    if before is not None and before.ended:  # killed before the study knew it
        return before.best or before.results
    settings = (*sweep.settings, *own)
    options = Options(output=folder, device=sweep.device, settings=settings, progress=NullProgress())
    report = run_training(sweep.file, options)
    if report.stopped in SIGNALS.values():
        return report.stopped
    return report.best.results if report.best is not None else report.results


def _share(sweep: Sweep, processes: int) -> None:
    """Let processes do the trials, each with its share of the cores. Raises `TrainingError` when one fails."""
    threads = max(1, min(usable_cores(), most_threads()) // processes)
    # Not fork: threads of kernels and locks of the parent do not survive it.
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_worker, args=(sweep, threads)) for _ in range(processes)]
    with Interrupts() as interrupts:
        for worker in workers:
            worker.start()
        passed_on = False
        while any(worker.is_alive() for worker in workers):
            next(worker for worker in workers if worker.is_alive()).join(0.2)
            if interrupts.asked == SIGNALS[signal.SIGTERM] and not passed_on:  # a terminal sends Ctrl-C to all of them
                passed_on = True
                for worker in workers:
                    worker.terminate()
    if any(worker.exitcode for worker in workers):
        raise TrainingError("a process of the sweep failed; see the messages above. Run the same command to resume")


def _worker(sweep: Sweep, threads: int) -> None:
    """Worker process: an error is one line."""
    try:
        work(sweep, threads=threads)
    except (ConfigError, TrainingError, OSError) as error:
        LineProgress(dropping(sys.stderr)).say(str(error))
        sys.exit(1)


def _mode(training: Training, watch: str, mode: str | None) -> str:
    """Whether smaller or larger values are better. Raises `TrainingError` for a result that the test lacks."""
    if training.source_of(training.monitored) is None:
        raise TrainingError('a sweep optimizes a validation result: add `source { type: ... phase: "validation" ... }`')
    best = best_of(training)
    results = dict.fromkeys(("loss", *column_names(training, (training.monitored,))))
    if watch not in results:
        there = ", ".join(f"`{name}`" for name in results)
        raise TrainingError(f"unknown test result `{watch}` in --watch; available: {there}{suggestion(watch, results)}")
    known = best.get(watch)
    if known is None and mode is None:
        raise TrainingError(f"add `--mode min` or `--mode max`: it is unknown which values of `{watch}` are better")
    if known is not None and mode not in (None, known):
        raise TrainingError(
            f"{'larger' if known == 'max' else 'smaller'} values of `{watch}` are better: remove --mode"
        )
    return known or mode or "min"


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}-sweep")
