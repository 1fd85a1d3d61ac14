"""BLAS matrix products (`gemm`, `gemv`) for compiled kernels: no interpreter, no copies, one thread per call.

The calls go to SciPy's BLAS. Kernels split a product into tiles by shape and run these on the library's threads, so
BLAS itself must not start any: importing this module limits it to one.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
import scipy.linalg.cython_blas
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic
from threadpoolctl import ThreadpoolController

from .compile_options import with_parameters

# LLVM resolves symbols by name in the whole process, where another BLAS may export the usual names.
_PREFIX = "paddle_layers_"
_LETTERS = {"float32": "s", "float64": "d"}


def _bind() -> None:
    """Registers the routines with the compiler, by names that are also valid in cached code."""
    for routine in ("sgemm", "dgemm", "sgemv", "dgemv"):
        # Cached machine code refers to the name; the address differs between processes.
        address = get_cython_function_address(scipy.linalg.cython_blas.__name__, routine)
        llvmlite.binding.add_symbol(_PREFIX + routine, address)
    # NumPy's BLAS keeps its threads, since it does not run inside of kernels.
    for library in ThreadpoolController().select(user_api="blas").lib_controllers:
        if "scipy" in library.filepath:
            library.set_num_threads(1)


_bind()


def _passed(builder: Any, kind: str, value: Any, real: Any) -> Any:
    """What a Fortran routine gets for an argument: all are passed by address."""
    if kind == "array":
        return builder.inttoptr(value, real.as_pointer())
    if kind == "flag":
        true = builder.icmp_signed("!=", value, ir.Constant(value.type, 0))
        value = builder.select(true, *(ir.Constant(ir.IntType(8), ord(letter)) for letter in "TN"))
    elif kind == "integer":
        # SciPy's BLAS has 32-bit integers (LP64).
        value = builder.trunc(value, ir.IntType(32))
    # `alloca_once` allocates in the entry block: otherwise calls in a loop would grow the stack.
    slot = cgutils.alloca_once(builder, value.type)
    builder.store(value, slot)
    return slot


def _routine(name: str, **kinds: str) -> Any:
    """A Fortran routine: whether it transposes, integers and scalars by value, arrays by address of the first element.

    The type of `alpha` selects the precision.
    """

    def call(_context: Any, *given: Any) -> Any:
        precision = given[[*kinds].index("alpha")]
        signature = types.void(*(precision if kind == "scalar" else types.int64 for kind in kinds.values()))

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            real = ir.FloatType() if precision == types.float32 else ir.DoubleType()
            passed = [_passed(builder, kind, value, real) for kind, value in zip(kinds.values(), args, strict=True)]
            form = ir.FunctionType(ir.VoidType(), [value.type for value in passed])
            routine = _PREFIX + _LETTERS[str(precision)] + name
            builder.call(cgutils.get_or_insert_function(builder.module, form, routine), passed)
            return context.get_dummy_value()

        return signature, codegen

    return intrinsic(with_parameters(call, kinds))


_gemm = _routine(
    "gemm", trans_a="flag", trans_b="flag", m="integer", n="integer", k="integer", alpha="scalar", a="array",
    lda="integer", b="array", ldb="integer", beta="scalar", c="array", ldc="integer",
)  # fmt: skip
_gemv = _routine(
    "gemv", trans="flag", m="integer", n="integer", alpha="scalar", a="array", lda="integer", x="array",
    step_x="integer", beta="scalar", y="array", step_y="integer",
)  # fmt: skip


@njit(inline="always")
def vector_product(trans, m, n, a, lda, x, accumulate, y, one):
    """`y = x A` for the stored matrix A (m x n), or `y = x A'` where `trans`; `y +=` when accumulating.

    One-thread gemm is thirty times slower for a single row.
    """
    # With a factor of 0, BLAS does not read the target, so that NaN in uninitialized memory cannot spread.
    beta = one if accumulate else one - one
    _gemv(trans, n, m, one, a, lda, x, 1, beta, y, 1)  # Fortran sees the transpose


@njit(inline="always")
def matrix_product(trans_a, trans_b, m, n, k, a, lda, b, ldb, accumulate, c, ldc, one):
    """C (m x n) = op(A) op(B), or C += when accumulating; rows are contiguous.

    `a`, `b`, `c` are addresses of the first elements, `lda`, `ldb`, `ldc` the leading dimensions (lengths of the stored
    rows), `one` is 1 in the precision of the matrices.
    """
    # As above: 0 also means that the target is not read. Row-major C is column-major C' = op(B)' op(A)', hence the
    # exchanged operands.
    beta = one if accumulate else one - one
    _gemm(trans_b, trans_a, n, m, k, one, b, ldb, a, lda, beta, c, ldc)  # Fortran sees the transposes
