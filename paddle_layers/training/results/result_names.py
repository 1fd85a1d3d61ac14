"""Names of results in the training log: losses and statistics."""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from paddle_layers.data import DataError

from .records import COLUMNS, PHASES

if TYPE_CHECKING:
    from paddle_layers.config import Network
    from paddle_layers.config.training import Training
    from paddle_layers.config.wiring.nodes import Node
    from paddle_layers.define import LayerDefinition


def selected(training: Training, phase: str) -> Network:
    """The layers that are there in a phase; a network has no validation phase, it computes as in the test phase."""
    return training.network.select("test" if phase == "validation" else phase, training.level, training.stage)


def loss_names(training: Training) -> dict[str, str]:
    """Names of the losses of either phase in the log, by value; empty if there is one: it is the loss."""
    names: dict[str, str] = {}
    for phase in ("train", "test"):
        for node in selected(training, phase).nodes:
            for name in costs_of(node):
                names[name] = f"{name}.{node.definition.name}" if name in COLUMNS else name
    return names if len(names) > 1 else {}


def costs_of(node: Node) -> list[str]:
    """Outputs of a layer that are part of the loss."""
    weights = node.loss_weight or ()
    outputs = list(node.definition.outputs.values())
    costs = []
    for position, name in enumerate(node.output_names):
        own = position < len(outputs) and outputs[position].loss
        if own or (position < len(weights) and weights[position]):
            costs.append(name)
    return costs


def statistic_names(training: Training) -> dict[str, str]:
    """Names of the statistics of either phase in the log, such as `chunks.F1`, by the net's names."""
    names: dict[str, str] = {}
    layers: dict[str, set[str]] = {name: {""} for name in (*COLUMNS, *loss_names(training).values())}
    for phase in ("train", "test"):
        for layer, definition in _counting(selected(training, phase).nodes):
            for result in definition.results or ("",):
                end = f".{result}" if result else ""
                names[f"{layer}.{definition.name}{end}"] = layer + end
                layers.setdefault(layer + end, set()).add(layer)
    return {long: short if len(layers[short]) == 1 and short not in names else long for long, short in names.items()}


def further_names(training: Training, source: str) -> dict[str, str]:
    """Names of the results of an additional source, by those of the first one: `noisy.accuracy`."""
    own = ["loss", *loss_names(training).values(), *statistic_names(training).values()]
    return {name: f"{source}.{name}" for name in own}


def column_names(training: Training, phases: Container[str] = PHASES) -> list[str]:
    """Names of the results of some phases beside the loss: losses, statistics, and those of additional sources."""
    sources = (name for name, source in training.further_sources if source.phase in phases)
    further = (further_names(training, name).values() for name in sources)
    own = (loss_names(training).values(), statistic_names(training).values())
    return list(itertools.chain(*own, *further))


def check_further(training: Training, source: str) -> None:
    """Raise `DataError` where the results of an additional source have names of others."""
    names = further_names(training, source)
    if both := names.keys() & {*names.values()}:
        what = f"`{min(both)}` is already a result of the network"
        raise DataError(f"`name` is `{source}`, but {what}: choose another name")


def best_of(training: Training) -> dict[str, str]:
    """Whether smaller or larger values of a result are better, by its name in the log: "min", "max", or empty."""
    results = _reported(training)
    best = {name: definition.best.get(result, "") for name, (definition, result) in results.items()}
    losses = dict.fromkeys(["loss", *_minimized(training)], "min")
    known = losses | {name: which for name, which in best.items() if which}
    further = (further_names(training, name) for name, _ in training.further_sources)
    return known | {names[name]: which for names in further for name, which in known.items()}


def _minimized(training: Training) -> Iterator[str]:
    """Names in the log of single losses whose weight is not negative: a training makes all these smaller."""
    names = loss_names(training)
    for phase in ("train", "test"):
        for node in selected(training, phase).nodes:
            for name in costs_of(node) if names else ():
                weights = node.loss_weight or ()
                position = node.output_names.index(name)
                if position >= len(weights) or weights[position] >= 0:
                    yield names[name]


def nan_notes(training: Training, results: Mapping[str, float]) -> list[str]:
    """References to the page that explains each statistic that is NaN."""
    reported = _reported(training)
    return [
        f"`{name}` is NaN; see its inputs with `paddle-layers layers {reported[name][0].name}`"
        for name, value in results.items()
        if math.isnan(value) and name in reported
    ]


def _reported(training: Training) -> dict[str, tuple[LayerDefinition, str]]:
    """The layer of each statistic, and the result of it that it is, by its name in the log."""
    names = statistic_names(training)
    found: dict[str, tuple[LayerDefinition, str]] = {}
    for phase in ("train", "test"):
        for layer, definition in _counting(selected(training, phase).nodes):
            for result in definition.results or ("",):
                end = f".{result}" if result else ""
                found[names[f"{layer}.{definition.name}{end}"]] = definition, result
    return found


def _counting(nodes: Iterable[Node], outer: str = "") -> Iterator[tuple[str, LayerDefinition]]:
    """Layers that keep statistics, and those inside of layers, by name."""
    for node in nodes:
        if node.definition.stats:
            yield outer + node.name, node.definition
        if node.inside is not None:
            yield from _counting(node.inside.nodes, f"{outer}{node.name}.")
