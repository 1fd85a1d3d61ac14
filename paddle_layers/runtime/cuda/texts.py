"""Text of CUDA kernels: the same specialised point functions as on the CPU, each thread an element."""

from __future__ import annotations

import ast
import inspect
import textwrap

from paddle_layers.define.analysis import parse_function
from paddle_layers.runtime.drivers import (
    Kernel,
    TunedCall,
    functions,
    header,
    indent,
    scan_lines,
    sequence_line,
    unravel,
)
from paddle_layers.runtime.specialise import helper_trees, specialise


def cuda_text(code: Kernel | TunedCall, dtype: str, *, simulated: bool) -> str:
    """A module with the function `kernel`; its arguments are those of the code, for point functions after `total_`."""
    if isinstance(code, TunedCall):
        return _tuned_text(code, dtype, simulated)
    body, start, stride = _point_lines(code)
    loop = [f"t_ = {start}", "while t_ < total_:", *indent([*body, f"t_ += {stride}"], 1)]
    return "\n".join(
        [
            *header(code, dtype, "cuda"),
            *_prelude(dtype, simulated),
            *functions(code.trees, _decorator(simulated)),
            *_kernel_lines(["total_", *code.args], loop, simulated),
        ]
    )


def _point_lines(kernel: Kernel) -> tuple[list[str], str, str]:
    """Lines for work item `t_`, its first value and its stride; a block has a sequence when scanning."""
    if kernel.scan:
        columns = "range(cuda.threadIdx.x, columns_, cuda.blockDim.x)"
        return scan_lines(kernel, columns, "cuda.syncthreads()"), "cuda.blockIdx.x", "cuda.gridDim.x"
    if kernel.procedure:
        body = [f"{kernel.indices[0]} = t_", kernel.call()]
    else:
        body = [*unravel(kernel.indices, kernel.targets[0], "t_"), *sequence_line(kernel), *kernel.store()]
    return body, "cuda.grid(1)", "cuda.gridsize(1)"


def _tuned_text(code: TunedCall, dtype: str, simulated: bool) -> str:
    """The kernel's own text, specialised as point functions are."""
    call = code.tuned.function
    tree = specialise(parse_function(inspect.getsource(call)), {**code.constants, "THREADS": code.tuned.threads}, call)
    title = f'"""{code.name} by {call.__module__}.{call.__qualname__}, {dtype}, cuda. Generated: do not edit."""'
    body = textwrap.dedent("\n".join(ast.unparse(tree).splitlines()[1:])).splitlines()
    return "\n".join(
        [
            *(title, "import math", ""),
            *_prelude(dtype, simulated),
            *functions(helper_trees(call).values(), _decorator(simulated)),
            *_kernel_lines(list(code.args), body, simulated),
        ]
    )


def _prelude(dtype: str, simulated: bool) -> list[str]:
    module = "numpy" if simulated else "numba"
    lines = ["import numba", "import numpy", "from numba import cuda", ""]
    return [*lines, f"real = {module}.{dtype}", f"double = {module}.float64"]


def _decorator(simulated: bool) -> str | None:
    """Compiled without a card, a device function has to be inlined; the simulator takes plain functions."""
    return None if simulated else '@cuda.jit(device=True, inline="always")'


def _kernel_lines(names: list[str], body: list[str], simulated: bool) -> list[str]:
    if simulated:  # a card does not warn of infinity and NaN
        body = ['with numpy.errstate(all="ignore"):', *indent(body, 1)]
    return ["", "", f"def kernel({', '.join(names)}):", *indent(body, 1), ""]
