"""Using a trained network: the part of it that leads to the scores, run over new data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.data import Batches, DataError, Dataset, make_feeds
from paddle_layers.data.lines import read_dictionary

from .folders import output_folder, trained_weights
from .preparation import selected, transforms_of
from .printing import word_of, words_of_ids
from .problems import TrainingError
from .trained import load_trained

if TYPE_CHECKING:
    from paddle_layers.config import Network, Training
    from paddle_layers.config.wiring.nodes import Node

SUFFIXES = {".csv": "csv", ".npz": "npz"}
PROBABILITIES = {"softmax_with_loss": "softmax", "sigmoid_cross_entropy": "sigmoid"}
"""Costs that take scores, and the layer that turns these into probabilities."""


@dataclass(frozen=True)
class Prediction:
    """Results by name of the value, one row for each row of the data; `classes` of those that are probabilities.

    `texts` has the words of classes and of values that are ids: for ids in sequences, a line for each sequence.
    """

    values: dict[str, NDArray[Any]]
    classes: dict[str, NDArray[np.int64]]
    texts: dict[str, list[str]]
    weights: Path | None = None
    """The file they were computed with."""


def predict(
    path: str | Path,
    data: str | Path | None = None,
    *,
    weights: str | Path | None = None,
    dictionary: str | Path | None = None,
    device: str = "cpu",
    seed: int = 0,
) -> Prediction:
    """Run the network of a training file over `data` (csv or npz; absent: the file's source of the test phase).

    What is given are the scores that the costs look at, as probabilities where the cost takes them so; no labels are
    needed. `weights` are those in the training's output folder unless they are given, the best ones if
    it has them; `dictionary` is a file with the
    words of ids and classes, one on each line. Raises `ConfigError`, `DataError`, `WeightsError`, `TrainingError`.
    """
    from paddle_layers.config import load_training
    from paddle_layers.runtime import Net

    training = load_training(path, sources_needed=False)
    file = Path(weights) if weights is not None else trained_weights(output_folder(training, None))
    network, scores = scoring_part(training)
    words = list(read_dictionary(Path(dictionary))) if dictionary is not None else []
    batches = _batches(training, network, data)
    results: dict[str, list[NDArray[Any]]] = {name: [] for name in scores}
    texts: dict[str, list[str]] = {}
    with Net(network, device=device, dtype=training.dtype, seed=seed, keep=scores) as net:
        load_trained(net, training, file)
        for batch in batches:
            net.forward(batch, phase="test")
            for name, found in results.items():
                value = net.value(name)
                found.append(value if isinstance(value, np.ndarray) else value.data)
                if found[-1].dtype.kind == "i":
                    texts.setdefault(name, []).extend(map(" ".join, words_of_ids(value, words)))
    values = {name: _activated(np.concatenate(found), scores[name]) for name, found in results.items()}
    classes = {name: values[name].argmax(axis=1) for name, how in scores.items() if how == "softmax"}
    texts |= {name: [word_of(number, words) for number in numbers.tolist()] for name, numbers in classes.items()}
    return Prediction(values, classes, texts, file)


def scoring_part(training: Training) -> tuple[Network, dict[str, str]]:
    """The layers that the costs' scores rest on, and the scores with what turns them into probabilities ("": nothing).

    Without a cost these are all layers and the network's outputs.
    """
    from paddle_layers.config import Network

    whole = selected(training, "test")
    scores = {
        node.inputs[0]: PROBABILITIES.get(node.definition.name, "")
        for node in whole.nodes
        if any(output.loss for output in node.definition.outputs.values())
    }
    scores = scores or dict.fromkeys(whole.outputs, "")
    makers = {name: node for node in whole.nodes for name in node.output_names}
    wanted: dict[str, Node] = {}
    waiting = list(scores)
    while waiting:
        node = makers[waiting.pop()]
        if node.name not in wanted:
            wanted[node.name] = node
            waiting += node.inputs
    nodes = [node for node in whole.nodes if node.name in wanted]
    return Network.checked(whole.name, nodes, whole.source), scores


def _batches(training: Training, network: Network, data: str | Path | None) -> Batches:
    source = training.source_of("test") or training.source_of("train")
    if source is None:
        raise TrainingError("the training file has no source, so it does not say how data are read")
    types = {
        name: type_
        for node in network.nodes
        if not node.definition.inputs
        for name, type_ in zip(node.output_names, node.output_types, strict=True)
    }
    dataset = source.definition.create(source.attributes).open(training.base) if data is None else _open(source, data)
    transforms = [(layer, change) for layer, change in transforms_of(training, source) if layer in types]
    feeds = make_feeds(dataset, types, fields=training.feed, transforms=transforms, dtype=training.dtype)
    return Batches(dataset, training.batch_size, shuffle=False, training=False, feeds=feeds)


def _open(source: Any, data: str | Path) -> Dataset:
    """A file, read as the training file's own source is when that is of the same type."""
    from paddle_layers.define import registries

    path = Path(data).absolute()
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise DataError(f"{data}: data are read from {' and '.join(SUFFIXES)} files")
    definition = registries["source"][kind]
    settings = dict(source.attributes) if source.definition is definition else {}
    opened: Dataset
    try:
        opened = definition.create(definition.bind({**settings, "file": str(path)})).open(Path())
    except DataError:
        if not settings.get("label"):
            raise
        opened = definition.create(definition.bind({**settings, "label": "", "classes": [], "file": str(path)})).open(
            Path()
        )
    return opened


def _activated(scores: NDArray[Any], how: str) -> NDArray[Any]:
    if how == "softmax":
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))
    return np.asarray(1 / (1 + np.exp(-scores))) if how == "sigmoid" else scores
