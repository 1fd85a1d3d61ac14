"""Calling compiled bodies by address: one signature for all of them, one loop that runs a whole plan."""

from __future__ import annotations

import os
import time
from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import njit, prange, types
from numba.core import cgutils
from numba.extending import intrinsic

from paddle_layers.runtime.generate.library import kept

from .pool import started_pool

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
BY_CALLER = -1
"""In place of pieces: the launch is for the thread that calls, as no machine code is."""
MOST_CHUNKS = 63
"""Pieces of a launch at most: a bit each."""
LINE = 16
"""Numbers between those that several threads write: two lines of a cache, which are fetched together."""
SPINS = 200
"""Looks at a number, 5 us, before a waiting thread lets others have its core, should they want it."""
YIELDS = 4000
"""Looks, some milliseconds, before it sleeps between them."""
NAP = 50
"""Microseconds of such a sleep."""
I64, HAS_PAUSE = ir.IntType(64), llvmlite.binding.get_default_triple().startswith("x86_64")


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


@intrinsic
def load(typingctx: Any, address: Any) -> Any:
    """The number at an address; what was written before it was is seen behind this."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(builder.inttoptr(args[0], I64.as_pointer()), "acquire", 8)

    return types.int64(types.int64), codegen


@intrinsic
def add_one(typingctx: Any, address: Any) -> Any:
    """Count the number at an address up."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], I64.as_pointer())
        builder.atomic_rmw("add", place, ir.Constant(I64, 1), "release")
        return context.get_dummy_value()

    return types.void(types.int64), codegen


@intrinsic
def exchange(typingctx: Any, address: Any, expected: Any, new: Any) -> Any:
    """Write a new number where the expected one is; the number that was there."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], I64.as_pointer())
        return builder.extract_value(builder.cmpxchg(place, args[1], args[2], "acq_rel", "acquire"), 0)

    return types.int64(types.int64, types.int64, types.int64), codegen


@intrinsic
def _pause(typingctx: Any) -> Any:
    """Tell the core that it waits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if HAS_PAUSE:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def _let_others(typingctx: Any, microseconds: Any) -> Any:
    """Let other threads have the core: at once, or for so long as well."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(32)
        if hasattr(os, "sched_yield"):
            with builder.if_else(builder.icmp_signed("==", args[0], ir.Constant(I64, 0))) as (at_once, asleep):
                with at_once:
                    kind = ir.FunctionType(word, [])
                    builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
                with asleep:
                    kind = ir.FunctionType(word, [word])
                    sleep = cgutils.get_or_insert_function(builder.module, kind, "usleep")
                    builder.call(sleep, [builder.trunc(args[0], word)])
        return context.get_dummy_value()

    return types.void(types.int64), codegen


@njit(nogil=True)
def wait_for(address, count):
    """Wait until the number at an address is `count` at least."""
    looks = 0
    while load(address) < count:
        looks += 1
        if looks < SPINS:
            _pause()
        elif looks < YIELDS:
            _let_others(0)
        else:
            _let_others(NAP)


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


@njit(nogil=True)
def run_whole(table, start, stop):
    """Run launches, or groups, one after the other in this thread."""
    row = start
    while row < stop:
        length = group_length(table, row, stop)
        parts = table[row, PARTS if length > 1 else TOTAL]
        if parts > 0:
            run_parts(table, row, length, 0, parts)
        row += length


@njit(nogil=True)
def take_piece(place, chunks, own):
    """A piece of a launch that no thread has taken yet, from the own one on; -1 where there is none.

    The number at `place` has a bit for each that is taken.
    """
    taken: Any = load(place)
    for step in range(chunks):
        piece = (own + step) % chunks
        while taken >> piece & 1 == 0:
            before, taken = taken, exchange(place, taken, taken | 1 << piece)
            if before == taken:
                return piece
    return -1


@njit(nogil=True)
def share_launches(table, start, stop, share, counts):
    """Run pieces of the launches `start` to `stop` until there are none left; other threads do the same.

    Each begins with a part of a launch that is its own, as that of the launch before was, for the sake of its cache:
    `share` is which one, of how many. Nobody waits for a thread that has not begun, or is not running, but for the
    pieces that it has taken. Pieces are cut by shape, so threads never change a bit. Launches that are not cut go
    together, as one piece.
    """
    finished, pieces, row = counts.ctypes.data, 0, start
    while row < stop:
        first, length, chunks = row, group_length(table, row, stop), max(1, table[row, CHUNKS])
        row += length
        while chunks == 1 and row < stop and table[row, CHUNKS] <= 1:
            row += group_length(table, row, stop)
        parts, place = table[first, PARTS if length > 1 else TOTAL], finished + (LINE + first - start) * 8
        piece = take_piece(place, chunks, share[0] * chunks // share[1])
        while piece >= 0:
            if chunks == 1:
                run_whole(table, first, row)
            else:
                run_parts(table, first, length, parts * piece // chunks, parts * (piece + 1) // chunks)
            add_one(finished)
            piece = take_piece(place, chunks, piece)
        pieces += chunks
        wait_for(finished, pieces)


@intrinsic
def pool_threads(typingctx: Any) -> Any:
    """`get_num_threads`, which numba compiles to an address, so that nothing that calls it can be kept."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        count = builder.call(cgutils.get_or_insert_function(builder.module, kind, "get_num_threads"), [])
        return builder.sext(count, ir.IntType(64))

    return types.int64(), codegen


@njit(parallel=True, nogil=True)  # kept as a part of `run_launches`; with a cache of its own numba mixes up the two
def run_together(table, start, stop, threads, counts):
    """Run launches by several threads of the pool, which is woken once for all of them."""
    for thread in prange(threads):
        share_launches(table, start, stop, (thread, threads), counts)


@njit(nogil=True)
def run_stretch(table, start, stop):
    """Run launches of which none is `BY_CALLER`; threads are woken from the first that is cut to the last one."""
    threads: Any = pool_threads()
    row, first, last = start, stop, stop
    while row < stop:
        end = row + group_length(table, row, stop)
        if threads > 1 and table[row, CHUNKS] > 1:
            first, last = min(first, row), end
        row = end
    run_whole(table, start, first)
    if first < last:
        run_together(table, first, last, threads, np.zeros(LINE + last - first, np.int64))
    run_whole(table, last, stop)


@kept
@njit(nogil=True)
def run_backwards(table, start, stop):
    """The same as `run_launches`, the pieces of each launch from the last to the first, one by one: for checks."""
    row = start
    while row < stop:
        length, chunks = group_length(table, row, stop), max(1, table[row, CHUNKS])
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
        end = row
        while end < stop and table[end, CHUNKS] != BY_CALLER:
            end += 1
        run_stretch(table, row, end)
        run_whole(table, end, min(end + 1, stop))
        row = end + 1


def compile_loop() -> None:
    """Compile `run_launches` now, or load it, rather than when the first launches are to run."""
    started_pool()
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
