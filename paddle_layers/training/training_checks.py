"""Checks of a training before its first step, and the report of all errors that a training would raise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from paddle_layers.config.diagnostics.report import ConfigError
from paddle_layers.config.parameters import learning_names
from paddle_layers.data import Batches, DataError
from paddle_layers.data.fitted_preprocessing import NOTHING
from paddle_layers.define.definitions.elementwise import Elementwise

from .callback_checks import callback_faults, check_tests
from .inference.outputs import has_own_parameters
from .initial_weights import check_data_norms, expected_preprocessing, fed_moments, first_weights, known_preprocessing
from .phase_data import sizes_from_data, vocabulary_sizes
from .problems import TrainingError
from .results.folders import check_output_folder, output_folder
from .results.logs import check_formats
from .results.result_names import costs_of, selected
from .schedules import check_rates, momentum_at
from .source_checks import names_listed_for_training, source_faults

if TYPE_CHECKING:
    from paddle_layers.config import Network
    from paddle_layers.config.diagnostics.diagnostic import Diagnostic
    from paddle_layers.config.training import Training
    from paddle_layers.data import Stream


NUMBER_COSTS = ("square_error", "huber_regression", "smooth_l1")
"""Losses of regression."""
# Outputs of a new network are about 1, and Adam moves a bias by at most about the learning rate per step: 5,000 steps
# from 0 to 50 at the rate 0.01. With prices of 300,000, the loss fell by 0.2 % in the steps 50 to 200.
LARGE_TARGET = 50
"""Root mean square from which a regression target is reported as large."""


def unread_sizes(training: Training, layers: Sequence[str]) -> dict[str, int]:
    """The sizes of data layers that `train` would take from the data. Raises `ConfigError`."""
    try:
        return sizes_from_data(training, layers, known=expected_preprocessing(training, None))
    except ConfigError:
        # Files of words, and classes in the settings, are known without the data.
        listed = names_listed_for_training(training)
        if not listed.keys() >= {training.feed.get(layer, layer) for layer in layers}:
            raise
        return vocabulary_sizes(training, layers, listed)


def training_faults(training: Training) -> list[Diagnostic]:
    """All errors that `train` would raise before the first step, in the order of the file; nothing is computed.

    Checks that depend on an incomplete field of the training are omitted: they might report its consequences.
    """
    complete = training.is_complete
    faults = list(_setting_faults(training))
    known = NOTHING
    if complete("net", "network", "weights", "param"):
        try:
            known = known_preprocessing(training, first_weights(training, None))
        except ConfigError as error:
            faults += error.diagnostics
        except DataError as error:
            faults.append(training.fault("weights.file", str(error), code="E308"))
    batches = None
    if training.network.nodes and complete("feed", "level", "stage", "base", "batch_size"):
        of_data, batches = source_faults(training, known)
        faults += of_data
    if complete("net", "network", "source", "callback", "level", "stage"):
        faults += _event_faults(training)
    if complete("net", "network", "level", "stage"):
        faults += _faults_of(lambda: check_data_norms(training))
    if batches is not None and not training.incomplete:
        faults += _faults_of(lambda: _check_schedules(training, batches))
    # Stable: errors of the network, whose file is read first, keep their order.
    return sorted(faults, key=lambda fault: (fault.source is training.file, fault.start))


def _event_faults(training: Training) -> Iterator[Diagnostic]:
    """Errors of callbacks and of evaluations."""
    callbacks = [one.definition.create(one.attributes) for one in training.callback]
    yield from callback_faults(training, callbacks, training.monitored)
    # A file without sources is for `pl.train(datasets=)`, which may have test data.
    if {phase for one in training.source for phase in one.phases} == {"train"}:
        yield from _faults_of(lambda: check_tests(training, callbacks))


def _check_schedules(training: Training, batches: Batches) -> None:
    """Raises `ConfigError` for learning rates and momenta that are invalid at some step."""
    steps = planned_steps(training, batches)
    check_rates(training, steps)
    momentum_at(training, steps)


def _faults_of(check: Callable[[], object]) -> Sequence[Diagnostic]:
    """The errors that a check raises."""
    try:
        check()
    except ConfigError as error:
        return error.diagnostics
    return ()


def _setting_faults(training: Training) -> Iterator[Diagnostic]:
    """Errors that a training raises without a position: of the network as a whole, and of its output."""
    checks: list[tuple[str, str, Callable[[], None]]] = [
        ("optimizer", "E402", lambda: _check_step(training)),
        ("output", "E321", lambda: check_output_folder(output_folder(training, None))),
        ("log.format", "E321", lambda: check_formats(training.log.format)),
    ]
    if training.is_complete("net", "network", "param", "level", "stage"):
        checks.insert(0, ("", "E320", lambda: check_learning(training)))
    for place, code, check in checks:
        try:
            check()
        except TrainingError as error:
            yield training.fault(place, str(error), code=code)


def _check_step(training: Training) -> None:
    """Raises `TrainingError` for an optimizer of a plugin that is not complete."""
    definition = training.optimizer.definition
    if isinstance(definition, Elementwise) and definition.function is None:
        raise TrainingError(str(definition.error("has no @step function")))


def check_learning(training: Training) -> None:
    """A network learns by a loss, and has parameters that learn. Raises `TrainingError`."""
    network = selected(training, "train")
    if not learning_names(network):
        raise TrainingError("nothing to train: the network has no parameters in the train phase, or all are frozen")
    if not any(costs_of(node) for node in network.nodes):
        raise TrainingError(f"the network has no loss in the train phase; {_loss_hint(network)}")


def _loss_hint(network: Network) -> str:
    """How to get a loss: of a layer of a plugin that may be meant as one, else a layer."""
    read = {name for node in network.nodes for name in node.inputs}
    for node in network.nodes:
        own = not node.definition.module.startswith("paddle_layers.")
        if own and node.output_types and node.output_types[0].dims == () and read.isdisjoint(node.output_names):
            name, output = node.definition.name, next(iter(node.definition.outputs))
            return (
                f"if the layer `{node.name}` is meant as one, declare it in `{name}`, "
                f'`{output} = pl.Output("N", "...", loss=True)`, or set `loss_weight: 1` in the layer'
            )
    return 'add a layer such as type: "softmax_with_loss"'


def planned_steps(training: Training, train: Batches | Stream) -> int:
    """Steps of the whole training. Raises `TrainingError` where epochs have no known length."""
    if not training.steps and not len(train):
        raise TrainingError(
            'the training file sets `epochs`, but datasets["train"] has no length: set '
            "`steps` instead, or pass an object with a length"
        )
    return training.steps or (training.epochs or 1) * math.ceil(len(train) / training.accumulate)


def large_targets(training: Training, train: Batches | Stream) -> Iterator[str]:
    """Notes about regression targets that are not standardized. Data that are read lazily are not read for this."""
    nodes = selected(training, "train").nodes
    producers = {name: node for node in nodes for name in node.output_names}
    for node in nodes:
        if node.definition.name not in NUMBER_COSTS or not isinstance(train, Batches) or train.dataset.is_stored:
            continue
        prediction, target = (producers[name] for name in node.inputs[:2])
        if target.definition.inputs or not has_own_parameters(prediction):
            continue
        mean, deviation = fed_moments(train, node.inputs[1])
        column = int(np.argmax(np.hypot(mean, deviation)))
        if np.hypot(mean[column], deviation[column]) > LARGE_TARGET:
            yield (
                f"note: the target `{node.inputs[1]}` has the mean {mean[column]:.4g} and the standard deviation "
                f"{deviation[column]:.4g}, far from the outputs of a new network, about 1: standardize it with the "
                "layer `target_norm`"
            )
