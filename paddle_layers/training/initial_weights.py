"""Initial weights (warm start, fine-tuning): from another training, possibly of a modified network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from paddle_layers.config.diagnostics.report import ConfigError
from paddle_layers.config.training import Training, WeightsSettings
from paddle_layers.data.fitted_preprocessing import FittedPreprocessing
from paddle_layers.define.escaping import printable_line
from paddle_layers.define.fields.types import shape_text
from paddle_layers.define.name_patterns import matching
from paddle_layers.runtime.graph.building import parameter_shapes, parameter_shapes_and_forms
from paddle_layers.runtime.memory.tensorfiles import WeightsError
from paddle_layers.runtime.memory.weightfiles import open_weights
from paddle_layers.runtime.memory.weights import LoadReport, MismatchError, PatternError, converted, match_weights

from .results.result_names import costs_of

if TYPE_CHECKING:
    from paddle_layers.config import Network
    from paddle_layers.config.wiring.nodes import Node
    from paddle_layers.runtime import Net, Parameter


def first_weights(training: Training, file: str | Path | None) -> WeightsSettings | None:
    """The initial weights of the training file, read from `file` if it is given; checked by the header."""
    settings = training.weights
    if file is not None:
        settings = replace(settings or WeightsSettings(""), file=str(file))
    elif settings is not None:
        settings = replace(settings, file=str(training.base / settings.file))
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


def _first_readers(network: Network, value: str) -> set[str]:
    """The layers with parameters that a value reaches first; `data_norm` leaves columns in their places."""
    found, reached = set(), {value}
    for node in network.nodes:
        if reached.isdisjoint(node.inputs):
            continue
        learned = _has_values(node)
        if learned:
            found.add(node.name)
        if not learned or node.definition.name == "data_norm":
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
