"""CUDA: kernels from the same point functions, and a card, real or simulated, that runs them."""

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
    """Whether numba's CUDA simulator is switched on for the whole process."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"


@functools.cache
def can_compile() -> bool:
    """Whether kernels can be compiled and simulated here, with a card or without one."""
    if importlib.util.find_spec("numba_cuda") is None:
        return False
    from numba import cuda

    return "numba_cuda" in str(cuda.__file__)  # a .pth file puts it in the place of numba's own, where these are read


def missing() -> str | None:
    """What the device "cuda" lacks here, with what to do; None where it can be used."""
    if not can_compile():
        return "the device \"cuda\" needs numba-cuda: pip install 'paddle-layers[cuda]'"
    if not hasattr(np, "row_stack"):  # numba-cuda 0.30 asks for it
        return "the device \"cuda\" does not work with NumPy 2.5 yet: pip install 'paddle-layers[cuda]'"
    if simulated():
        return None
    from .driver import card_problem

    return card_problem()


@functools.cache
def open_device(number: int = 0) -> Cuda:
    """The card of this number, counted round; the simulator when `NUMBA_ENABLE_CUDASIM=1`."""
    if simulated():
        return simulated_device()
    from .driver import DriverCard

    return Cuda(DriverCard(number=number), simulated=False)


def simulated_device() -> Cuda:
    """A simulated card, beside whatever else the process uses: for checks."""
    return Cuda(SimulatedCard(), simulated=True)
