"""Evaluation of saved weights on a test source: losses, metrics and the confusion matrix."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from paddle_layers.config.training_builder import resolve_training
from paddle_layers.data.formats.tokenizers import read_words
from paddle_layers.define import registries
from paddle_layers.runtime.plan.metrics import total_loss

from ..evaluation import named_costs, run_test, take_statistics
from ..initial_weights import TARGET_NORM
from ..network_values import check_order, check_words, word_of
from ..problems import TrainingError
from ..results.result_names import loss_names, nan_notes, selected, statistic_names
from ..results.training_report import left_out_text
from ..training_checks import NUMBER_COSTS
from .confusion import Confusion
from .input_data import (
    GivenData,
    UnknownWords,
    given_batches,
    held_out_source,
    load_trained,
    sizes_of_weights,
    source_for,
    weights_file,
    words_of,
)
from .outputs import CLASS_COSTS, always

if TYPE_CHECKING:
    from paddle_layers.config import Network, Training
    from paddle_layers.config.training import SourceSettings
    from paddle_layers.config.wiring.nodes import Node

MOST_CLASSES = 1000
"""Maximum number of classes with a confusion matrix, whose size is the square of it."""
MATRIX, ERRORS = "confusion_matrix", "regression_error"


@dataclass(frozen=True)
class Evaluation:
    """Results of an evaluation."""

    network: str
    """Name of the network."""
    weights: Path
    """File of the weights."""
    data: str
    """The origin of the data, such as a file name."""
    rows: int
    """Rows that were tested."""
    results: Mapping[str, float]
    """Loss, losses and metrics by name, as in the training log."""
    confusions: Sequence[Confusion] = ()
    """Confusion matrices of the classification losses."""
    notes: Sequence[str] = ()
    """Omitted results, and the reason."""


def evaluate(
    training: str | Path | Training,
    data: GivenData = None,
    *,
    weights: str | Path | None = None,
    dictionary: str | Path | None = None,
    device: str = "cpu",
) -> Evaluation:
    """Evaluate the network of a training with saved weights on held-out data.

    In addition to the losses and metrics of the network, classification losses get a confusion matrix, and regression
    losses MAE, RMSE and R2, unless the network has these layers itself.

    Args:
        training: Path of a training file, its text, or the result of `make_training` or `load_training`.
        data: A file, arrays by field, a DataFrame, or None for the source of the test phase, else of the validation
            phase, as in `predict`, but with labels.
        weights: File of the weights; None for the best ones in the output folder of the training.
        dictionary: File with the names of the classes, one per line; None for the names of the source.
        device: `"cpu"` or `"cuda"`.

    Returns:
        The results. Their `notes` have the share of unknown words, and the number of records that the source skips
        (`on_error`).

    Raises:
        ConfigError: The training file has errors, or the data do not fit.
        DataError: The data cannot be read.
        WeightsError: The weights cannot be read or do not fit.
        TrainingError: There are no weights yet.

    Example::

        print(pl.evaluate("digits.textproto").results["accuracy"])
    """
    from paddle_layers.runtime import Net

    training, named = resolve_training(training, "evaluate", sizes=sizes_of_weights(weights))
    file = weights_file(training, weights)
    known, losses = statistic_names(training), loss_names(training)
    network, judged, notes = _with_measures(always(selected(training, "test")), {*known.values(), *losses.values()})
    batches = given_batches(training, network, _source(training, data, named), data, file)
    with Net(network, device=device, dtype=training.dtype) as net:
        if converted := load_trained(net, training, file):
            notes.append(f"{file}{converted}")
        unknown = UnknownWords(training, batches)
        sums = run_test(net, unknown.counted(batches))
        counted = {(layer, name): numbers for layer, name, numbers in net.statistics_state()}
        loss = {"loss": total_loss(sums.values())} if sums else {}
        results = {**loss, **named_costs(sums, losses), **take_statistics(net, known | judged)}
    if not results:
        raise TrainingError("nothing to evaluate: the network has neither costs nor metrics in the test phase")
    own = read_words(Path(dictionary)) if dictionary is not None else None
    judges = [node for node in network.nodes if node.definition.name == MATRIX]
    if own is not None and not judges:
        raise TrainingError("a dictionary names classes, but the network has no class scores; remove it")
    for node in judges if own is not None else ():
        check_words(own or (), _classes(node), dictionary, node.inputs[0])
        check_order(own or (), words_of(training, batches, node.inputs[1]), dictionary)
    confusions = [_confusion(node, counted, own or words_of(training, batches, node.inputs[1])) for node in judges]
    if data is None and training.source_of("test") is None:
        notes.append("evaluated on the validation data: there is no source for the test phase")
    notes += [*nan_notes(training, results), *unknown.notes(), *filter(None, [left_out_text(batches)])]
    rows = batches.count - len(batches.bad)
    return Evaluation(network.name, file, batches.dataset.origin, rows, results, confusions, notes)


def _source(training: Training, data: GivenData, named: str) -> SourceSettings | None:
    """The source that says how data are read; that of the training only where other data are named."""
    source = held_out_source(training)
    if source is None and data is None:
        what = f"{training.file.name} has no source for the test or validation phase; pass the test data, as in "
        command = f"`paddle-layers evaluate {named} DATA`" if named else "`evaluate(training, arrays)`"
        raise TrainingError(f'{what}{command}, or add a source with `phase: "test"`')
    return source or source_for(training)


def _with_measures(network: Network, taken: Collection[str]) -> tuple[Network, dict[str, str], list[str]]:
    """Add metrics to the losses of a network.

    A loss whose values the network already compares gets none. Short names of results avoid those that are `taken`.

    Returns:
        The network with the metrics, their statistics by the net's names, and the losses without metrics.
    """
    from paddle_layers.config import Network

    nodes = list(network.nodes)
    # Losses of standardized values get metrics in the units of the data.
    norms = (node for node in nodes if node.definition.name == TARGET_NORM)
    units: dict[tuple[str, ...], Node] = {(norm.inputs[0], norm.output_names[1]): norm for norm in norms}
    there = {(node.definition.name, *node.inputs[:2]) for node in nodes}
    judged: dict[str, str] = {}
    notes: list[str] = []
    for node in network.nodes:
        kind = MATRIX if node.definition.name in CLASS_COSTS else ERRORS if node.definition.name in NUMBER_COSTS else ""
        norm = units.get(node.inputs[:2])
        compared = (norm.output_names[0], norm.inputs[1]) if norm is not None else node.inputs[:2]
        if not kind or (kind, *compared) in there or (kind == MATRIX and node.input_types[1].kind != "INT"):
            continue
        there.add((kind, *compared))
        classes = _classes(node) if kind == MATRIX else 0
        if kind == MATRIX and node.input_types[1].size == 1:  # its single score would be taken for a binary one
            notes.append(f"no confusion matrix of `{node.inputs[0]}`: `{node.inputs[1]}` has a single class")
            continue
        if classes > MOST_CLASSES:
            notes.append(
                f"no confusion matrix of `{node.inputs[0]}`: {classes:,} classes exceed the limit of {MOST_CLASSES:,}"
            )
            continue
        judge = _judge(kind, node, compared, network)
        nodes.append(judge)
        if len(node.inputs) > 2:
            metrics = "the confusion matrix of" if kind == MATRIX else "MAE, RMSE and R2 of"
            ignore = "ignores" if kind == MATRIX else "ignore"
            notes.append(f"{metrics} `{compared[0]}` {ignore} the sample weights of `{node.name}`")
        for measure in judge.definition.results if kind == ERRORS else ():
            short, long = f"{compared[0]}.{measure}", f"{judge.name}.{measure}"
            judged[f"{judge.name}.{kind}.{measure}"] = long if short in taken or short in judged.values() else short
    return Network.checked(network.name, nodes, network.source), judged, notes


def _classes(node: Node) -> int:
    """The classes that have a score; there is one for every label where labels have axes."""
    return node.input_types[0].columns // node.input_types[1].columns


def _judge(kind: str, cost: Node, compared: tuple[str, ...], network: Network) -> Node:
    """A layer that compares what a cost compares, or the same values in other units."""
    from paddle_layers.config.binding.drafts import Setup
    from paddle_layers.config.wiring.nodes import Node

    definition = registries["layer"][kind]
    ignored = (
        {"ignore_label": cost.attributes["ignore_label"]} if cost.attributes.get("ignore_label") is not None else {}
    )
    setup = Setup(definition, definition.bind(ignored))
    types = cost.input_types[:2]
    definition.infer(types, setup.attributes)
    name = f"{kind} of {cost.name}"
    while name in network:
        name += "_"
    return Node(name, compared, (), setup, types, (), 0)


def _confusion(node: Node, counted: Mapping[tuple[str, str], Sequence[float]], words: Sequence[str]) -> Confusion:
    wanted = np.array(counted[node.name, "wanted"])
    counts = np.array(counted[node.name, "counts"]).reshape(len(wanted), len(wanted))
    names = [word_of(number, words) for number in range(len(wanted))]
    return Confusion(node.inputs[0], node.inputs[1], names, counts, wanted, regions=bool(node.input_types[1].dims))
