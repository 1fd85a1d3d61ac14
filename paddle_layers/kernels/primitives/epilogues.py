"""Fused epilogues: `clip((sum - mean) * factor + shift, low, high)` of each sum of a kernel.

Batch normalization in the test phase, a bias and relu or relu6 have this form. The values of all filters are in a table
of five rows: mean, factor, shift, low, high (computed by `runtime.passes.epilogues`). A kernel with the argument
`epilogue` gets its address and the row stride in bytes, or `NO_EPILOGUE`.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils

from paddle_layers.kernels.constants import EPILOGUE_ROWS

from .compile_options import copied, llvm_memory_code
from .microkernels import HOST

# The operations on a vector depend on each other: subtraction, multiply-add, two selections. Four independent vectors
# overlap their latencies.
UNROLLED = 4
"""Vectors per unrolled iteration."""

_I64 = ir.IntType(64)


@copied
def from_filter(epilogue, filter_, size):
    """The epilogue of the filters from a given one on."""
    return (epilogue[0] + filter_ * size if epilogue[0] != 0 else 0, epilogue[1])


def ended(builder: Any, numbers: list[Any], value: Any) -> Any:
    """Applies the epilogue to a value or a vector; NaN stays NaN."""
    mean, factor, shift, low, high = numbers
    value = builder.fmul(builder.fsub(value, mean), factor, flags=("contract",))
    value = builder.fadd(value, shift, flags=("contract",))
    # Ordered comparisons are false for NaN, which therefore passes both selections.
    value = builder.select(builder.fcmp_ordered(">", low, value), low, value)
    return builder.select(builder.fcmp_ordered("<", high, value), high, value)


def row_numbers(builder: Any, table: Any, step: Any, real: Any) -> list[Any]:
    """The values of a filter in the rows of a table."""
    rows = (builder.add(table, builder.mul(step, ir.Constant(_I64, row))) for row in range(EPILOGUE_ROWS))
    align = 4 if isinstance(real, ir.FloatType) else 8
    return [builder.load(builder.inttoptr(row, real.as_pointer()), align=align) for row in rows]


def epilogue_function(module: Any, nbytes: int, real: Any) -> Any:
    """The function for a run of sums in an LLVM module, added if missing; arguments as of `apply_epilogue`."""
    name = f"paddle_layers_epilogue_{real}_{nbytes}"
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [_I64] * 4), name)
    # Every kernel with an epilogue emits the function, and the linker keeps one. It is called once per run of sums, so
    # that a call costs little; inlined copies would cost compile time.
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    place, count, table, step = function.args
    size = 4 if isinstance(real, ir.FloatType) else 8
    lanes = nbytes // size
    vector = ir.VectorType(real, lanes)

    def pointer(base: Any, index: Any, kind: Any) -> Any:
        return builder.inttoptr(builder.add(base, builder.mul(index, ir.Constant(_I64, size))), kind.as_pointer())

    numbers = row_numbers(builder, table, step, real)
    single = [builder.insert_element(ir.Constant(vector, ir.Undefined), n, ir.Constant(_I64, 0)) for n in numbers]
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), None)
    splats = [builder.shuffle_vector(one, one, zeros) for one in single]
    done = ir.Constant(_I64, 0)
    # Groups of vectors, then vectors, then single elements: no masks, so that all CPUs run the same code.
    for kind, wide, together, known in (
        (vector, lanes, UNROLLED, splats), (vector, lanes, 1, splats), (real, 1, 1, numbers),
    ):  # fmt: skip
        length = ir.Constant(_I64, wide * together)
        rounds = builder.udiv(builder.sub(count, done), length)
        with cgutils.for_range(builder, rounds) as loop:
            start = builder.add(done, builder.mul(loop.index, length))
            places = [pointer(place, builder.add(start, ir.Constant(_I64, at * wide)), kind) for at in range(together)]
            values = [ended(builder, known, builder.load(at, align=size)) for at in places]
            for at, value in zip(places, values, strict=True):
                builder.store(value, at, align=size)
        done = builder.add(done, builder.mul(rounds, length))
    builder.ret_void()
    return function


@llvm_memory_code
def apply_epilogue(builder: Any, real: Any, size: int, place: Any, count: Any, table: Any, step: Any) -> None:
    """Applies the epilogue to `count` sums of a filter at `place`.

    `table` is the address of the mean of the filter, `step` the row stride in bytes, `one` is 1 in the precision of the
    sums.
    """
    builder.call(epilogue_function(builder.module, HOST.bytes, real), [place, count, table, step])
