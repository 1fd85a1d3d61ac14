"""Calling compiled bodies by address: one signature for all of them, one loop that runs a whole plan."""

from __future__ import annotations

import contextlib
import functools
import os
import time
from typing import Any

import numpy as np
from llvmlite import ir
from numba import get_num_threads, njit, prange, threading_layer, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from paddle_layers.runtime.generate.library import kept

os.environ.setdefault("GOMP_SPINCOUNT", "1000")
# Threads that wait spin for some microseconds and then sleep. OpenMP's default spins for milliseconds, which made a
# step 14 times slower as soon as another process wanted a core, and gained nothing on a quiet machine.

BODY = types.void(
    types.int64, types.int64, types.CPointer(types.int64), types.CPointer(types.int64), types.CPointer(types.float64)
)
"""Signature of a body: first and last work item, addresses of arrays, whole numbers, real numbers."""

COLUMNS = (
    *("address", "total", "chunks", "pointers", "ints", "floats"),
    *("length", "parts", "runs", "cells", "step", "width"),
)
"""Columns of a launch table (int64): the body's address, work items, pieces, addresses of its three argument tables;
then of launches that run block by block, in the row of the first, how many they are, the parts that its items are
cut into, the equal runs of the target of which a part has several, the cells that the items of the others are cut into,
and how many parts, and cells, a block has. A launch that runs alone is a group of one, its parts are its items."""
ADDRESS, TOTAL, CHUNKS, POINTERS, INTS, FLOATS, LENGTH, PARTS, RUNS, CELLS, STEP, WIDTH = range(len(COLUMNS))


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
    """Whether two threads may run launches at once; in numba's simplest pool, `workqueue`, they end the process."""
    return _pool() != "workqueue"


@functools.cache
def _pool() -> str:
    """The name of numba's thread pool, which is started if it is not.

    It has to be before `run_launches` is loaded: up to version 0.62, numba looks for the pool's functions when it loads
    what it kept, and does not start it for a function that is not parallel itself; a call then leads nowhere.
    """
    get_num_threads()
    return str(threading_layer())


class _Fork:
    """What is known of a fork in the process that came of it."""

    threads_lost = False
    """Whether the one before had started its threads, so that this one can have none."""

    def note(self) -> None:
        """The system calls it in the child."""
        with contextlib.suppress(ValueError):  # none was started: the child starts its own
            self.threads_lost = threading_layer() == "omp" and openmp_vendor() == "GNU"


def check_threads(table: NDArray[np.int64]) -> None:
    """Raise `RuntimeError` where pieces of a launch would end the process: GNU's OpenMP aborts in a forked one."""
    if _FORK.threads_lost and (table[:, CHUNKS] > 1).any():
        raise RuntimeError(
            "this process was forked from one that had already computed with several threads, which do not survive a "
            'fork: start it with multiprocessing.get_context("spawn"), or fork before the first pass'
        )


def openmp_vendor() -> str:
    """Whose OpenMP numba runs on."""
    from numba.np.ufunc import omppool

    return str(omppool.openmp_vendor)


_FORK = _Fork()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_FORK.note)


@njit(nogil=True)
def call_row(table, row, first, last):
    """Call the body of a row for the work items `first` to `last`."""
    call_body(table[row, ADDRESS], first, last, table[row, POINTERS], table[row, INTS], table[row, FLOATS])


@njit(nogil=True)
def run_parts(table, row, length, first, last):
    """Run the parts `first` to `last` of the launch at `row`, block by block with the `length - 1` behind it."""
    if length == 1:
        call_row(table, row, first, last)
        return
    parts, runs, cells = table[row, PARTS], table[row, RUNS], table[row, CELLS]
    step, width, items = table[row, STEP], table[row, WIDTH], table[row, TOTAL] // parts
    for low in range(first, last, step):
        high = min(low + step, last)
        call_row(table, row, low * items, high * items)
        end = runs * high // parts * (cells // runs)
        for cell in range(runs * low // parts * (cells // runs), end, width):
            for other in range(row + 1, row + length):
                each = table[other, TOTAL] // cells
                call_row(table, other, cell * each, min(cell + width, end) * each)


@njit(nogil=True)
def group_length(table, row, stop):
    """How many launches run block by block from `row` on; 1 where the last of them is not to run."""
    return table[row, LENGTH] if row + table[row, LENGTH] <= stop else 1


@njit(parallel=True, nogil=True)  # kept as a part of `run_launches`; with a cache of its own numba mixes up the two
def run_pieces(table, row, length, parts, chunks):
    """Run one launch, or group, its pieces side by side; pieces are cut by shape, so threads never change a bit."""
    for chunk in prange(chunks):
        run_parts(table, row, length, parts * chunk // chunks, parts * (chunk + 1) // chunks)


@kept
@njit(nogil=True)
def run_backwards(table, start, stop):
    """The same as `run_launches`, the pieces of each launch from the last to the first, one by one: for checks."""
    row = start
    while row < stop:
        length, chunks = group_length(table, row, stop), table[row, CHUNKS]
        parts = table[row, PARTS if length > 1 else TOTAL]
        for chunk in range(chunks - 1, -1, -1):
            first, last = parts * chunk // chunks, parts * (chunk + 1) // chunks
            if first < last:
                run_parts(table, row, length, first, last)
        row += length


@kept
@njit(nogil=True)
def run_launches(table, start, stop):
    """Run the launches `start` to `stop` of a table with the columns of `COLUMNS`, one after the other.

    Those that run block by block do where all of them are to run.
    """
    row = start
    while row < stop:
        length, chunks = group_length(table, row, stop), table[row, CHUNKS]
        parts = table[row, PARTS if length > 1 else TOTAL]
        if parts > 0 and chunks <= 1:
            run_parts(table, row, length, 0, parts)
        elif parts > 0:
            run_pieces(table, row, length, parts, chunks)
        row += length


def compile_loop() -> None:
    """Compile `run_launches` now, or load it, rather than when the first launches are to run."""
    _pool()
    run_launches(np.zeros((0, len(COLUMNS)), np.int64), 0, 0)


@intrinsic
def nanoseconds(typingctx: Any) -> Any:
    """The clock that only goes forward, as an `int64`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i64 = ir.IntType(64)
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32), i64.as_pointer()])
        clock = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
        parts = cgutils.alloca_once(builder, i64, size=2)
        builder.call(clock, [ir.Constant(ir.IntType(32), time.CLOCK_MONOTONIC), parts])
        seconds = builder.load(parts)
        return builder.add(builder.mul(seconds, ir.Constant(i64, 10**9)), builder.load(cgutils.gep(builder, parts, 1)))

    return types.int64(), codegen


@kept
@njit(nogil=True)
def time_launches(table, spent):
    """Run all launches of a table one by one; the nanoseconds of each are added to `spent`."""
    for row in range(len(table)):
        spent[row] -= nanoseconds()
        run_launches(table, row, row + 1)
        spent[row] += nanoseconds()
