"""`import_onnx`: ONNX models of other systems as networks with weights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config import Network
from paddle_layers.runtime import Net

from ..imported import NETWORK, REPORT, WEIGHTS, Content, ImportedFiles
from .conversion import convert
from .model import ImportFailure
from .network import assemble
from .reading import read_model
from .report import report_text


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
        """A net with the weights; `options` are those of `Net`."""
        net = Net(self.network, **options)
        for name, array in self.weights.items():
            net.arena.by_name[name].value = array
        return net


def import_onnx(path: str | Path) -> OnnxImport:
    """Import an ONNX model as exported by PyTorch, Keras, scikit-learn or this library; the weights are trainable.

    The first axis of its inputs is the batch; `[N, T, ...]` become sequences if a sequence layer reads them.

    Args:
        path: The ONNX file.

    Returns:
        An object with `network`, `weights` by name and `report`. Its `net()` returns a `Net` with the weights, and
        `write(folder)` writes the files.

    Raises:
        ImportFailure: Nodes without a counterpart, one line each.
        OSError: The file cannot be read.

    Example::

        imported = pl.import_onnx("resnet18.onnx")
    """
    file = Path(path)
    model = read_model(file)
    with np.errstate(all="ignore"):  # what is not finite is so in the model
        outcome = convert(model)
    # After the whole graph, so that one run lists all nodes that are not supported.
    if outcome.refused:
        count = len(outcome.refused)
        title = f"cannot import {file}: {count} {'error' if count == 1 else 'errors'}:"
        raise ImportFailure(title, *(f"  {line}" for line in outcome.refused))
    made = assemble(model, outcome)
    reports = [report_text(model, outcome, made, brief=brief) for brief in (False, True)]
    return OnnxImport(made.network, made.text, made.weights, made.outputs, *reports)
