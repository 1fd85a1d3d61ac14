"""`export_onnx`: export of the inference network, of a net or of a network file with separate weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from paddle_layers.config import Network, load
from paddle_layers.config.checking import is_training_file
from paddle_layers.config.training_builder import resolve_training
from paddle_layers.runtime import Net
from paddle_layers.training.inference.input_data import load_trained, sizes_of_weights, weights_file
from paddle_layers.training.inference.outputs import part_for, predicted, readings
from paddle_layers.training.results.result_names import selected

from .model import ExportError, import_onnx, write_model
from .writing import write_network


def export_onnx(net: Net, path: str | Path, *, values: Sequence[str] = ()) -> list[Path]:
    """Export the test phase of a network with its weights as an ONNX model.

    Values are float32, ids int64; the first axis `N` is the batch. Sequences are padded, with an additional output
    `NAME.lengths`. Scores that a loss converts to probabilities have an additional output `NAME.probabilities`. Weights
    of a gigabyte and more are in a second file, `PATH.data`. An existing file is replaced.

    Args:
        net: The network with its weights.
        path: The file to write.
        values: Names of the outputs; by default those of `predict`: values that only losses and metrics read.

    Returns:
        The written files.

    Raises:
        ConfigError: Layers without an ONNX form; all of them are reported.
        TrainingError: An unknown value, or a network without outputs.
        ExportError: The package onnx is missing, or its checker reports an error.
        SaveError: The file cannot be written.

    Example::

        pl.export_onnx(net, "digits.onnx")
    """
    # Before any work, since nothing can be written without the package.
    import_onnx()
    # The test phase: dropout is the identity, and normalization uses running averages.
    whole = net.network.select("test")
    names = list(dict.fromkeys(values)) or predicted(whole)
    return export_part(net, part_for(whole, names), names, probabilities_of(whole), Path(path))


def probabilities_of(network: Network) -> dict[str, str]:
    """The layer that makes probabilities of scores, by name of the scores that a cost reads."""
    return {name: reading.activation for name, reading in readings(network).items() if reading.activation}


def export_part(
    net: Net, part: Network, names: Sequence[str], probabilities: Mapping[str, str], path: Path
) -> list[Path]:
    """Write the layers on which values rest."""
    fed = {name for node in part.nodes if not node.definition.inputs for name in node.output_names}
    for name in names:
        # Such a model would only return its input.
        if name in fed:
            raise ExportError(f"cannot export `{name}`: it is a data layer")
    written = write_network(part, net.arena, names, probabilities)
    return write_model(written, part.name or "network", path)


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
    training, _ = resolve_training(file, "export", sizes=sizes_of_weights(weights))
    trained = weights_file(training, weights)
    whole = selected(training, "test")
    names = list(dict.fromkeys(values)) or predicted(whole)
    part = part_for(whole, names)
    with Net(part, dtype=training.dtype) as net:
        load_trained(net, training, trained)
        return export_part(net, part, names, probabilities_of(whole), target)
