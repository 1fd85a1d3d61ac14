"""Compilation of CUDA kernels from source to machine code; no GPU is needed."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from paddle_layers.kernels.tuned import tuned_is_wanted
from paddle_layers.runtime.generate.authors import at_the_author
from paddle_layers.runtime.generate.cache import driver_path, keep_result, kept_result, load_driver
from paddle_layers.runtime.generate.drivers import Array, Kernel, Spec, TunedCall
from paddle_layers.runtime.graph.domains import Extent, RowsOf
from paddle_layers.runtime.launches.arguments import refs_of
from paddle_layers.runtime.launches.kernel_selection import choose
from paddle_layers.runtime.launches.launch import Launch

from .texts import AT_ONCE, at_once, cuda_text
from .thread_blocks import shared_by_block

ENTRY = "kernel"
RESIDENT = 2
"""Blocks of a tuned kernel that share a multiprocessor: one fetches while one multiplies."""
# See `thread_blocks`: few elements with long loops leave a GPU idle.
FEW = 1 << 16
"""Minimum number of elements that occupy a GPU with one thread each."""
ITERATIONS = 32
"""Minimum number of loop iterations for a thread block per element."""
# Measured on an H200: `softmax` of 8192x4096 takes 0.360 ms with blocks of 128 threads, 0.328 ms with 64.
MANY = 1 << 12
"""Minimum number of elements that occupy a GPU with a small block each."""
SMALL_BLOCK, BLOCK, LARGE_BLOCK, SIMULATED_BLOCK = 64, 128, 512, 4
"""Threads that share a loop, powers of two: for many elements, usually, where each would have 16 iterations, and in the
simulator.
"""
Architecture = tuple[int, int]
"""A compute capability, such as (9, 0)."""
# numba's part takes ten times as long as the linker's, and its result is the same for every capability.
OLDEST: Architecture = (7, 5)
"""Target of the PTX: it is the same for later GPUs, and the linker generates machine code for each of them."""


class CudaDriver(NamedTuple):
    """The source of a CUDA kernel, its origin, and its path."""

    code: Kernel | TunedCall
    dtype: str
    block: int
    """Threads that compute an element together; 0: every thread computes different elements."""
    text: str
    path: Path

    @property
    def name(self) -> str:
        """The name of the point function or of the tuned kernel."""
        return self.code.name

    @property
    def threads(self) -> int:
        """Threads per block; 0 for any number."""
        return self.block if isinstance(self.code, Kernel) else self.code.tuned.threads

    @property
    def per_thread(self) -> int:
        """Elements that a thread computes at once; 0 where a block computes one, or a sequence."""
        if self.threads or not isinstance(self.code, Kernel) or self.code.scan:
            return 0
        return AT_ONCE if at_once(self.code) else 1

    @property
    def specs(self) -> tuple[Spec, ...]:
        """The arguments; the first one of a point function is its total."""
        total = ("int",) if isinstance(self.code, Kernel) else ()
        return (*total, *self.code.args.values())

    def function(self) -> Any:
        """The kernel as a Python function."""
        return load_driver(self.path, self.text).kernel


def cuda_driver(
    code: Kernel | TunedCall, dtype: str, *, block: int = 0, simulated: bool = False, wide: bool = False
) -> CudaDriver:
    """The CUDA driver of a point function, whose loops `block` threads share, or of a tuned kernel.

    `wide`: whether numbers of elements may have more than 32 bits.
    """
    text = cuda_text(code, dtype, block=block, simulated=simulated, wide=wide)
    return CudaDriver(code, dtype, block, text, driver_path("cudasim" if simulated else "cuda", code.name, text))


def launch_driver(launch: Launch, dtype: str, *, simulated: bool = False) -> CudaDriver:
    """The CUDA driver for a launch: few elements with long loops are computed by one block each."""
    code = launch.code
    if isinstance(code, Kernel) and code.python is None:
        # By the rows of the batch and recorded, as the selection of tuned kernels: results do not depend on earlier
        # batches.
        block = choose(lambda rows: _threads_of_an_element(launch, rows))
        if block and (shared := shared_by_block(code)):
            return cuda_driver(shared, dtype, block=SIMULATED_BLOCK if simulated else block, simulated=simulated)
    # A thread steps past its last element before it stops: half of the numbers of 32 bits are left for that.
    wide = elements_of(launch).capacity > 1 << 31
    return cuda_driver(code, dtype, simulated=simulated, wide=wide)


def _threads_of_an_element(launch: Launch, rows: RowsOf) -> int:
    """Threads of the block that shares the loops of an element; 0 if a thread computes an element."""
    elements = elements_of(launch).at(rows)
    iterations = _largest(launch, rows) // max(elements, 1)
    if not tuned_is_wanted(iterations, least=ITERATIONS if elements <= FEW else sys.maxsize):
        return 0
    if iterations >= LARGE_BLOCK * 16:
        return LARGE_BLOCK
    return SMALL_BLOCK if elements >= MANY else BLOCK


def elements_of(launch: Launch) -> Extent:
    """Work items of the threads of a point function: elements; sequences of a scan, calls of a procedure."""
    total, code = launch.total or Extent(), launch.code
    if not isinstance(code, Kernel) or code.scan or code.procedure or len(code.indices) < 2:
        return total
    return total * launch.columns


def _largest(launch: Launch, rows: RowsOf) -> int:
    """Elements of the largest array of a launch, for given rows."""
    refs = [ref for argument in launch.args for ref in refs_of(argument)]
    return max((math.prod(size.at(rows) for size in ref.shape) for ref in refs), default=0)


def ptx_of(driver: CudaDriver) -> str:
    """The kernel's PTX, with the entry `ENTRY`; cached on disk. Raises the exceptions of numba-cuda."""
    path = _kept(driver, OLDEST, "ptx")
    kept = kept_result(path)
    if kept is not None:
        return kept.decode()
    from numba import cuda

    with at_the_author(driver.code, driver.text):
        text, _ = cuda.compile_ptx(driver.function(), signature(driver), cc=OLDEST)
    # numba mangles the name with the types; a fixed entry needs no table of names next to the cached machine code.
    entry = re.search(r"\.visible \.entry (\w+)\(", text)
    assert entry is not None
    text = _bounded(text.replace(entry[1], ENTRY), driver)
    keep_result(path, text.encode())
    return str(text)


def _bounded(ptx: str, driver: CudaDriver) -> str:
    """PTX with launch bounds, within which the assembler allots registers."""
    if not driver.threads:
        return ptx
    bounds = f".maxntid {driver.threads}, 1, 1\n"
    if isinstance(driver.code, TunedCall):
        bounds += f".minnctapersm {RESIDENT}\n"
    begin = ptx.index("{", ptx.index(f".entry {ENTRY}("))
    return f"{ptx[:begin]}{bounds}{ptx[begin:]}"


def cubin_of(driver: CudaDriver, architecture: Architecture) -> bytes:
    """Machine code of the kernel, linked by nvJitLink; cached on disk. Raises the exceptions of the linker."""
    path = _kept(driver, architecture, "cubin")
    kept = kept_result(path)
    if kept is not None:
        return kept
    from cuda.bindings import nvjitlink

    ptx = ptx_of(driver).encode()
    major, minor = architecture
    linker = nvjitlink.create(1, [f"-arch=sm_{major}{minor}"])
    try:
        nvjitlink.add_data(linker, nvjitlink.InputType.PTX, ptx, len(ptx), driver.name)
        nvjitlink.complete(linker)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(linker))
        nvjitlink.get_linked_cubin(linker, cubin)
    finally:
        nvjitlink.destroy(linker)
    keep_result(path, bytes(cubin))
    return bytes(cubin)


def signature(driver: CudaDriver) -> tuple[Any, ...]:
    """Numba types of the kernel's arguments."""
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

    return tuple(map(of, driver.specs))


def parameters_of(ptx: str) -> Sequence[str]:
    """Types of the kernel's parameters as the PTX declares them: `u64`, `f32`."""
    declared = ptx[ptx.index(".visible .entry") :]
    return re.findall(r"\.param \.(?:align \d+ )?\.?(\w+) ", declared[: declared.index(")")])


def _kept(driver: CudaDriver, architecture: Architecture, kind: str) -> Path:
    major, minor = architecture
    # The path has a digest of the source, but the compiler is numba-cuda, whose version the digest does not cover.
    return driver.path.with_suffix(f".{version('numba-cuda')}.sm_{major}{minor}.{kind}")
