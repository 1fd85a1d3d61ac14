"""`import_onnx`: ONNX models of other systems as networks with weights, and a report of the conversion."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config import Network
from paddle_layers.runtime import Net
from paddle_layers.runtime.arguments import names_of

from ..imported import NETWORK, REPORT, WEIGHTS, Content, ImportedFiles
from . import verification
from .conversion import Outcome, convert
from .graph_inputs import fix_sizes, fix_values
from .layers import ImportedLayer
from .model import ImportFailure, Model, OnnxNode, shown
from .network import Assembled, assemble
from .reading import read_model

MOST_NODES = 4
"""Nodes listed per layer."""


@dataclass(frozen=True)
class OnnxImport(ImportedFiles):
    """Result of an ONNX import: a checked network, its weights by name, a report of the conversion."""

    network: Network
    text: str
    weights: dict[str, NDArray[Any]]
    outputs: dict[str, str]
    """Values of the network by name of the model's output."""
    report: str
    summary: str
    """The report with counts of nodes that did not become layers."""

    def files(self) -> dict[str, Content]:
        """Network, weights and report."""
        return {NETWORK: self.text, WEIGHTS: self.weights, REPORT: self.report}

    def net(self, **options: Any) -> Net:
        """A net with the weights, which keeps all outputs of the model; `options` are those of `Net`."""
        keep = (*self.outputs.values(), *names_of("keep", options.pop("keep", ())))
        net = Net(self.network, keep=keep, **options)
        for name, array in self.weights.items():
            net.arena.by_name[name].value = array
        return net


def import_onnx(
    path: str | Path,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    constants: Mapping[str, float] | None = None,
    verify: bool = True,
) -> OnnxImport:
    """Import an ONNX model as exported by PyTorch, Keras, scikit-learn or this library; the weights are trainable.

    The first axis of its inputs is the batch; `[N, T, ...]` become sequences if a sequence layer reads them.

    Args:
        path: The ONNX file.
        shapes: Sizes of inputs with axes of dynamic size, by name and without the batch axis.
        constants: Values of scalar inputs, which become constants, such as a sampling rate.
        verify: Whether the network is compared with ONNX's reference implementation, on random inputs. Models of
            more than 2^25 weights and values for a batch of 2, or of 2^30 multiplications, are not verified, which the
            report mentions.

    Returns:
        An object with `network`, `weights` by name and `report`. Its `net()` returns a `Net` with the weights, and
        `write(folder)` writes the files.

    Raises:
        ImportFailure: Nodes without a counterpart, one line each; shapes or constants that do not fit the model; a
            network that computes other values than the model.
        OSError: The file cannot be read.

    Example::

        imported = pl.import_onnx("resnet18.onnx")
        imported = pl.import_onnx("detector.onnx", shapes={"images": (3, 640, 640)})
        imported = pl.import_onnx("speech.onnx", shapes={"audio": (512,)}, constants={"rate": 16000})
    """
    file = Path(path)
    model = read_model(file)
    notes = [*fix_values(model, constants or {}), *fix_sizes(model, shapes or {})]
    with np.errstate(all="ignore"):  # what is not finite is so in the model
        outcome = convert(model)
    outcome.notes[:0] = notes
    # After the whole graph, so that one run lists all nodes that are not supported.
    if outcome.refused:
        count = len(outcome.refused)
        title = f"cannot import {file}: {count} {'error' if count == 1 else 'errors'}:"
        raise ImportFailure(title, *(f"  {line}" for line in outcome.refused))
    made = assemble(model, outcome)
    if verify:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                outcome.notes.append(verification.verify(model, outcome, made))
        except ImportFailure as failure:
            title, *lines = str(failure).split("\n")
            raise ImportFailure(
                f"cannot import {file}: {title}",
                *lines,
                "  to import it nevertheless: `--no-verify`, in Python `verify=False`",
            ) from None
    reports = [report_text(model, outcome, made, brief=brief) for brief in (False, True)]
    return OnnxImport(made.network, made.text, made.weights, made.outputs, *reports)


def report_text(model: Model, outcome: Outcome, made: Assembled, *, brief: bool = False) -> str:
    """The report of an import.

    Returns:
        Layers with their nodes, constants, nodes without a layer, what is to be known. A brief one counts the nodes
        that became no layer.
    """
    used = {place for layer in made.layers for place in layer.nodes}
    constant = {node.place for node in outcome.folded}
    unused = {node.place for node in outcome.unused}
    other = [node for node in model.nodes if node.place not in used | constant | unused]
    # Data layers come from inputs of the model, not from nodes.
    layers = [layer for layer in made.layers if layer.inputs]
    numbers = sum(array.size for array in made.weights.values())
    counts = (
        f"converted {_counted(len(model.nodes), 'node')} to {_counted(len(layers), 'layer')} with {numbers:,} "
        "parameters"
    )
    versions = ", ".join(f"{domain or 'ONNX'} {version}" for domain, version in sorted(model.opsets.items()))
    rows = [(made.paths.get(layer.name, layer.name), layer.type, _nodes(model, layer)) for layer in made.layers]
    sections = [
        [f"{counts}; producer: {model.producer or 'unknown'}; opset: {versions}"],
        ["", "layers, and the nodes that they replace:", *_table(rows)],
        _nodes_of("nodes without a layer (no-ops, changes of layout and parts of fused patterns)", other, brief=brief),
        _nodes_of("constant-folded nodes", outcome.folded, brief=brief),
        _nodes_of("unused nodes, on which no output depends", outcome.unused, brief=brief),
        _listed("notes:", _notes(outcome, made)),
    ]
    return "\n".join(line for section in sections for line in section) + "\n"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _nodes(model: Model, layer: ImportedLayer) -> str:
    places = [place for place in layer.nodes if place < len(model.nodes)]
    if not layer.inputs:
        return "input"
    names = [model.nodes[place].label for place in places[:MOST_NODES]]
    return ", ".join(names) + (f" and {len(places) - MOST_NODES} more" if len(places) > MOST_NODES else "")


def _notes(outcome: Outcome, made: Assembled) -> list[str]:
    # An output may have another name here: that of a fused pattern, or one without characters that config files reject.
    names = [value if value == name else f"{value} ({shown(name)})" for name, value in made.outputs.items()]
    read = {value for node in made.network.nodes for value in node.inputs}
    ends = {name for node in made.network.nodes for name in node.output_names} - read
    wanted = {node.output_names[0] for node in made.network.nodes}
    extra = sorted(ends - wanted)
    notes = [*outcome.notes, f"outputs of the model: {', '.join(names)}"]
    shared = {node.name: one.share for node in made.network.nodes for one in node.params.values() if one.share}
    if shared:
        notes.append(f"layers with a shared weight, stored once in the model: {', '.join(shared)}")
    if inner := [value for value in made.outputs.values() if value in read]:
        values = ", ".join(inner)
        notes.append(
            f"outputs that other layers read, too: {values}; `predict --value {inner[0]}` returns such a value"
        )
    if extra:
        notes.append(f"unused values, which `predict` returns as well: {', '.join(extra)}")
    return notes


def _table(rows: list[tuple[str, str, str]]) -> list[str]:
    widths = [max((len(row[place]) for row in rows), default=0) for place in (0, 1)]
    return [f"  {name:{widths[0]}}  {kind:{widths[1]}}  {rest}" for name, kind, rest in rows]


def _nodes_of(title: str, nodes: list[OnnxNode], *, brief: bool) -> list[str]:
    if brief:
        return ["", f"{title}: {len(nodes):,}"] if nodes else []
    return _listed(f"{title}:", (node.label for node in nodes))


def _listed(title: str, lines: Iterable[str]) -> list[str]:
    found = [f"  {line}" for line in lines]
    return ["", title, *found] if found else []
