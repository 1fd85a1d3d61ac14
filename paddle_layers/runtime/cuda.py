"""CUDA kernels from the same point functions; compiling them needs numba-cuda but no card."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .cache import driver_path, load_driver
from .drivers import Array, Spec, cuda_text
from .graph import build_graph
from .launches import Launch
from .parameters import ParameterSet
from .schedule import Schedule

if TYPE_CHECKING:
    from paddle_layers.config.network import Network


def simulated() -> bool:
    """Whether numba's CUDA simulator is switched on."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"


class CudaDriver(NamedTuple):
    """The text of a CUDA kernel and the types of its arguments."""

    name: str
    path: Path
    text: str
    args: tuple[Spec, ...]
    dtype: str

    def kernel(self) -> Any:
        """The kernel as a Python function."""
        return load_driver(self.path, self.text).kernel


def cuda_driver(launch: Launch, dtype: str) -> CudaDriver:
    """The CUDA driver of a launch of a point function."""
    assert launch.kernel is not None
    text = cuda_text(launch.kernel, dtype, simulated())
    kind = "cudasim" if simulated() else "cuda"
    path = driver_path(kind, launch.kernel.name, text)
    return CudaDriver(launch.kernel.name, path, text, tuple(launch.kernel.args.values()), dtype)


def cuda_drivers(network: Network, *, training: bool, dtype: str = "float32") -> list[CudaDriver]:
    """The kernels of a network's point functions, forward and, when training, backward from all its outputs."""
    from paddle_layers.kernels.tuned import point_functions_only

    phase = "train" if training else "test"
    selected = network.select(phase)
    graph = build_graph(selected, ParameterSet(dtype), {})
    seeds = [name for name in selected.outputs if graph.values[name].type.kind == "DENSE"] if training else []
    with point_functions_only():
        schedule = Schedule(graph, dtype, training=training, seeds=dict.fromkeys(seeds), keep=())
    launches = [*schedule.forward, *schedule.backward]
    return [cuda_driver(launch, dtype) for launch in launches if launch.kernel is not None]


def compile_ptx(driver: CudaDriver, architecture: tuple[int, int]) -> str:
    """The kernel's PTX for a compute capability such as (8, 0)."""
    from numba import cuda

    text, _ = cuda.compile_ptx(driver.kernel(), signature(driver), cc=architecture)
    return str(text)


def signature(driver: CudaDriver) -> tuple[Any, ...]:
    """Numba types of the kernel's arguments; the first is the number of elements."""
    from numba import types

    real = getattr(types, driver.dtype)

    def array(spec: Array) -> Any:
        return types.Array(real if spec.dtype == "real" else getattr(types, spec.dtype), spec.ndim, "C")

    def of(spec: Spec) -> Any:
        if isinstance(spec, Array):
            return array(spec)
        if not isinstance(spec, str):
            return types.UniTuple(array(spec[0]), len(spec))
        if spec == "real":
            return real
        if spec == "int":
            return types.int64
        kind, number = spec.split()
        return types.UniTuple(types.int64 if kind == "ints" else real, int(number))

    return (types.int64, *map(of, driver.args))
