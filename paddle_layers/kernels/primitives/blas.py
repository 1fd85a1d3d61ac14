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


class _Call:
    """Builds a call of a Fortran routine, which takes all arguments by address."""

    def __init__(self, builder: Any, precision: Any) -> None:
        self.builder, self.precision = builder, str(precision)
        self.passed: list[Any] = []

    def values(self, *values: Any) -> None:
        """Scalars; integers become Fortran's 32 bits."""
        for value in values:
            # SciPy's BLAS has 32-bit integers (LP64).
            narrow = self.builder.trunc(value, ir.IntType(32)) if isinstance(value.type, ir.IntType) else value
            self._by_address(narrow)

    def flag(self, transposed: Any) -> None:
        """`T` or `N`."""
        true = self.builder.icmp_signed("!=", transposed, ir.Constant(transposed.type, 0))
        letters = [ir.Constant(ir.IntType(8), ord(letter)) for letter in "TN"]
        self._by_address(self.builder.select(true, *letters))

    def array(self, address: Any) -> None:
        """An array as the address of its first element."""
        real = ir.FloatType() if self.precision == "float32" else ir.DoubleType()
        self.passed.append(self.builder.inttoptr(address, real.as_pointer()))

    def end(self, routine: str) -> None:
        """Emits the call."""
        function = ir.FunctionType(ir.VoidType(), [value.type for value in self.passed])
        name = _PREFIX + _LETTERS[self.precision] + routine
        self.builder.call(cgutils.get_or_insert_function(self.builder.module, function, name), self.passed)

    def _by_address(self, value: Any) -> None:
        # `alloca_once` allocates in the entry block: otherwise calls in a loop would grow the stack.
        slot = cgutils.alloca_once(self.builder, value.type)
        self.builder.store(value, slot)
        self.passed.append(slot)


@intrinsic
def _gemm(typingctx, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
    """Fortran's gemm: sizes by value, matrices by address; the type of `alpha` selects sgemm or dgemm."""
    i64 = types.int64
    signature = types.void(i64, i64, i64, i64, i64, alpha, i64, i64, i64, i64, alpha, i64, i64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        call = _Call(builder, alpha)
        call.flag(args[0])
        call.flag(args[1])
        call.values(*args[2:6])
        call.array(args[6])
        call.values(args[7])
        call.array(args[8])
        call.values(*args[9:11])
        call.array(args[11])
        call.values(args[12])
        call.end("gemm")
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def _gemv(typingctx, trans, m, n, alpha, a, lda, x, step_x, beta, y, step_y):
    """Fortran's gemv, the matrix-vector product."""
    i64 = types.int64
    signature = types.void(i64, i64, i64, alpha, i64, i64, i64, i64, alpha, i64, i64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        call = _Call(builder, alpha)
        call.flag(args[0])
        call.values(*args[1:4])
        call.array(args[4])
        call.values(args[5])
        call.array(args[6])
        call.values(*args[7:9])
        call.array(args[9])
        call.values(args[10])
        call.end("gemv")
        return context.get_dummy_value()

    return signature, codegen


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
