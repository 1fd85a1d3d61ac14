"""Parameters and states in safetensors files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from paddle_layers.runtime.memory.precision import too_large

from .parameters import ParameterSet
from .tensorfiles import WeightsError, read_tensors, write_tensors


@dataclass(frozen=True)
class LoadReport:
    """Names that were read, names that the file lacks, names of the file that the network lacks."""

    loaded: tuple[str, ...]
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]


def save_weights(path: str, parameters: ParameterSet) -> None:
    """Write all values by name. Raises `SaveError`."""
    write_tensors(path, {name: parameter.value for name, parameter in parameters.by_name.items()})


def load_weights(path: str, parameters: ParameterSet) -> LoadReport:
    """Read values by name; nothing is changed unless all shapes fit. Raises `WeightsError`."""
    tensors, _ = read_tensors(path)
    known = parameters.by_name
    loaded = [name for name in known if name in tensors]
    if known and not loaded:
        raise WeightsError(
            f"{path} holds weights of another network: it has {_some(tensors)}, the network has {_some(known)}"
        )
    for name in loaded:
        if tensors[name].shape != known[name].shape:
            raise WeightsError(
                f"{path}: `{name}` has the shape {tensors[name].shape}, but the network's has {known[name].shape}"
            )
        if problem := too_large(tensors[name], known[name].dtype):
            raise WeightsError(f"{path}: `{name}` {problem}")
    for name in loaded:
        known[name].value = tensors[name]
    missing = tuple(name for name in known if name not in tensors)
    return LoadReport(tuple(loaded), missing, tuple(name for name in tensors if name not in known))


def _some(names: Iterable[str]) -> str:
    listed = [f"`{name}`" for name in names]
    return ", ".join(listed[:3]) + (", ..." if len(listed) > 3 else "") or "nothing"
