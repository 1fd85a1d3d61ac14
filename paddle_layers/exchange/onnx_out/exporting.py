"""`export_onnx`: what a net predicts, as a model for other engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from paddle_layers.config import Network
from paddle_layers.runtime import Net
from paddle_layers.training.trained.outputs import part_for, predicted, readings

from .model import ExportError, import_onnx, write_model
from .writing import write_network


def export_onnx(net: Net, path: str | Path, *, values: Sequence[str] = ()) -> list[Path]:
    """Write what a net gives in the phase test, with its weights, as an ONNX model; gives the files.

    The outputs are the `values` that are named; else those that `predict` gives, what no layer reads but costs and
    statistics. Beside scores that a cost makes probabilities of stand these, as `NAME.probabilities`. Numbers are
    float32, ids int64, the first axis `N` is the batch. Values in sequences are padded and have their lengths beside
    them, as `NAME.lengths`. Weights of a gigabyte and more lie in a second file, `PATH.data`. An older file is
    replaced. Raises `ConfigError` with every layer that has no ONNX form, `TrainingError` for values that are not
    there, `ExportError`, `SaveError`.
    """
    import_onnx()
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
        if name in fed:
            raise ExportError(f"`{name}` is a data layer: the model would give what it is given")
    written = write_network(part, net.arena, names, probabilities)
    return write_model(written, part.name or "network", path)
