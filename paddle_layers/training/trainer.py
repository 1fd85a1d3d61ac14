"""Training a network as a training file says."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paddle_layers.data.learning import FILE, NOTHING, Learned, read_learned
from paddle_layers.define.escaping import printable

from .first_values import first_weights, still_known
from .folders import claimed_folder, clear_folder, output_folder
from .logs import check_formats
from .loop import Trainer
from .opening import Given, learned_for
from .preparation import prepare
from .problems import TrainingError
from .progress import Progress, make_progress
from .reading import read_training
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
    progress: Progress | None = None,
) -> Report:
    """Train as a training says, show the progress on stderr, and print the results on stdout.

    `training` is the path of a training file, its text, or what `make_training` and `load_training` give.
    `callbacks` are objects with any of the methods `on_step`, `on_test_batch`, `on_test`, `on_epoch`, `on_end`,
    each taking a `Run`; they come after those of the file. `datasets` replaces the file's sources by phase, "train" and
    "test", which the file need not have then: arrays by field, a `Dataset`, or batches, each a dict of arrays by field,
    from a list, a generator or any other object that is iterated in every epoch. `weights` are first values, in place
    of those of the block `weights`, whose other fields hold for them as well.
    `resume` continues the newest checkpoint in the output folder; its losses equal those of an uninterrupted run bit
    for bit on the same machine. Raises `ConfigError` for a wrong file or data that do not fit, `WeightsError` and
    `DataError` for weights and what is kept beside them, `TrainingError` when the training cannot start or the loss is
    no number, `SaveError` when the disk is full.
    """
    if resume and weights is not None:
        raise TrainingError("`resume` goes on from the weights of a checkpoint: leave `weights` out")
    training, file = read_training(training, "train", plugins)
    check_formats(training.log.format)
    first = first_weights(training, weights) if not resume else None
    folder = output_folder(training, output)
    claim = claimed_folder(folder, resume=resume, overwrite=overwrite)
    with claim, contextlib.closing(progress or make_progress()) as shown:
        seed = training.seed if seed is None else seed
        own = [settings.definition.create(settings.attributes) for settings in training.callback]
        callbacks = [*own, *callbacks]
        job = prepare(
            training,
            seed=seed,
            device=device,
            datasets=datasets or {},
            callbacks=callbacks,
            say=shown.say,
            compiling=shown.compiling,
            known=_known(training, first, folder, resume=resume),
        )
        if overwrite and not resume:
            clear_folder(folder)
        with job.net, contextlib.closing(job.train):
            trainer = Trainer(training, job, folder, shown, callbacks)
            with contextlib.closing(trainer):
                trainer.begin(resume=resume, weights=first)
                trainer.run_steps()
                report = trainer.finish(file)
    print(printable(str(report)))
    return report


def _known(training: Training, first: WeightsSettings | None, folder: Path, *, resume: bool) -> Learned:
    """What is known of the data before they are read: that which the weights to start from were trained with."""
    if resume:
        return read_learned(folder / FILE)
    return still_known(learned_for(Path(first.file))[0], training, first) if first is not None else NOTHING
