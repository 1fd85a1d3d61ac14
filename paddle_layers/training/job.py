"""Preparation: from a checked training file to data, net and optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from paddle_layers.config.diagnostics.report import warn
from paddle_layers.config.wiring.data_layers import carried_values
from paddle_layers.data import Batches, Stream
from paddle_layers.data.fitted_preprocessing import NOTHING, FittedPreprocessing

from .callback_checks import check_tests, prepare_callbacks
from .callbacks.monitoring import Watching
from .data_loading import Given, Subset, datasets_of, open_parts, part_name, placed, with_frames_read
from .evaluation import PhaseData
from .initial_weights import check_data_norms
from .phase_data import label_fields, make_batches, phase_data
from .problems import TrainingError
from .processes.ranks import SINGLE_PROCESS, SingleProcess
from .results.result_names import check_further
from .schedules import check_rates
from .training_checks import check_learning, large_targets, planned_steps

if TYPE_CHECKING:
    from paddle_layers.config import Training
    from paddle_layers.define import LayerDefinition
    from paddle_layers.define.definitions.elementwise import Elementwise
    from paddle_layers.runtime import Net
    from paddle_layers.runtime.optimise.updater import Updater


def check_sharing(
    training: Training, count: int, data: Sequence[Batches | Stream], callbacks: Sequence[object]
) -> None:
    """Raise `ConfigError` or `TrainingError` for what processes cannot share."""
    if training.batch_size < count:
        message = f"`batch_size` is {training.batch_size}, must be at least {count}, the number of processes"
        raise training.error("batch_size", message, code="E319")
    for batches in data:
        if isinstance(batches, Stream):
            raise TrainingError(
                f"{count} processes share the samples of a dataset, but `{batches.name}` yields batches: pass "
                "arrays or a `Dataset`, or train with one process"
            )
        if batches.skip:
            raise TrainingError(
                '`on_error: "skip"` would give the processes batches of different sizes: remove '
                "the damaged records from the data, or train with one process"
            )
    if carried := carried_values(training.network.nodes):
        raise TrainingError(
            f"the data layer `{next(iter(carried))}` carries state from batch to batch, but the samples of a process "
            "change with each batch: train with one process"
        )
    _check_synchronized(training)
    for listener in callbacks:
        if hasattr(listener, "on_test_batch"):
            name = type(listener).__name__
            raise TrainingError(
                f"`{name}` needs all samples of a test, but each process has only some: train with one process"
            )


def _check_synchronized(training: Training) -> None:
    """Raise `TrainingError` where a process may begin a pass anew in whose middle it has waited for the others."""
    nodes = training.network.nodes
    joined = [node.name for node in nodes for one in node.definition.joined if node.attributes[one.when]]
    makers = [node.name for node in nodes if node.definition.dynamic_rows and _by_values(node.definition)]
    if joined and makers:
        raise TrainingError(
            f"`{joined[0]}` is synchronized, but `{makers[0]}` has a dynamic row count: processes cannot "
            "synchronize within such a batch; train with one process, or normalize each process separately"
        )


def _by_values(definition: LayerDefinition) -> bool:
    """Whether a layer's own rows depend on values, not on lengths and sizes only."""
    return any(name in definition.inputs or name in definition.temps for name in definition.hook_names["starts"])


READ_GRADIENTS = ("on_gradients", "on_step")
"""Methods of callbacks that may look at gradients of parameters."""


@dataclass
class Job:
    """The components of a training."""

    net: Net
    updater: Updater
    train: Batches | Stream
    monitored: PhaseData
    """Data of the evaluations during the training: validation data, else test data."""
    final: PhaseData
    """Test data of a training with validation data, for its end."""
    total: int
    """Steps of the whole training."""
    learned: FittedPreprocessing
    """Preprocessing of other data: vocabularies, means of columns."""


def prepare(
    training: Training,
    *,
    seed: int,
    device: str,
    datasets: Mapping[str, Given],
    callbacks: Sequence[object],
    say: Callable[[str], None],
    compiling: Callable[[int, int, str], None],
    known: FittedPreprocessing = NOTHING,
    ranks: SingleProcess = SINGLE_PROCESS,
) -> Job:
    """Open the data, check them against the data layers, build the net and the optimizer.

    `datasets` replaces sources by phase; `known` is what the first weights go with; the processes `ranks` share
    every batch. Raises `ConfigError` where the data don't fit, `TrainingError` for a network without a loss.
    """
    whole, streams = datasets_of(training, with_frames_read(training, datasets))
    parts, learned = open_parts(training, whole, known, streams, label_fields(training))
    if "train" not in (parts | streams):
        message = "missing source for the train phase"
        help_ = 'add `source { type: "npz" npz { ... } }`; in Python, `train(..., datasets={"train": ...})` replaces it'
        raise training.error("source", message, code="E304", help=help_)
    train = phase_data(training, "train", parts, streams, seed)
    assert train is not None, "checked above"
    validation, test = (_evaluated(training, phase, parts, streams, seed) for phase in ("validation", "test"))
    monitored, final = (test, PhaseData("test")) if validation.first is None else (validation, test)
    if monitored.first is None:
        check_tests(training, callbacks)
    elif training.source_of(monitored.phase) is None and not training.test.repeated:
        _warn_of_one_test(training, callbacks, monitored.phase)
    check_learning(training)
    check_data_norms(training)
    keep = prepare_callbacks(training, callbacks, monitored.phase)
    rows = train.count
    if training.batch_size > rows > 0:
        say(
            f"note: batch_size is {training.batch_size}, but there are only {rows} samples: every step takes all of "
            "them, and an epoch is one step"
        )
    for note in large_targets(training, train):
        say(note)
    total = planned_steps(training, train)
    check_rates(training, total)
    if ranks.count > 1:
        check_sharing(training, ranks.count, [train, *monitored.batches, *final.batches], callbacks)
    # Reserved for all data at once, so that no plan has to grow during the training.
    capacity = max(batches.batch_size for batches in (train, *monitored.batches, *final.batches))
    net, updater = _make_net(training, seed, device, keep, compiling, ranks)
    if not any(hasattr(one, name) for one in callbacks for name in READ_GRADIENTS):
        _update_in_backward(training, net, updater, ranks)
    # Before the first step: memory is reserved and the kernels of the network compiled, so that missing memory is
    # reported at once.
    net.plan_for(-(-capacity // ranks.count))
    return Job(net, updater, train, monitored, final, total, learned)


def compile_kernels(training: Training, device: str, compiling: Callable[[int, int, str], None]) -> None:
    """Compile the kernels of the steps of a training, whose data are not read."""
    net, updater = _make_net(training, 0, device, (), compiling, SINGLE_PROCESS)
    with net:
        _update_in_backward(training, net, updater, SINGLE_PROCESS)
        net.plan_for(training.batch_size)


def _update_in_backward(training: Training, net: Net, updater: Updater, ranks: SingleProcess) -> None:
    """Update parameters within the backward pass, unless something needs their gradients after it."""
    # Other processes need them, and a gradient that is not finite must leave all parameters as they are.
    if ranks.count == 1 and training.on_nan != "skip":
        updater.update_in_backward(net)


def _evaluated(
    training: Training,
    phase: str,
    parts: Mapping[str, Sequence[Subset]],
    streams: Mapping[str, Iterable[Mapping[str, Any]]],
    seed: int,
) -> PhaseData:
    """The data of a phase of evaluations. Raises `ConfigError`."""
    further = {}
    for name, source in training.further_sources:
        if source.phase == phase:
            with placed(training, source):
                check_further(training, name)
            further[name] = make_batches(training, phase, parts[part_name(source)], seed=seed)
    return PhaseData(phase, phase_data(training, phase, parts, streams, seed), further)


def _make_net(
    training: Training,
    seed: int,
    device: str,
    keep: Iterable[str],
    compiling: Callable[[int, int, str], None],
    ranks: SingleProcess,
) -> tuple[Net, Updater]:
    """The net and what updates its parameters."""
    from paddle_layers.runtime import Net
    from paddle_layers.runtime.devices import open_device
    from paddle_layers.runtime.optimise.updater import Updater

    target = open_device(device, ranks.on_machine)
    net = Net(
        training.network,
        device=target,
        dtype=training.dtype,
        seed=seed,
        progress=compiling,
        keep=keep,
        level=training.level,
        stages=training.stage,
        gradient_memory=ranks.gradient_memory if target.name == "cpu" else None,
    )
    updater = Updater(
        cast("Elementwise", training.optimizer.definition),
        training.optimizer.attributes,
        net,
        regularizer=training.regularizer,
        clip=training.clip,
        accumulate=training.accumulate > 1,
        average=training.average,
        momentum_scheduled=bool(training.momentum_schedule),
    )
    return net, updater


def _warn_of_one_test(training: Training, callbacks: Sequence[object], phase: str) -> None:
    """As for sources, of which the check of the file knows, where the data of a phase were given from Python."""
    for number, listener in enumerate(callbacks):
        if isinstance(listener, Watching):
            place = f"callback[{number}]" if number < len(training.callback) else ""
            message = f"`{type(listener).__name__}` acts after each {phase}, but the only {phase} is at the end"
            help_ = f"add `test {{ every: 100 }}` to the training file, with the number of steps between two {phase}s"
            warn(training.error(place, message, code="W005", help=help_).diagnostics)
