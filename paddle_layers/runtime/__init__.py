"""Running a network: values, plan, kernels, forward and backward."""

from .blocks import DeviceError, DeviceWarning
from .net import Net
from .parameters import Parameter
from .tensorfiles import SaveError, WeightsError
from .values import Csr, FeedError, Sequences
from .weights import LoadReport

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
