"""BLAS's matrix product for compiled kernels: no interpreter, no copies, one thread for each call.

SciPy's own BLAS does the work. Kernels cut a product into tiles by shape and run these on the library's threads, so
BLAS itself must not start any: it is told so when this module is imported.
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

_SYMBOLS = {"float32": "paddle_layers_sgemm", "float64": "paddle_layers_dgemm"}


def _bind() -> None:
    """Make the two routines known to compiled code, by names that hold in cached code too."""
    for routine, symbol in (("sgemm", _SYMBOLS["float32"]), ("dgemm", _SYMBOLS["float64"])):
        address = get_cython_function_address(scipy.linalg.cython_blas.__name__, routine)
        llvmlite.binding.add_symbol(symbol, address)
    for library in ThreadpoolController().select(user_api="blas").lib_controllers:
        if "scipy" in library.filepath:
            library.set_num_threads(1)


_bind()


@intrinsic
def _gemm(typingctx, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
    """Fortran's gemm: sizes by value, matrices by address; the type of `alpha` decides between sgemm and dgemm."""
    i64 = types.int64
    signature = types.void(i64, i64, i64, i64, i64, alpha, i64, i64, i64, i64, alpha, i64, i64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i8, i32 = ir.IntType(8), ir.IntType(32)
        real = ir.FloatType() if alpha == types.float32 else ir.DoubleType()

        def by_address(value: Any) -> Any:
            slot = cgutils.alloca_once(builder, value.type)
            builder.store(value, slot)
            return slot

        def flag(value: Any) -> Any:
            transposed = builder.icmp_signed("!=", value, ir.Constant(value.type, 0))
            return by_address(builder.select(transposed, ir.Constant(i8, ord("T")), ir.Constant(i8, ord("N"))))

        def whole(value: Any) -> Any:
            return by_address(builder.trunc(value, i32))

        def matrix(value: Any) -> Any:
            return builder.inttoptr(value, real.as_pointer())

        passed = [
            *(flag(args[0]), flag(args[1]), whole(args[2]), whole(args[3]), whole(args[4])),
            *(by_address(args[5]), matrix(args[6]), whole(args[7]), matrix(args[8]), whole(args[9])),
            *(by_address(args[10]), matrix(args[11]), whole(args[12])),
        ]
        function = ir.FunctionType(ir.VoidType(), [value.type for value in passed])
        name = _SYMBOLS[str(alpha)]
        builder.call(cgutils.get_or_insert_function(builder.module, function, name), passed)
        return context.get_dummy_value()

    return signature, codegen


@njit(inline="always")
def matrix_product(trans_a, trans_b, m, n, k, a, lda, b, ldb, accumulate, c, ldc, one):
    """C (m x n) = op(A) op(B), or C += when accumulating; rows contiguous.

    `a`, `b`, `c` are addresses of the first elements, `lda`, `ldb`, `ldc` the lengths of the stored rows, `one` is 1
    in the precision of the matrices.
    """
    beta = one if accumulate else one - one
    _gemm(trans_b, trans_a, n, m, k, one, b, ldb, a, lda, beta, c, ldc)  # Fortran sees the transposes
