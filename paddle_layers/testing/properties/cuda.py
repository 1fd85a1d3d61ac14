"""CUDA kernels: the simulator matches the CPU, and every kernel compiles to PTX, which requires no GPU.

Kernels compile without implicit float64. Quick runs reduce the architectures and precisions of compiled kernels.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from paddle_layers.config import Network
from paddle_layers.define import LayerDefinition
from paddle_layers.define.concurrency import switched
from paddle_layers.define.errors import first_line
from paddle_layers.define.facts.devices import devices_of
from paddle_layers.kernels.tuned import point_functions_only, tuned_at_every_size
from paddle_layers.runtime.devices.cuda import CudaDriver, cubin_of, launch_driver, ptx_of
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.memory.parameters import ParameterSet
from paddle_layers.runtime.schedule.schedule import LaunchSchedule
from paddle_layers.testing.findings import TOLERANCE, Verdicts, all_close

from ..cases.case import Case, all_cases
from ..cases.trial import as_python, run

Architecture = tuple[int, int]
"""A compute capability, such as (9, 0)."""
ARCHITECTURES: tuple[Architecture, ...] = ((7, 5), (8, 0), (9, 0))
"""Compute capabilities that every kernel is compiled for: Turing, Ampere, Hopper."""
FORMS = {point_functions_only: "point functions", tuned_at_every_size: "thread blocks and tuned kernels"}
"""The kernels that a function may become, in words."""
NEEDS_CUDA = "CUDA kernels were not checked; this requires numba-cuda, but no GPU: pip install 'paddle-layers[cuda]'"


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


class Breadth(NamedTuple):
    """Coverage of compiled kernels."""

    architectures: tuple[Architecture, ...] = ARCHITECTURES
    """Compute capabilities for which CUDA kernels become machine code."""
    precisions: tuple[str, ...] = tuple(TOLERANCE)
    """Data types in which compiled kernels are compared with functions as Python, tuned ones with point functions."""


_ALL = Breadth()
_BREADTH: ContextVar[Breadth] = ContextVar("breadth", default=_ALL)


def breadth() -> Breadth:
    """The current coverage."""
    return _BREADTH.get()


def narrowed(to: Breadth) -> AbstractContextManager[None]:
    """Within it, no more than this is checked."""
    return switched(_BREADTH, to)


def has_cuda() -> bool:
    """Check for numba-cuda, which requires no GPU.

    Returns:
        Whether kernels can be compiled for GPUs and simulated.

    Example::

        if not has_cuda():
            print(NEEDS_CUDA)
    """
    from paddle_layers.runtime.devices.cuda import can_compile

    return can_compile()


def check_cuda(case: Case) -> Verdicts:
    """Compile the case's kernels for the GPU architectures, and compare the results of the simulator with the CPU.

    The kernels of a composite layer are those of its parts, which are checked separately; here their composition is
    checked, on the examples. Layers for the CPU only have none.
    """
    if (
        not has_cuda()
        or "cuda" not in devices_of(case.definition)
        or (case.definition.is_composite and not case.is_example)
    ):
        return
    for form in () if case.definition.is_composite else FORMS:
        with form():
            problems = list(_problems(case))
        yield from problems
        if any(problem is not None for _, problem in problems):
            return
    yield from _simulated(case)


def _simulated(case: Case) -> Verdicts:
    from paddle_layers.runtime.devices.cuda import simulated_device

    expected, _ = as_python(partial(run, case, "float32"))
    for form, kernels in list(FORMS.items())[: 1 if case.definition.is_composite else None]:
        with form():
            found, _ = run(case, "float32", simulated_device())
        yield from all_close(expected, found, "float32", f"in the CUDA simulator by {kernels}")


def _problems(case: Case) -> Iterator[tuple[str, str | None]]:
    for driver in drivers_of(case):
        for architecture in breadth().architectures:
            yield driver.name, _problem(Ptx(driver, architecture))


@functools.cache
def _problem(kernel: Ptx) -> str | None:
    """Why a kernel is no good for an architecture, or None."""
    version = "sm_{}{}".format(*kernel.architecture)
    try:
        kernel.link()
    except Exception as error:  # numba, NVVM and nvJitLink share no error class; the report shows it
        return f"does not compile for {version}: {type(error).__name__}: {first_line(error)}"
    # Integers in an expression promote float32 to float64 in numba, and float64 is many times slower on most GPUs.
    if kernel.has_f64:
        return f"computes in float64 for {version}; wrap integers in `real(...)`, or use `double(...)` if intended"
    return None
