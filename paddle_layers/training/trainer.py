"""Training a network as a training file says."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paddle_layers.data.learning import FILE, NOTHING, Learned, read_learned
from paddle_layers.define.escaping import printable

from .callbacks import check_callbacks
from .first_values import first_weights, still_known
from .loop import Trainer
from .opening import Given, learned_for
from .preparation import prepare
from .problems import TrainingError
from .processes.ranks import ALONE, PATIENCE, Alone, join
from .progress import Progress, Silence, make_progress
from .reading import read_training
from .results.folders import clear_folder, output_folder
from .results.logs import check_formats
from .results.numbered import Place, claimed_place
from .results.run_files import end_run, facts_of, write_run
from .runs import Report

if TYPE_CHECKING:
    from paddle_layers.config import Training
    from paddle_layers.config.training import WeightsSettings


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
) -> Report:
    """Train as a training says, show the progress on stderr, and print the results on stdout.

    `training` is the path of a training file, its text, or what `make_training` and `load_training` give.
    `settings` are fields in the place of the file's, `["optimizer.learning_rate=0.01", "net.layer[fc1].fc.size=20"]`.
    `datasets` replaces the file's sources by phase, "train" and "test", which the file need not have then: arrays by
    field, a `Dataset`, or batches, each a dict of arrays by field, from a list, a generator or any other object that is
    iterated in every epoch.
    `callbacks` are objects with any of the methods listed in `paddle_layers.training.callbacks`, such as `on_step` and
    `on_test`, each taking a `Run`; they come after those of the file.
    `weights` are first values, in place of those of the block `weights`, whose other fields hold for them as well.
    `resume` continues the newest checkpoint in the output folder; its losses equal those of an uninterrupted run bit
    for bit on the same machine.
    Started by `mpiexec`, all processes train one network, each with a part of every batch; one that waits `patience`
    seconds for another ends them.

    Raises `ConfigError` for a wrong file or data that do not fit, `WeightsError` and `DataError` for weights and what
    is kept beside them, `TrainingError` when the training cannot start or the loss is no number, `SaveError` when the
    disk is full, `TypeError` for arguments of the wrong kind.
    """
    ranks = join(patience)
    with ranks.together():
        report = run_training(
            training,
            ranks,
            callbacks=callbacks,
            output=output,
            resume=resume,
            overwrite=overwrite,
            seed=seed,
            weights=weights,
            device=device,
            datasets=datasets,
            plugins=plugins,
            settings=settings,
            progress=progress,
        )
    if ranks.first:
        print(printable(str(report)))
    return report


def run_training(
    training: str | Path | Training,
    ranks: Alone = ALONE,
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
) -> Report:
    """As `train`, in one of the processes `ranks`, which is `together` with the others; the report is not printed."""
    if resume and weights is not None:
        raise TrainingError("`resume` goes on from the weights of a checkpoint: leave `weights` out")
    check_callbacks(callbacks)
    training, file = read_training(training, "train", plugins, settings)
    check_formats(training.log.format)
    first = first_weights(training, weights) if not resume else None
    with contextlib.ExitStack() as stack:
        shown = stack.enter_context(contextlib.closing((progress or make_progress()) if ranks.first else Silence()))
        folder = output_folder(training, output)
        given = _given(output, seed, weights)
        facts, texts = facts_of(training, folder, given, data=bool(datasets))
        place = Place(folder)
        if ranks.first:
            place = stack.enter_context(claimed_place(folder, facts, resume=resume, overwrite=overwrite))
            if place.note:
                shown.say(place.note)
            if not place.clear and not place.resume:
                write_run(place.folder, facts, texts, resumed=False)  # others that begin now have to know
        folder = Path(ranks.any_of(str(place.folder)))
        resume = bool(ranks.any_of("resume" if place.resume else ""))
        if resume:
            first = None  # those of the checkpoint
        own = [one.definition.create(one.attributes) for one in training.callback]
        callbacks = [*own, *callbacks]
        job = ranks.in_turn(
            lambda: prepare(
                training,
                seed=training.seed if seed is None else seed,
                device=device,
                datasets=datasets or {},
                callbacks=callbacks,
                say=shown.say,
                compiling=shown.compiling,
                known=_known(training, first, folder, resume=resume),
                ranks=ranks,
            )
        )
        if note := ranks.share(job.net):
            shown.say(note)
        if ranks.first:
            if place.clear:
                clear_folder(folder)
            write_run(folder, facts, texts, resumed=resume)
        with job.net, contextlib.closing(job.train):
            trainer = Trainer(training, job, folder, shown, callbacks, ranks)
            with contextlib.closing(trainer):
                trainer.begin(resume=resume, weights=first)
                trainer.run_steps()
                report = trainer.finish(file)
                if ranks.first:
                    end_run(folder, trainer.facts_at_the_end(facts))
    return report


def _given(output: str | Path | None, seed: int | None, weights: str | Path | None) -> list[str]:
    """Arguments as the fields that they stand for."""
    given = [f'output="{output}"'] if output is not None else []
    given += [f"seed={seed}"] if seed is not None else []
    return given + ([f'weights.file="{Path(weights).absolute()}"'] if weights is not None else [])


def _known(training: Training, first: WeightsSettings | None, folder: Path, *, resume: bool) -> Learned:
    """What is known of the data before they are read: that which the weights to start from were trained with."""
    if resume:
        return read_learned(folder / FILE)
    return still_known(learned_for(Path(first.file))[0], training, first) if first is not None else NOTHING
