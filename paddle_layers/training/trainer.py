"""Training of a network as a training file defines it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from paddle_layers.config.training_builder import resolve_training
from paddle_layers.data.fitted_preprocessing import FittedPreprocessing
from paddle_layers.define.escaping import printable
from paddle_layers.define.standard_streams import writing_to_stdout

from .callbacks import check_callbacks
from .checkpoints.files import WEIGHTS, newest_checkpoint
from .data_loading import Given, check_phases, learned_for, with_frames_read
from .initial_weights import expected_preprocessing, first_weights, known_preprocessing
from .job import Job, prepare
from .loop import TrainingLoop
from .phase_data import sizes_from_data
from .problems import TrainingError
from .processes.ranks import PATIENCE, SINGLE_PROCESS, SingleProcess, join
from .progress import NullProgress, Progress, make_progress
from .results.folders import CHECKPOINTS, clear_folder, output_folder
from .results.logs import check_formats
from .results.run_files import RunFacts, end_run, facts_of, write_run
from .results.run_folders import OutputFolder, claimed_output_folder
from .results.training_report import TrainingReport

if TYPE_CHECKING:
    from paddle_layers.config import Training
    from paddle_layers.config.training import WeightsSettings
    from paddle_layers.config.trainingfiles import Sizes


def train(
    training: str | Path | Training,
    *,
    callbacks: Sequence[object] = (),
    output: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    seed: int | None = None,
    weights: str | Path | None = None,
    device: str = "cpu",
    datasets: Mapping[str, Given] | None = None,
    plugins: Sequence[str | Path] = (),
    settings: Sequence[str] = (),
    progress: Progress | None = None,
    patience: float = PATIENCE,
) -> TrainingReport:
    """Train a network, with the progress on stderr and the results on stdout.

    Started by `mpiexec`, all processes train one network, each with a part of every batch (data parallelism).

    Args:
        training: Path of a training file, its text, or the result of `make_training` or `load_training`.
        callbacks: Objects with any of the methods listed in `paddle_layers.training.callbacks`, such as `on_step` and
            `on_test`, each taking a `Run`; they are called after those of the file.
        output: Output folder, instead of that of the file.
        resume: Continue from the newest checkpoint in the output folder; the losses equal those of an uninterrupted run
            bit for bit on the same machine.
        overwrite: Replace the results of another training in the output folder.
        seed: Random seed, instead of that of the file.
        weights: Initial weights, instead of the file of the block `weights`, whose other fields apply to them as well.
        device: `"cpu"` or `"cuda"`.
        datasets: Data by phase, "train", "validation" and "test", instead of the sources of the file, which are then
            optional: arrays by field; a DataFrame of pandas, polars or Arrow; a `Dataset`; or batches, each a dict of
            arrays by field, from a list, a generator or another iterable, which is iterated in every epoch.
        plugins: Python files that register definitions; imported first.
        settings: Fields that override those of the file, such as
            `["optimizer.learning_rate=0.01", "net.layer[fc1].fc.size=20"]`.
        progress: Progress display, instead of a progress bar or log lines.
        patience: Timeout in seconds of a process that waits for another; then all of them end.

    Returns:
        Results of the last validation and of the test, and the paths of the output files.

    Raises:
        ConfigError: The file has errors, or the data do not fit.
        WeightsError: The weights cannot be read or do not fit.
        DataError: The data, or the fitted preprocessing beside the weights, cannot be read.
        TrainingError: The training cannot start, or the loss is NaN or infinite.
        SaveError: An output file cannot be written, as on a full disk.
        TypeError: An argument has the wrong type.

    Example::

        pl.train("digits.textproto", settings=["optimizer.learning_rate=0.01"])
    """
    options = Options(
        callbacks=callbacks,
        output=output,
        resume=resume,
        overwrite=overwrite,
        seed=seed,
        weights=weights,
        device=device,
        datasets={} if datasets is None else datasets,
        plugins=plugins,
        settings=settings,
        progress=progress,
    )
    ranks = join(patience)
    with ranks.together():
        report = run_training(training, options, ranks)
    if ranks.first:
        with writing_to_stdout():
            print(printable(str(report)), flush=True)
    return report


@dataclass(frozen=True)
class Options:
    """Options of a training besides its file; `train` describes them."""

    callbacks: Sequence[object] = ()
    output: str | Path | None = None
    resume: bool = False
    overwrite: bool = False
    seed: int | None = None
    weights: str | Path | None = None
    device: str = "cpu"
    datasets: Mapping[str, Given] = field(default_factory=dict)
    plugins: Sequence[str | Path] = ()
    settings: Sequence[str] = ()
    progress: Progress | None = None

    def fields(self) -> list[str]:
        """The options that correspond to fields of the file, in the syntax of `settings`."""
        given = [f'output="{self.output}"'] if self.output is not None else []
        given += [f"seed={self.seed}"] if self.seed is not None else []
        return given + ([f'weights.file="{Path(self.weights).absolute()}"'] if self.weights is not None else [])


def run_training(
    training: str | Path | Training, options: Options, ranks: SingleProcess = SINGLE_PROCESS
) -> TrainingReport:
    """As `train`, in one of the processes `ranks`, which is `together` with the others; the report is not printed."""
    if options.resume and options.weights is not None:
        raise TrainingError("`resume` restores the weights of a checkpoint: remove `weights`")
    if options.resume and options.overwrite:
        raise TrainingError("`resume` continues the training that `overwrite` would replace: remove one of them")
    if isinstance(options.settings, str):
        raise TypeError(f"settings must be a list of strings: write [{options.settings!r}]")
    fields = {str(setting).partition("=")[0] for setting in options.settings}
    if both := [name for name in (one.partition("=")[0] for one in options.fields()) if name in fields]:
        raise TrainingError(f"`{both[0]}` is set twice, by an option and by `settings` (--set): remove one of them")
    check_callbacks(options.callbacks)
    check_phases(options.datasets)
    datasets, sizes = dict(options.datasets), dict[str, int]()
    options = replace(options, datasets=datasets)
    read_sizes = _sizes(options, datasets, sizes)
    training, file = resolve_training(training, "train", options.plugins, options.settings, read_sizes)
    check_formats(training.log.format)
    # Before the folder is claimed: weights that do not fit leave no new folder.
    first = first_weights(training, options.weights) if not options.resume else None
    with contextlib.ExitStack() as stack:
        progress = (options.progress or make_progress()) if ranks.first else NullProgress()
        shown = stack.enter_context(contextlib.closing(progress))
        if sizes:
            shown.say(f"note: sizes from the data: {', '.join(f'{name} {size}' for name, size in sizes.items())}")
        folder = output_folder(training, options.output)
        facts, texts = facts_of(training, folder, options.fields(), data=bool(options.datasets))
        output = stack.enter_context(_agreed_output_folder(folder, facts, texts, options, ranks, shown))
        if output.resume:
            first = None  # those of the checkpoint
        callbacks = [*(one.definition.create(one.attributes) for one in training.callback), *options.callbacks]
        known = _known(training, first, output)
        # The first process compiles alone; the others find its results in the cache.
        job = ranks.in_turn(lambda: _prepare(training, options, callbacks, known, ranks, shown))
        if note := ranks.share(job.net):
            shown.say(note)
        if ranks.first:
            # Only now: everything that may be wrong with file, data or network has been found while the old results
            # were still there.
            if output.clear:
                clear_folder(output.folder)
            write_run(output.folder, facts, texts, resumed=output.resume)
        stack.enter_context(job.net)
        stack.enter_context(contextlib.closing(job.train))
        loop = TrainingLoop(training, job, output.folder, shown, callbacks, ranks)
        stack.enter_context(contextlib.closing(loop))
        loop.begin(resume=output.resume, weights=first)
        with loop.checkpoints.weights_rescued():
            loop.run_steps()
            report = loop.finish(file)
        if ranks.first:
            end_run(output.folder, loop.facts_at_the_end(facts))
    return report


@contextlib.contextmanager
def _agreed_output_folder(
    folder: Path, facts: RunFacts, texts: Mapping[str, str], options: Options, ranks: SingleProcess, shown: Progress
) -> Iterator[OutputFolder]:
    """The common output folder of all processes: the first one claims it, as long as the context is open."""
    with contextlib.ExitStack() as stack:
        output = OutputFolder(folder)
        if ranks.first:
            claim = claimed_output_folder(folder, facts, resume=options.resume, overwrite=options.overwrite)
            output = stack.enter_context(claim)
            if output.note:
                shown.say(output.note)
            if not output.clear and not output.resume:
                write_run(output.folder, facts, texts, resumed=False)  # others that begin now have to know
        # The folder may have a number that the first process has chosen.
        agreed = Path(ranks.any_of(str(output.folder)))
        yield output._replace(folder=agreed, resume=bool(ranks.any_of("resume" if output.resume else "")))


def _prepare(
    training: Training,
    options: Options,
    callbacks: Sequence[object],
    known: FittedPreprocessing,
    ranks: SingleProcess,
    shown: Progress,
) -> Job:
    return prepare(
        training,
        seed=training.seed if options.seed is None else options.seed,
        device=options.device,
        datasets=options.datasets,
        callbacks=callbacks,
        say=shown.say,
        compiling=shown.compiling,
        known=known,
        ranks=ranks,
    )


def _sizes(options: Options, datasets: dict[str, Given], found: dict[str, int]) -> Sizes:
    """As `read_training` takes it: sizes from the data, added to `found`, before there is an output folder."""

    def sizes(training: Training, layers: Sequence[str]) -> dict[str, int]:
        known = (
            _resumed(output_folder(training, options.output))
            if options.resume
            else expected_preprocessing(training, options.weights)
        )
        datasets.update(with_frames_read(training, datasets))  # an Arrow stream can be read only once
        found.update(sizes_from_data(training, layers, datasets, known))
        return found

    return sizes


def _known(training: Training, first: WeightsSettings | None, output: OutputFolder) -> FittedPreprocessing:
    """The preprocessing that is known before data are read: that of the initial weights."""
    return _resumed(output.folder) if output.resume else known_preprocessing(training, first)


def _resumed(folder: Path) -> FittedPreprocessing:
    """That of the newest checkpoint in an output folder."""
    return learned_for(newest_checkpoint(folder / CHECKPOINTS) / WEIGHTS)[0].as_firm()
