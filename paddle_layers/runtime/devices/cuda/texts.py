"""Source code of CUDA kernels: the same specialized point functions as on the CPU, one thread per element."""

from __future__ import annotations

import inspect
import textwrap

from paddle_layers.define.functions.program import Program
from paddle_layers.runtime.generate.drivers import (
    Kernel,
    TunedCall,
    functions,
    header,
    indent,
    python_text,
    scan_lines,
    sequence_line,
    unravel,
)
from paddle_layers.runtime.generate.specialise import helper_programs, specialise


def cuda_text(code: Kernel | TunedCall, dtype: str, *, block: int, simulated: bool) -> str:
    """A module with the function `kernel`; its arguments are those of the code, for point functions after `total_`.

    `block`: threads of a block that computes one element together; 0: each thread computes different elements.
    """
    if isinstance(code, TunedCall):
        return _tuned_text(code, dtype, simulated)
    if code.python is not None:
        return python_text(code, dtype)
    return "\n".join(
        [
            *header(code, dtype, "cuda"),
            *_prelude(code, dtype, simulated),
            *functions(code.programs, _decorator(simulated)),
            *([f"THREADS = {block}"] if block else []),
            *_kernel_lines(["total_", *code.args], _block_lines(code) if block else _point_lines(code), simulated),
        ]
    )


def _point_lines(kernel: Kernel) -> list[str]:
    """A loop over the work items of a thread, or of a block, which has a sequence when scanning."""
    if kernel.scan:
        # One block per sequence: its threads share the columns, and a barrier separates the rows, which depend on each
        # other.
        columns = "range(cuda.threadIdx.x, columns_, cuda.blockDim.x)"
        return _loop("cuda.blockIdx.x", "cuda.gridDim.x", scan_lines(kernel, columns, "cuda.syncthreads()"))
    if kernel.procedure:
        return _loop("cuda.grid(1)", "cuda.gridsize(1)", [f"{kernel.indices[0]} = t_", kernel.call()])
    element = [*sequence_line(kernel), *kernel.store()]
    if not kernel.program.only_subscripts(kernel.indices):
        body = [*unravel(kernel.indices, kernel.sizes, "t_"), *element]
        return _loop("cuda.grid(1)", "cuda.gridsize(1)", body)
    # unsigned indices avoid checks for negative ones
    body = [*unravel(kernel.indices, kernel.sizes, "t_", "unsigned({})"), *element]
    loop = _loop("unsigned(cuda.grid(1))", "unsigned(cuda.gridsize(1))", body)
    return ["total_ = unsigned(total_)", *loop]


def _block_lines(kernel: Kernel) -> list[str]:
    """A loop over the elements of a block; all its threads compute one, the first of them stores it."""
    # Every thread has the result after the reduction; several writes of the same value would still add when
    # accumulating.
    store = ["if cuda.threadIdx.x == 0:", *indent(kernel.store("result_"), 1)]
    element = [*sequence_line(kernel), f"result_ = {kernel.call()}", *store]
    body = [*unravel(kernel.indices, kernel.sizes, "t_"), *element]
    return _loop("cuda.blockIdx.x", "cuda.gridDim.x", body)


def _loop(start: str, stride: str, body: list[str]) -> list[str]:
    return [f"t_ = {start}", "while t_ < total_:", *indent([*body, f"t_ += {stride}"], 1)]


def _tuned_text(code: TunedCall, dtype: str, simulated: bool) -> str:
    """The kernel's source, specialized as point functions are."""
    call = code.tuned.function
    program = Program.parse(inspect.getsource(call))
    program = specialise(program, {**code.constants, "THREADS": code.tuned.threads}, call)
    title = f'"""{code.name} by {call.__module__}.{call.__qualname__}, {dtype}, cuda. Generated: do not edit."""'
    body = textwrap.dedent("\n".join(program.text.splitlines()[1:])).splitlines()
    return "\n".join(
        [
            *(title, "import math", ""),
            *_prelude(code, dtype, simulated),
            *functions(helper_programs(call).values(), _decorator(simulated)),
            *_kernel_lines(list(code.args), body, simulated),
        ]
    )


def _prelude(code: Kernel | TunedCall, dtype: str, simulated: bool) -> list[str]:
    """Imports, types, and the arguments, since machine code of the same source depends on them."""
    module = "numpy" if simulated else "numba"
    return [
        "import numba",
        "import numpy",
        "from numba import cuda",
        "",
        f"real = {module}.{dtype}",
        f"double = {module}.float64",
        f"whole = {module}.int64",
        f"unsigned = {'int' if simulated else 'numba.uint64'}",
        *(f"# {name}: {spec}" for name, spec in code.args.items()),
    ]


def _decorator(simulated: bool) -> str | None:
    """Compiled without a GPU, a device function has to be inlined; the simulator accepts plain functions."""
    return None if simulated else '@cuda.jit(device=True, inline="always")'


def _kernel_lines(names: list[str], body: list[str], simulated: bool) -> list[str]:
    if simulated:  # a GPU does not warn about infinity and NaN
        body = ['with numpy.errstate(all="ignore"):', *indent(body, 1)]
    return ["", "", f"def kernel({', '.join(names)}):", *indent(body, 1), ""]
