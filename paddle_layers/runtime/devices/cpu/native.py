"""Calling compiled bodies by address: one signature for all of them, one loop that runs a whole plan."""

from __future__ import annotations

import functools
import os
from typing import Any

from llvmlite import ir
from numba import njit, prange, threading_layer, types
from numba.core import cgutils
from numba.extending import intrinsic

from paddle_layers.runtime.generate.cache import kept

os.environ.setdefault("GOMP_SPINCOUNT", "1000")
# Threads that wait spin for some microseconds and then sleep. OpenMP's default spins for milliseconds, which made a
# step 14 times slower as soon as another process wanted a core, and gained nothing on a quiet machine.

BODY = types.void(
    types.int64, types.int64, types.CPointer(types.int64), types.CPointer(types.int64), types.CPointer(types.float64)
)
"""Signature of a body: first and last work item, addresses of arrays, whole numbers, real numbers."""

COLUMNS = ("address", "total", "chunks", "pointers", "ints", "floats")
"""Columns of a launch table (int64): the body's address, work items, pieces, addresses of its three argument tables."""


@intrinsic
def pointer(typingctx: Any, address: Any) -> Any:
    """An address as a pointer that `carray` takes."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), codegen


@intrinsic
def call_body(typingctx: Any, address: Any, first: Any, last: Any, pointers: Any, ints: Any, floats: Any) -> Any:
    """Call the body at an address."""
    i64, void = ir.IntType(64), ir.VoidType()
    signature = types.void(*[types.int64] * 6)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = ir.FunctionType(void, [i64] * 5)
        builder.call(builder.inttoptr(args[0], function.as_pointer()), list(args[1:]))
        return context.get_dummy_value()

    return signature, codegen


def threads_are_shared() -> bool:
    """Whether two threads may run launches at once: numba's simplest thread pool, `workqueue`, would end the process.

    Which pool there is shows when the first launch is cut into pieces; until then there is one launch at a time.
    """
    try:
        return _pool() != "workqueue"
    except ValueError:  # none is started yet
        return False


@functools.cache
def _pool() -> str:
    return str(threading_layer())


@njit(parallel=True, nogil=True)  # kept as a part of `run_launches`; with a cache of its own numba mixes up the two
def run_pieces(address, total, chunks, pointers, ints, floats):
    """Run one launch, its pieces side by side; pieces are cut by shape, so threads never change a bit."""
    for chunk in prange(chunks):
        call_body(address, total * chunk // chunks, total * (chunk + 1) // chunks, pointers, ints, floats)


@kept
@njit(nogil=True)
def run_backwards(table, start, stop):
    """The same as `run_launches`, the pieces of each launch from the last to the first, one by one: for checks."""
    for row in range(start, stop):
        address, total, chunks = table[row, 0], table[row, 1], table[row, 2]
        for chunk in range(chunks - 1, -1, -1):
            first, last = total * chunk // chunks, total * (chunk + 1) // chunks
            if first < last:
                call_body(address, first, last, table[row, 3], table[row, 4], table[row, 5])


@kept
@njit(nogil=True)
def run_launches(table, start, stop):
    """Run the launches `start` to `stop` of a table with the columns of `COLUMNS`, one after the other."""
    for row in range(start, stop):
        address, total, chunks = table[row, 0], table[row, 1], table[row, 2]
        if total <= 0:
            continue
        if chunks <= 1:
            call_body(address, 0, total, table[row, 3], table[row, 4], table[row, 5])
        else:
            run_pieces(address, total, chunks, table[row, 3], table[row, 4], table[row, 5])
