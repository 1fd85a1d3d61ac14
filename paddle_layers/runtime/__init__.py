"""Running a network: values, plan, kernels, forward and backward."""

from .devices import DeviceError
from .net import Net
from .parameters import Parameter
from .tensorfiles import SaveError, WeightsError
from .values import Csr, FeedError, Sequences
from .weights import LoadReport

__all__ = [
    "Csr",
    "DeviceError",
    "FeedError",
    "LoadReport",
    "Net",
    "Parameter",
    "SaveError",
    "Sequences",
    "WeightsError",
]
