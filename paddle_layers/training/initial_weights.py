"""Initial weights (warm start, fine-tuning) from another training, and statistics of `data_norm` and `target_norm`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config.binding.steps import MEASURED
from paddle_layers.config.diagnostics.report import ConfigError
from paddle_layers.config.training import Training, WeightsSettings
from paddle_layers.data import Batches, DataError, Stream
from paddle_layers.data.fitted_preprocessing import NOTHING, FittedPreprocessing
from paddle_layers.define.escaping import printable_line
from paddle_layers.define.fields.types import shape_text
from paddle_layers.define.name_patterns import matching
from paddle_layers.runtime.graph.building import parameter_shapes, parameter_shapes_and_forms
from paddle_layers.runtime.memory.tensorfiles import WeightsError
from paddle_layers.runtime.memory.weightfiles import open_weights
from paddle_layers.runtime.memory.weights import LoadReport, MismatchError, PatternError, converted, match_weights

from .data_loading import learned_for
from .problems import TrainingError
from .results.result_names import costs_of

if TYPE_CHECKING:
    from paddle_layers.config import Network
    from paddle_layers.config.wiring.nodes import Node
    from paddle_layers.runtime import Net, Parameter

TARGET_NORM = "target_norm"
ROWS_AT_ONCE = 4096
"""Rows that are read at once."""
VALUES_AT_ONCE = 2**24
"""Number of values that are read at once by lazy columns: images may be large."""
EQUAL_DEVIATION = 1e-6
"""Numbers of a column whose deviation is at most this share of their mean are equal but for rounding."""


def weights_settings(training: Training, file: str | Path | None) -> WeightsSettings | None:
    """The settings of the initial weights, with the path of the training file's, or of `file` if it is given."""
    settings = training.weights
    if file is not None:
        return replace(settings or WeightsSettings(""), file=str(file))
    return replace(settings, file=str(training.base / settings.file)) if settings is not None else None


def first_weights(training: Training, file: str | Path | None) -> WeightsSettings | None:
    """As `weights_settings`; the weights are checked by the header."""
    settings = weights_settings(training, file)
    if settings is None:
        return None
    try:
        # From the header of the file, before data are read and kernels compiled: a mismatch is reported at once.
        wanted = parameter_shapes_and_forms(training.network, training.dtype, training.level, training.stage)
        stored, left, layout = open_weights(settings.file), settings.leave_out, settings.layout
        match_weights(stored, *wanted, rename=settings.rename, leave_out=left, layout=layout)
    except PatternError as error:
        places = [(f"weights.{one.field}[{one.position}]", one.message) for one in error.problems]
        faults = [training.fault(place, message, code="E308") for place, message in places]
        # All problems of patterns at once, at their places in the training file.
        raise ConfigError(sorted(faults, key=lambda fault: fault.start)) from None
    except WeightsError as error:
        if file is not None:
            raise
        problems = error.problems if isinstance(error, MismatchError) else ()
        summary, help_ = (error.summary, error.help) if isinstance(error, MismatchError) else (str(error), "")
        raise training.error("weights.file", summary, code="E308", notes=problems, help=help_) from None
    return settings


def still_known(learned: FittedPreprocessing, training: Training, settings: WeightsSettings) -> FittedPreprocessing:
    """The fitted preprocessing of the weights, without the fields whose first parameters are all left out."""
    names = parameter_shapes(training.network, training.dtype, training.level, training.stage)
    left_out = {name for pattern in settings.leave_out for name in matching(pattern, names)}
    anew = set()
    for node in training.network.nodes:
        if not node.definition.inputs:
            layers = _first_readers(training.network, node.name) | _score_layers(training.network, node.name)
            prefixes = tuple(f"{layer}." for layer in layers)
            first = {name for name in names if name.startswith(prefixes)} if prefixes else set()
            if first and first <= left_out:
                anew.add(training.feed.get(node.name, node.name))

    return learned.without(anew)


def known_preprocessing(training: Training, settings: WeightsSettings | None) -> FittedPreprocessing:
    """The preprocessing that initial weights bring. Raises `DataError`."""
    return still_known(learned_for(Path(settings.file))[0], training, settings) if settings is not None else NOTHING


def expected_preprocessing(training: Training, file: str | Path | None) -> FittedPreprocessing:
    """As `known_preprocessing` before the weights are checked; nothing where they cannot be read."""
    try:
        return known_preprocessing(training, weights_settings(training, file))
    except (DataError, WeightsError):
        return NOTHING


def _first_readers(network: Network, value: str) -> set[str]:
    """The layers with parameters that a value reaches first; normalizations leave columns in their places."""
    found, reached = set(), {value}
    for node in network.nodes:
        if reached.isdisjoint(node.inputs):
            continue
        learned = _has_values(node)
        if learned:
            found.add(node.name)
        if not learned or node.definition.name in MEASURED:
            reached.update(node.output_names)
    return found


def _score_layers(network: Network, label: str) -> set[str]:
    """The last layers with parameters before the scores that losses without parameters compare with a label."""
    found: set[str] = set()
    wanted = {
        node.inputs[0]
        for node in network.nodes
        if label in node.inputs[1:2] and costs_of(node) and not _has_values(node)
    }
    # Backward from the scores: the nearest layer with parameters decides what the columns of the scores mean.
    for node in reversed(network.nodes):
        if wanted.isdisjoint(node.output_names):
            continue
        if _has_values(node):
            found.add(node.name)
        else:
            wanted.update(node.inputs)
    return found


def _has_values(node: Node) -> bool:
    return bool(node.definition.params or node.definition.states) or node.inside is not None


def load_first(net: Net, settings: WeightsSettings | None) -> LoadReport | None:
    """Fill the net; what was read, and None where the training starts from its initializers."""
    if settings is None:
        return None
    return net.load(settings.file, rename=settings.rename, leave_out=settings.leave_out, layout=settings.layout)


def what_became(net: Net, training: Training, settings: WeightsSettings | None, report: LoadReport | None) -> str:
    """Conversions of the parameters; empty without any."""
    note = converted(report, net.dtype) if report is not None else ""
    if settings is not None and report is not None and report.plain and not training.param:
        return f"loaded {len(report.loaded)} weights from {settings.file}{note}"
    if report is None and not training.param:
        return ""
    rows = [
        (one.name, shape_text(one.shape), _origin(one.name, report), _rate(one)) for one in net.arena.by_name.values()
    ]
    if settings is not None and report is not None:
        shapes = open_weights(settings.file).shapes
        rows += [(name, shape_text(shapes[name]), "in the file, skipped", "") for name in report.unexpected]
    head = f"initial weights, from {settings.file}{note}:" if settings is not None else "parameters:"
    return "\n".join([head, *_aligned(rows)])


def _origin(name: str, report: LoadReport | None) -> str:
    if report is None or name not in report.sources:
        return "newly initialized" if report is not None else "initialized"
    source = report.sources[name]
    return "loaded" if source == name else f"loaded from {source}"


def _rate(parameter: Parameter) -> str:
    settings = parameter.settings
    if settings is None:
        return ""
    if settings.frozen or settings.lr_mult == 0:
        return "frozen"
    return f"learning rate x {settings.lr_mult:g}" if settings.lr_mult != 1 else ""


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    cells = [[printable_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return [f"  {line}".rstrip() for line in lines]


def check_data_norms(training: Training) -> None:
    """Raise `ConfigError` for a layer that does not read a data layer, and for losses that mix units."""
    network = training.network
    sources, trained = ({*_data_layers(training, phase)} for phase in ("test", "train"))
    for node in _data_norms(training):
        position, kind = MEASURED[node.definition.name], node.definition.name
        if position >= len(node.inputs):
            message = "the target is missing, the second input: its statistics are those of the predictions"
            raise network.error(node.name, message, help='add the data layer of the target, as in `input: "price"`')
        read = node.inputs[position]
        if read not in trained:
            # What it would read changes while the network learns.
            where = "exists only in the test phase" if read in sources else "is computed by a layer"
            message = f"`{read}` {where}, but `{kind}` computes its statistics from the training data"
            raise network.error(
                node.name, message, help="connect it to a data layer of the train phase, or use `batch_norm`"
            )
        if kind == TARGET_NORM:
            _check_units(training, node)


def _check_units(training: Training, norm: Node) -> None:
    """Raise `ConfigError` for a layer that compares standardized with other values."""
    (x, target), (y, z) = norm.inputs, norm.output_names
    pairs = {(standard, units) for standard in (x, z) for units in (y, target)}
    for node in (node for phase in ("train", "test") for node in _nodes(training, phase)):
        both = tuple(node.inputs[:2])
        if node is norm or not (costs_of(node) or node.definition.stats):
            continue
        if both in pairs or both[::-1] in pairs:
            message = f"`{both[0]}` and `{both[1]}` have different units: one is standardized by `{norm.name}`"
            help_ = f"compare `{x}` with `{z}`, as losses do, or `{y}` with `{target}`"
            raise training.network.error(node.name, message, help=help_)


def measure_data_norms(net: Net, training: Training, train: Batches | Stream, *, known: Collection[str]) -> None:
    """Give every such layer the means and deviations of the rows that are trained with, unless these are `known`.

    `known` are names of states that weights have brought. Raises `TrainingError` where data come in batches of somebody
    else's making.
    """
    for node in _data_norms(training):
        if f"{node.name}.mean" in known and f"{node.name}.deviation" in known:
            continue
        if isinstance(train, Stream):
            raise TrainingError(
                f"layer `{node.name}` computes its statistics from all data before the first step, which needs arrays "
                "instead of batches, or initial weights that contain the statistics"
            )
        mean, deviation = fed_moments(train, node.inputs[MEASURED[node.definition.name]])
        net.states[f"{node.name}.mean"].value = mean
        net.states[f"{node.name}.deviation"].value = deviation


def fed_moments(train: Batches, layer: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each column that a data layer is fed; 1 for a constant column."""
    feed = next(feed for feed in train.feeds or () if feed.layer == layer)
    most = VALUES_AT_ONCE // max(1, feed.wanted.size) if train.dataset.is_stored else ROWS_AT_ONCE
    rows = max(1, min(ROWS_AT_ONCE, most))
    return _moments(
        _by_channel(train.fed_readable(layer, train.part[first : first + rows]))
        for first in range(0, train.count, rows)
    )


def _data_norms(training: Training) -> Collection[Node]:
    """The layers with measured statistics in either phase, with the level and the stages of the training."""
    found = (node for phase in ("train", "test") for node in _nodes(training, phase))
    return {node.name: node for node in found if node.definition.name in MEASURED}.values()


def _data_layers(training: Training, phase: str) -> Iterator[str]:
    return (name for node in _nodes(training, phase) if not node.definition.inputs for name in node.output_names)


def _nodes(training: Training, phase: str) -> Sequence[Node]:
    return training.network.select(phase, training.level, training.stage).nodes


def _by_channel(value: Any) -> NDArray[np.float64]:
    """All numbers of a channel, or of a column, below one another."""
    # Float64: the difference of large, nearly equal numbers follows.
    rows = np.asarray(value if isinstance(value, np.ndarray) else value.data, np.float64)
    # Scalars are one column.
    return np.moveaxis(rows, 1, -1).reshape(-1, rows.shape[1]) if rows.ndim > 1 else rows[:, None]


def _moments(parts: Iterator[NDArray[np.float64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of every column over all parts (Chan, Golub and LeVeque 1979)."""
    count, mean, squares = 0, np.zeros(1), np.zeros(1)
    for rows in parts:
        if not len(rows):
            continue
        own = rows.mean(axis=0)
        # Merging means and sums of squared deviations, and not sums of squares, whose difference cancels for columns
        # far from zero.
        off, total = own - mean, count + len(rows)
        squares = squares + ((rows - own) ** 2).sum(axis=0) + off**2 * (count * len(rows) / total)
        mean, count = mean + off * (len(rows) / total), total
    deviation = np.sqrt(squares / max(count, 1))
    # A constant column would be divided by rounding errors.
    return mean, np.where(deviation > EQUAL_DEVIATION * np.abs(mean), deviation, 1.0)
