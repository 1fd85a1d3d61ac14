"""Runtime: execution of networks with compiled kernels, memory plans, and forward and backward passes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paddle_layers.runtime.batch.values import Csr, FeedError, Sequences
from paddle_layers.runtime.memory.blocks import DeviceError, DeviceWarning
from paddle_layers.runtime.memory.tensorfiles import SaveError, WeightsError

if TYPE_CHECKING:
    from paddle_layers.runtime.memory.parameters import Parameter
    from paddle_layers.runtime.memory.weights import LoadReport

    from .net import Net

__all__ = [
    "Csr",
    "DeviceError",
    "DeviceWarning",
    "FeedError",
    "LoadReport",
    "Net",
    "Parameter",
    "SaveError",
    "Sequences",
    "WeightsError",
]

_HOMES = {"LoadReport": "memory.weights", "Net": "net", "Parameter": "memory.parameters"}


def __getattr__(name: str) -> Any:
    # The compiler, which takes a second to import, comes with the net: files are read without it.
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
