"""Compilation of every kernel of a layer to PTX for CUDA GPUs, which requires no GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paddle_layers.config import Network
from paddle_layers.define import LayerDefinition
from paddle_layers.runtime.devices.cuda import CudaDriver, cubin_of, launch_driver, ptx_of
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.memory.parameters import ParameterSet
from paddle_layers.runtime.schedule.schedule import LaunchSchedule

from ..cases.case import Case, all_cases

Architecture = tuple[int, int]
"""A compute capability, such as (9, 0)."""
ARCHITECTURES: tuple[Architecture, ...] = ((7, 5), (8, 0), (9, 0))
"""Compute capabilities that every kernel is compiled for: Turing, Ampere, Hopper."""


@dataclass(frozen=True)
class Ptx:
    """A CUDA kernel for one architecture.

    Args:
        driver: The kernel.
        architecture: Compute capability, such as `(9, 0)`.
    """

    driver: CudaDriver
    architecture: Architecture

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ptx) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        # The path contains the hash of the text, so equal kernels of different cases are compiled once.
        return self.driver.path, self.architecture

    @property
    def text(self) -> str:
        """The PTX. Raises what the compiler raises."""
        return ptx_of(self.driver)

    @property
    def has_f64(self) -> bool:
        """Whether it computes in double precision without saying so."""
        # In the PTX, because the simulator runs Python and does not show types.
        return ".f64" in self.text and "double(" not in self.driver.text

    def link(self) -> bytes:
        """Link the kernel.

        Returns:
            Its machine code (a cubin).

        Raises:
            Exception: As raised by nvJitLink.
        """
        return cubin_of(self.driver, self.architecture)


def compile_layer(
    definition: LayerDefinition, architectures: tuple[Architecture, ...] = ARCHITECTURES
) -> Iterator[Ptx]:
    """The float32 CUDA kernels of a layer's examples, compiled when their text is read. Requires no GPU.

    Args:
        definition: Definition of the layer.
        architectures: Compute capabilities.

    Yields:
        One `Ptx` per kernel and architecture.

    Raises:
        ImportError: numba-cuda is not installed; for point functions, only when the text of a kernel is read.

    Example::

        for kernel in compile_layer(pl.registry["swish"]):
            assert not kernel.has_f64
    """
    drivers = {driver.text: driver for driver in cuda_drivers(definition)}
    for driver in drivers.values():
        for architecture in architectures:
            yield Ptx(driver, architecture)


def cuda_drivers(definition: LayerDefinition) -> Iterator[CudaDriver]:
    """Kernels of all examples: point functions, and the GPU kernels that replace them."""
    for case in all_cases(definition):
        yield from drivers_of(case)


def drivers_of(case: Case) -> Iterator[CudaDriver]:
    """The float32 kernels of a case."""
    for launch in launches_of(case.network(), training=case.phase == "train"):
        yield launch_driver(launch, "float32")


def launches_of(network: Network, *, training: bool, device: str = "cuda") -> list[Launch]:
    """The launches of a network, forward and, when training, backward from all its outputs."""
    selected = network.select("train" if training else "test")
    graph = build_graph(selected, ParameterSet("float32"), {})
    starts = [name for name in selected.outputs if graph.values[name].type.kind == "DENSE"] if training else []
    schedule = LaunchSchedule(
        graph,
        "float32",
        training=training,
        output_gradients=dict.fromkeys(starts),
        keep=selected.outputs,
        device=device,
    )
    return [*schedule.forward, *schedule.backward]
