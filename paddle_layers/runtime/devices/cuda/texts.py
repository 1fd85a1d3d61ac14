"""Source code of CUDA kernels: the same specialized point functions as on the CPU, one thread per element."""

from __future__ import annotations

import inspect
import textwrap

from paddle_layers.define.functions.program import Program
from paddle_layers.runtime.generate.drivers import (
    Array,
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

# With one load of each thread in flight, `relu` of 128 MiB took 0.100 ms on an H200; with 2 and 8, 0.081 and 0.075 ms.
AT_ONCE = 8
"""Elements of a thread whose loads are in flight together."""


def cuda_text(code: Kernel | TunedCall, dtype: str, *, block: int, simulated: bool, wide: bool) -> str:
    """A module with the function `kernel`; its arguments are those of the code, for point functions after `total_`.

    `block`: threads of a block that computes one element together; 0: each thread computes different elements. `wide`:
    whether the number of an element may have more than 32 bits.
    """
    if isinstance(code, TunedCall):
        return _tuned_text(code, dtype, simulated)
    if code.python is not None:
        return python_text(code, dtype)
    return "\n".join(
        [
            *header(code, dtype, "cuda"),
            *_prelude(code, dtype, simulated, wide),
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
    # The type is stated again after each sum: numba gives one of 64 bits to a sum of 32 bits.
    lines = [
        "total_ = unsigned(total_)",
        "step_ = unsigned(cuda.gridsize(1))",
        "t_ = unsigned(cuda.grid(1))",
        "while t_ < total_:",
    ]
    if not at_once(kernel):
        one = [*_indices(kernel, "t_"), *sequence_line(kernel), *kernel.store(), "t_ = unsigned(t_ + step_)"]
        return [*lines, *indent(one, 1)]
    # By its number, which spares the second pass the division into indices.
    place = f"{kernel.targets[0]}.flat[e_]"
    compute = [
        "e_ = unsigned(t_ + unsigned(u_) * step_)",
        # The last element again instead of a branch, which would keep the loads from being in flight together.
        "e_ = e_ if e_ < total_ else unsigned(total_ - unsigned(1))",
        *_indices(kernel, "e_"),
        *sequence_line(kernel),
        f"values_[u_] = {f'{place} + ' if kernel.accumulate else ''}{kernel.value()}",
    ]
    store = ["e_ = unsigned(t_ + unsigned(u_) * step_)", "if e_ < total_:", f"    {place} = values_[u_]"]
    several = [
        *(f"for u_ in range({AT_ONCE}):", *indent(compute, 1)),
        *(f"for u_ in range({AT_ONCE}):", *indent(store, 1)),
        f"t_ = unsigned(t_ + unsigned({AT_ONCE}) * step_)",
    ]
    return [f"values_ = cuda.local.array({AT_ONCE}, real)", *lines, *indent(several, 1)]


def at_once(kernel: Kernel) -> bool:
    """Whether a thread computes `AT_ONCE` elements before it stores them."""
    plain = not any((kernel.scan, kernel.procedure, kernel.python, kernel.used_rows, kernel.along, kernel.targets[1:]))
    target = kernel.args[kernel.targets[0]]
    loops = any(program.has_loops for program in kernel.programs)
    return plain and not loops and isinstance(target, Array) and target.dtype == "real"


def _indices(kernel: Kernel, number: str) -> list[str]:
    """Lines that split an element number into indices: unsigned where no negative one is computed from them."""
    split = unravel(kernel.indices, kernel.sizes, number, "unsigned({})")
    if kernel.program.only_subscripts(kernel.indices):
        return split
    return [*split, *(f"{index} = whole({index})" for index in kernel.indices)]


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
    # The simulator has no alignment.
    without = {"ALIGNMENT": None} if simulated else {}
    program = specialise(program, {**code.constants, "THREADS": code.tuned.threads, **without}, call)
    title = f'"""{code.name} by {call.__module__}.{call.__qualname__}, {dtype}, cuda. Generated: do not edit."""'
    body = textwrap.dedent("\n".join(program.text.splitlines()[1:])).splitlines()
    return "\n".join(
        [
            *(title, "import math", ""),
            *_prelude(code, dtype, simulated, True),
            *functions(helper_programs(call, without).values(), _decorator(simulated)),
            *_kernel_lines(list(code.args), body, simulated),
        ]
    )


def _prelude(code: Kernel | TunedCall, dtype: str, simulated: bool, wide: bool) -> list[str]:
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
        # Measured on an H200: numbers of 32 bits make `pool` 1.19 times as fast, whose indices take three divisions.
        f"unsigned = {'int' if simulated else 'numba.uint64' if wide else 'numba.uint32'}",
        *(f"# {name}: {spec}" for name, spec in code.args.items()),
    ]


def _decorator(simulated: bool) -> str | None:
    """Compiled without a GPU, a device function has to be inlined; the simulator accepts plain functions."""
    return None if simulated else '@cuda.jit(device=True, inline="always")'


def _kernel_lines(names: list[str], body: list[str], simulated: bool) -> list[str]:
    if simulated:  # a GPU does not warn about infinity and NaN
        body = ['with numpy.errstate(all="ignore"):', *indent(body, 1)]
    return ["", "", f"def kernel({', '.join(names)}):", *indent(body, 1), ""]
