"""Kernel launches from one compiled loop: a launch costs only the driver call, without Python overhead."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from paddle_layers.runtime.generate.library import kept


@intrinsic
def call_launch(typingctx: Any, launch: Any, function: Any, blocks: Any, threads: Any, stream: Any, params: Any) -> Any:
    """Calls `cuLaunchKernel` at an address: one-dimensional grid, no dynamic shared memory; returns its status."""
    i32, i64 = ir.IntType(32), ir.IntType(64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address, kernel, wide, deep, queue, parameters = args
        one, zero = i32(1), i32(0)
        prototype = ir.FunctionType(i32, [i64, *[i32] * 7, i64, i64, i64])
        grid = [builder.trunc(wide, i32), one, one, builder.trunc(deep, i32), one, one]
        given = [kernel, *grid, zero, queue, parameters, i64(0)]
        status = builder.call(builder.inttoptr(address, prototype.as_pointer()), given)
        return builder.sext(status, i64)

    return types.int64(*[types.int64] * 6), codegen


@kept
@njit(nogil=True)
def queue_kernels(rows: Any, launch: int, stream: int) -> tuple[int, int]:
    """Enqueues the rows of a `CudaTable`; returns the driver's first error and the row, or (0, 0)."""
    for row in range(rows.shape[0]):
        # An empty batch or step: CUDA rejects a grid of no blocks.
        if rows[row, 1] > 0:
            status: Any = call_launch(launch, rows[row, 0], rows[row, 1], rows[row, 2], stream, rows[row, 3])
            if status != 0:
                return status, row
    return 0, 0
