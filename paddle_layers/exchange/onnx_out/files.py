"""Export of a network file with separate weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paddle_layers.config import load, load_training
from paddle_layers.config.checking import is_training_file
from paddle_layers.runtime import Net
from paddle_layers.training.inference.input_data import load_trained, weights_file
from paddle_layers.training.inference.outputs import part_for, predicted
from paddle_layers.training.results.result_names import selected

from .exporting import export_onnx, export_part, probabilities_of
from .model import ExportError, import_onnx


def export_file(file: str, weights: str | None, target: Path, values: Sequence[str]) -> list[Path]:
    """Write the model; returns its files. Raises what `export_onnx` raises, `ConfigError`, `WeightsError`."""
    import_onnx()
    if not is_training_file(file):
        network = load(file)
        if weights is None:
            raise ExportError(f"{file} is a network file without weights: add --weights FILE")
        with Net(network) as net:
            net.load(weights)
            return export_onnx(net, target, values=values)
    training = load_training(file, sources_needed=False)
    trained = weights_file(training, weights)
    whole = selected(training, "test")
    names = list(dict.fromkeys(values)) or predicted(whole)
    part = part_for(whole, names)
    with Net(part, dtype=training.dtype) as net:
        load_trained(net, training, trained)
        return export_part(net, part, names, probabilities_of(whole), target)
