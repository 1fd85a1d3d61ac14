"""Runtime: execution of networks with compiled kernels, memory plans, and forward and backward passes."""

from paddle_layers.runtime.batch.values import Csr, FeedError, Sequences
from paddle_layers.runtime.memory.blocks import DeviceError, DeviceWarning
from paddle_layers.runtime.memory.parameters import Parameter
from paddle_layers.runtime.memory.tensorfiles import SaveError, WeightsError
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
