"""CUDA device: kernels generated from the same point functions, on a real or simulated GPU."""

from __future__ import annotations

import functools
import importlib.util
import os

import numpy as np

from .compile import CudaDriver, cubin_of, cuda_driver, launch_driver, parameters_of, ptx_of
from .device import Cuda
from .simulator import SimulatedCard

__all__ = [
    "Cuda",
    "CudaDriver",
    "can_compile",
    "cubin_of",
    "cuda_driver",
    "launch_driver",
    "missing",
    "open_device",
    "parameters_of",
    "ptx_of",
    "simulated_device",
]


def simulated() -> bool:
    """Whether numba's CUDA simulator is enabled for the whole process."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"


@functools.cache
def can_compile() -> bool:
    """Whether kernels can be compiled and simulated here, with or without a GPU."""
    if importlib.util.find_spec("numba_cuda") is None:
        return False
    from numba import cuda

    return "numba_cuda" in str(cuda.__file__)  # a .pth file that replaces numba's own, if .pth files are read


def missing() -> str | None:
    """Missing requirements of the device "cuda", with instructions; `None` if it is available."""
    if not can_compile():
        return "the device \"cuda\" needs numba-cuda: pip install 'paddle-layers[cuda]'"
    if not hasattr(np, "row_stack"):  # required by numba-cuda 0.30
        return "the device \"cuda\" does not work with NumPy 2.5 yet: pip install 'paddle-layers[cuda]'"
    if simulated():
        return None
    from .driver import card_problem

    return card_problem()


@functools.cache
def open_device(number: int = 0) -> Cuda:
    """The GPU with this number, modulo their count; the simulator if `NUMBA_ENABLE_CUDASIM=1`."""
    if simulated():
        return simulated_device()
    from .driver import DriverCard

    return Cuda(DriverCard(number=number), simulated=False)


def simulated_device() -> Cuda:
    """A simulated GPU, besides other devices of the process: for checks."""
    return Cuda(SimulatedCard(), simulated=True)
