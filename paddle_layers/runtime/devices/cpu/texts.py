"""Source code of CPU drivers: a specialized point function inside a loop nest, or a call of a tuned kernel."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paddle_layers.define.functions.program import Program
from paddle_layers.kernels.digests import tuned_digest
from paddle_layers.kernels.primitives import compile_options, elementary, float32_helpers
from paddle_layers.kernels.primitives.compile_options import INNER
from paddle_layers.kernels.tuned import IDENTIFIER
from paddle_layers.runtime.generate.authors import LIBRARY
from paddle_layers.runtime.generate.cache import sum_of
from paddle_layers.runtime.generate.drivers import (
    Array,
    Kernel,
    Spec,
    TunedCall,
    functions,
    header,
    indent,
    python_text,
    scan_lines,
    sequence_line,
    unravel,
)

from .column_form import FIRST, LANE, NAME, WIDTH, column_form
from .vector_form import ADD, EXTREMES, MATH, UNSIGNED, vector_form

DECORATOR = '@njit(error_model="numpy", forceinline=True, **INNER)'
"""For functions that only the body calls: a call would prevent vectorization of its loop."""
SINGLE_FORM = "@single_form"
"""For float32 helpers with another implementation."""
EPILOGUE = "(epilogue.ctypes.data, epilogue.shape[1] * epilogue.itemsize)"
"""Argument of a kernel with a fused epilogue: `primitives.epilogues`."""
# LLVM's limit (`runtime-memory-check-threshold`).
MOST_COMPARED = 8
"""Maximum number of array pairs in the compiler's runtime alias checks of a loop; with more, it is not vectorized."""
NO_MATTER = {"nopython", "boundscheck", *INNER}
"""Options of kernels that have no effect when inlined."""


def unpack_lines(args: Mapping[str, Spec]) -> list[str]:
    """Lines that turn the three argument tables into named arguments."""
    lines: list[str] = []
    counts = [0, 0, 0]

    def array(spec: Array) -> str:
        dtype = "real" if spec.dtype == "real" else f"numba.{spec.dtype}"
        text = f"argument_(pa_, {counts[0]}, ia_, {counts[1]}, {spec.ndim - spec.ones}, {spec.ones}, {dtype})"
        counts[0] += 1
        counts[1] += spec.ndim
        return text

    for name, spec in args.items():
        if isinstance(spec, Array):
            lines.append(f"{name} = {array(spec)}")
        elif not isinstance(spec, str):
            lines.append(f"{name} = ({''.join(array(item) + ', ' for item in spec)})")
        elif spec == "real":
            lines.append(f"{name} = real(fa_[{counts[2]}])")
            counts[2] += 1
        elif spec == "int":
            lines.append(f"{name} = ia_[{counts[1]}]")
            counts[1] += 1
        else:
            kind, number = spec.split()
            table, form = (1, "ia_[{}]") if kind == "ints" else (2, "real(fa_[{}])")
            items = [form.format(counts[table] + k) for k in range(int(number))]
            lines.append(f"{name} = ({''.join(item + ', ' for item in items)})")
            counts[table] += int(number)
    return lines


def cpu_prelude(dtype: str) -> list[str]:
    """Imports of a CPU driver."""
    return [
        "import numba",
        "from numba import cfunc, njit",
        f"from {compile_options.__name__} import INNER, OUTER",
        "from paddle_layers.runtime.devices.cpu.arrays import LANES, argument as argument_, stack as stack_",
        "from paddle_layers.runtime.devices.cpu.native import BODY",
        f"# digest of the imports: {_imported_digest()}",
        "",
        f"real = numba.{dtype}",
        "double = numba.float64",
    ]


@functools.cache
def _imported_digest() -> str:
    """Digest of the files that every driver imports: numba does not detect changes there."""
    here = Path(__file__)
    files = (Path(compile_options.__file__), here.with_name("arrays.py"), here.with_name("native.py"))
    return sum_of(b"".join(file.read_bytes() for file in files))[:16]


def cpu_body(args: Mapping[str, Spec], lines: list[str], options: str = "") -> list[str]:
    """The compiled entry of a CPU driver around the lines of its loop; `options` are the compiler's."""
    return [
        "",
        f'@cfunc(BODY, cache=True, error_model="numpy", **OUTER{options})',
        "def body(lo_, hi_, pa_, ia_, fa_):",
        *indent(unpack_lines(args), 1),
        *indent(lines, 1),
    ]


@functools.lru_cache(maxsize=1 << 14)
def cpu_text(kernel: Kernel, dtype: str) -> str:
    """Driver for the CPU: work items `lo_` to `hi_`, each a row of the last axis (or an element of a vector)."""
    if kernel.python is not None:
        return python_text(kernel, dtype)
    arrays = {name for name, spec in kernel.args.items() if isinstance(spec, Array)}
    program = vector_form(kernel.program.named("element_"), dtype, kernel.indices, arrays)
    columns = _columns(kernel, program)
    helpers = [helper for name, helper in kernel.helpers.items() if name not in EXTREMES]
    programs = [*(vector_form(helper, dtype) for helper in helpers), columns or program]
    lines = [*header(kernel, dtype, "cpu"), *cpu_prelude(dtype), *_vector_prelude(programs, dtype)]
    # In place, the compiler's overlap check would take its scalar loop at run time: relu was six times as slow.
    aside = columns is None and not kernel.apart and _may_take_over(kernel)
    for program in programs:
        lines += functions([program], SINGLE_FORM if _has_single_form(program, dtype) else DECORATOR)
    if kernel.procedure:
        loop = ["for t_ in range(lo_, hi_):", *indent([f"{kernel.indices[0]} = t_", kernel.call()], 1)]
    elif kernel.scan:
        loop = ["for t_ in range(lo_, hi_):", *indent(scan_lines(kernel, "range(columns_)", None), 1)]
    elif columns is not None:
        call = f"{NAME}({', '.join(columns.arguments)})"
        loop = _stretches(kernel, [call])
    elif aside:
        loop = _cpu_loop_in_place_or_apart(kernel)
    else:
        loop = _cpu_loop(kernel)
    return "\n".join([*lines, *cpu_body(kernel.args, loop), ""])


def _has_single_form(program: Program, dtype: str) -> bool:
    """Whether it is a helper of the library's own layers with a float32 implementation."""
    own = program.place is not None and Path(program.place[0]) == LIBRARY / "layers" / "helpers.py"
    return own and dtype == "float32" and program.tree.name in float32_helpers.SINGLE


def _vector_prelude(programs: Sequence[Program], dtype: str) -> list[str]:
    """Imports and helpers of programs in vector form."""
    names = {name for program in programs for name in program.names}
    lines = []
    # The replacements have a form of comparison for which LLVM selects the vector instructions for minimum and maximum.
    extremes = sorted({*EXTREMES} & {n for program in programs for n in program.names - {*program.arguments}})
    if MATH in names or extremes:
        module = elementary.__name__
        lines += [
            f"from {module.rpartition('.')[0]} import {MATH}",
            *(f"{name} = {MATH}.{EXTREMES[name]}" for name in extremes),
            f"# its own text: {tuned_digest(module)}",
        ]
    if any(_has_single_form(program, dtype) for program in programs):
        module = float32_helpers.__name__
        lines += [f"from {module} import single_form", f"# its own text: {tuned_digest(module)}"]
    if ADD in names:
        # Reassociation is limited to this addition: no other operation of the author's function changes its rounding.
        reordered = DECORATOR.replace(")", ', fastmath={"reassoc"})')
        lines += ["", reordered, f"def {ADD}(total, value):", *indent(["return total + value"], 1)]
    return lines


def _cpu_loop(kernel: Kernel) -> list[str]:
    indices, store = kernel.indices[: len(kernel.indices) - len(kernel.ones)], kernel.store(index=UNSIGNED)
    fixed = [f"{index} = 0" for index in kernel.ones]
    if not indices:
        return ["for t_ in range(lo_, hi_):", *indent(store, 1)]
    if len(indices) == 1:
        inner = [f"{indices[0]} = t_", *sequence_line(kernel), *store]
        return [*fixed, "for t_ in range(lo_, hi_):", *indent(inner, 1)]
    *rows, last = indices
    inner = [*sequence_line(kernel), f"for {last} in range({kernel.sizes[len(rows)]}):", *indent(store, 1)]
    return [*fixed, *_rows(kernel, rows, inner)]


def _rows(kernel: Kernel, rows: Sequence[str], lines: list[str]) -> list[str]:
    """Lines that run for each row, whose indices are incremented: a division per row would take longer than short rows.

    The lines may change the indices, so copies are incremented.
    """
    counters = [f"{index}_" for index in rows]
    given = [f"{row} = {counter}" for row, counter in zip(rows, counters, strict=True)]
    body = [*given, *lines, *_next(counters, kernel.sizes)]
    return [*unravel(counters, kernel.sizes, "lo_"), "for t_ in range(lo_, hi_):", *indent(body, 1)]


def _next(counters: Sequence[str], sizes: Sequence[str]) -> list[str]:
    """Lines that advance to the next row."""
    lines = [f"{counters[-1]} += 1"]
    if len(counters) > 1:
        over = [f"{counters[-1]} = 0", *_next(counters[:-1], sizes)]
        lines += [f"if {counters[-1]} == {sizes[len(counters) - 1]}:", *indent(over, 1)]
    return lines


def _columns(kernel: Kernel, program: Program) -> Program | None:
    """The function for many adjacent columns at once, or None.

    Only functions of this library have it, since the lines differ from the author's.
    """
    own = kernel.program.place is None or Path(kernel.program.place[0]).is_relative_to(LIBRARY)
    if not own or not _stands_alone(kernel) or kernel.ones:
        return None
    single = {f"{n}.shape[{spec.ndim - 1}]" for n, spec in kernel.args.items() if isinstance(spec, Array) and spec.ones}
    return column_form(program, kernel.indices[-1], single)


def _may_take_over(kernel: Kernel) -> bool:
    """Whether a target may alias an array that is read, which the compiler must assume, too.

    It then does not vectorize accesses to such memory, unless results are buffered before any is stored.
    """
    reads = [n for n, spec in kernel.args.items() if spec != "int" and n not in kernel.targets]
    own = (n for n in reads if kernel.program.reads(n) and kernel.program.reads_own_element(n, kernel.indices))
    return _stands_alone(kernel) and any(own)


def _cpu_loop_in_place_or_apart(kernel: Kernel) -> list[str]:
    """A buffered loop if a target aliases an array that is read, else a single, faster loop."""
    stretches = _stretches(kernel, _lane_loop(kernel, _results(kernel), kernel.call()))
    numbers = itertools.count()  # of the addresses, in the order of the arguments
    own: list[int] = []
    others: list[int] = []
    for name, spec in kernel.args.items():
        if not isinstance(spec, str):
            count = 1 if isinstance(spec, Array) else len(spec)
            (own if name in kernel.targets else others).extend(itertools.islice(numbers, count))
    if len(own) * len(others) + len(own) * (len(own) - 1) // 2 > MOST_COMPARED:
        return stretches
    # Decided at run time, since which buffers share memory differs from plan to plan while the driver is the same. The
    # buffered loop costs 10 to 25 % where nothing overlaps (relu 65 to 76 us, docs/development/performance.md).
    same = " or ".join(f"pa_[{target}] == pa_[{other}]" for target in own for other in others)
    return [f"if {same}:", *indent(stretches, 1), "else:", *indent(_cpu_loop(kernel), 1)]


def _stands_alone(kernel: Kernel) -> bool:
    """Whether elements are floating-point values that are computed independently, in any order."""
    if not kernel.indices or kernel.procedure or kernel.scan or kernel.along or kernel.used_rows or kernel.sequence:
        return False
    return all(spec.dtype == "real" for spec in map(kernel.args.get, kernel.targets) if isinstance(spec, Array))


def _results(kernel: Kernel) -> list[str]:
    """Names of stack arrays, one per target."""
    return [f"result{at}_" for at in range(len(kernel.targets))]


def _lane_loop(kernel: Kernel, results: list[str], value: str) -> list[str]:
    """Lines that compute each lane separately."""
    lane = kernel.indices[: len(kernel.indices) - len(kernel.ones)][-1]
    places = [f"{result}[numba.uint64({LANE})]" for result in results]
    return [
        f"for {LANE} in range({WIDTH}):",
        *indent([f"{lane} = {FIRST} + {LANE}", f"{', '.join(places)} = {value}"], 1),
    ]


def _stretches(kernel: Kernel, compute: list[str]) -> list[str]:
    """Blocks of adjacent elements, of the rows of an array or of a vector: all are computed, then all are stored."""
    *outer, lane = kernel.indices[: len(kernel.indices) - len(kernel.ones)]
    results = _results(kernel)
    elements = [f"{result}[numba.uint64({LANE})]" for result in results]
    element = elements[0] if len(elements) == 1 else f"({', '.join(elements)})"
    begin, end = ("0", kernel.sizes[len(outer)]) if outer else ("lo_", "hi_")
    inner = [
        f"{WIDTH} = LANES if LANES < {end} - {FIRST} else {end} - {FIRST}",  # an attribute may be called `min`
        *compute,
        f"for {LANE} in range({WIDTH}):",
        *indent([f"{lane} = {FIRST} + {LANE}", *kernel.store(element, index=UNSIGNED)], 1),
    ]
    lines = [f"for {FIRST} in range({begin}, {end}, LANES):", *indent(inner, 1)]
    fixed = [f"{result} = stack_(real)" for result in results]
    fixed += [f"{index} = 0" for index in kernel.ones]
    if not outer:
        return [*fixed, *lines]
    return [*fixed, *_rows(kernel, outer, lines)]


def tuned_text(code: TunedCall, dtype: str) -> str:
    """Driver of a tuned kernel: it unpacks the arguments and calls the kernel."""
    function, constants = code.tuned.function, code.constants
    values = {name: repr(value) for name, value in constants.items()}
    if "epilogue" in code.args:
        # An address instead of an array: kernels without an epilogue get an empty tuple, and share the rest of the
        # signature.
        values["epilogue"] = EPILOGUE
    given = IDENTIFIER.sub(lambda name: values.get(name[0], name[0]), code.tuned.arguments)
    options = _options_of_a_copy(code.tuned.call)
    copied, origin = options is not None, f"{function.__module__}.{function.__qualname__}"
    return "\n".join(
        [
            f'"""{code.name} by {origin}, {dtype}, cpu. Generated: do not edit."""',
            *cpu_prelude(dtype),
            f"from {function.__module__} import {function.__name__}",
            f"# the kernels' own text: {tuned_digest(function.__module__)}",
            *(["", f'copy_ = njit(inline="always")({function.__name__}.py_func)'] if copied else []),
            *cpu_body(code.args, [f"{'copy_' if copied else function.__name__}(lo_, hi_, {given})"], options or ""),
            "",
        ]
    )


def _options_of_a_copy(kernel: Any) -> str | None:
    """Options of a body into which the kernel is inlined; `None` if it must be called instead.

    numba compiles a callee separately first, and again as a part of its caller.
    """
    # Only kernels whose other options equal those of a body: an option would be lost, or would apply to the unpacking,
    # too.
    options = {name: value for name, value in getattr(kernel, "targetoptions", {}).items() if name not in NO_MATTER}
    fast = options.pop("fastmath", False)
    if options != {"error_model": "numpy"}:
        return None
    return f", fastmath={fast if isinstance(fast, bool) else sorted(fast)}" if fast else ""
