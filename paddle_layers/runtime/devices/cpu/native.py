"""Calls of compiled bodies by address: one signature for all of them, one launch table for a whole plan."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types

from paddle_layers.kernels.primitives.compile_options import compiled, llvm_code
from paddle_layers.runtime.generate.cache import kept

from .atomics import LINE, add_one, exchange, load, wait_for

# One signature for all kernels: a pass is one compiled loop over a table, which calls bodies by address and needs no
# specialization per network.
BODY = types.void(
    types.int64, types.int64, types.CPointer(types.int64), types.CPointer(types.int64), types.CPointer(types.float64)
)
"""Signature of a body: first and last work item, array addresses, integers, floating-point values."""

COLUMNS = (
    *("address", "total", "chunks", "pointers", "ints", "floats"),
    *("length", "parts", "runs", "cells", "step", "width"),
)
"""Columns of a launch table (int64): the body's address, work items, pieces, addresses of its three argument tables;
then of fused launches, in the row of the first: their number, the parts of its items, the equal runs of the target of
which a part has several, the cells of the items of the others, and the number of parts and of cells per block. A
separate launch is a group of one, its parts are its items.
"""
ADDRESS, TOTAL, CHUNKS, POINTERS, INTS, FLOATS, LENGTH, PARTS, RUNS, CELLS, STEP, WIDTH = range(len(COLUMNS))
BY_CALLER = -1
"""Instead of pieces: the launch must run on the calling thread, since it is not machine code."""
MOST_CHUNKS = 63
"""Maximum number of pieces of a launch: one bit each."""


@llvm_code(types.void(*[types.int64] * 6))
def call_body(builder: Any, address: Any, first: Any, last: Any, pointers: Any, ints: Any, floats: Any) -> None:
    """Calls the body at an address."""
    i64, void = ir.IntType(64), ir.VoidType()
    function = ir.FunctionType(void, [i64] * 5)
    builder.call(builder.inttoptr(address, function.as_pointer()), [first, last, pointers, ints, floats])


@compiled
def call_row(table, row, first, last):
    """Calls the body of a row for the work items `first` to `last`."""
    call_body(table[row, ADDRESS], first, last, table[row, POINTERS], table[row, INTS], table[row, FLOATS])


@njit(nogil=True)
def run_parts(table, row, length, first, last):
    """Runs the parts `first` to `last` of the launch at `row`, by blocks with the `length - 1` launches after it."""
    if length == 1:
        call_row(table, row, first, last)
        return
    # Each block goes through all launches of the group before the next block begins, while it is in the L2 cache.
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


@compiled
def group_length(table, row, stop):
    """Number of fused launches from `row` on; 1 if the last of them is not to run."""
    return table[row, LENGTH] if row + table[row, LENGTH] <= stop else 1


@njit(nogil=True)
def run_whole(table, start, stop):
    """Runs launches, or fused groups, sequentially in this thread."""
    row = start
    while row < stop:
        length = group_length(table, row, stop)
        parts = table[row, PARTS if length > 1 else TOTAL]
        if parts > 0:
            run_parts(table, row, length, np.int64(0), parts)  # for a literal 0 numba compiles another specialization
        row += length


@njit(nogil=True)
def take_piece(place, chunks, own):
    """Claims a piece of a launch, starting at the thread's own one; -1 if no piece is left.

    The value at `place` has a bit for each claimed piece.
    """
    # Starting at its own piece, a thread finds in its cache what it wrote in the launch before; when it runs out of
    # pieces it takes those of threads that are late or were preempted.
    taken: Any = load(place)
    for step in range(chunks):
        piece = (own + step) % chunks
        while taken >> piece & 1 == 0:
            # A failed exchange has reloaded the bits, so only pieces that are still free are tried.
            before, taken = taken, exchange(place, taken, taken | 1 << piece)
            if before == taken:
                return piece
    return -1


@compiled
def count_size(start, stop):
    """Number of counters of `share_launches`: finished pieces, then the claimed pieces of each launch."""
    # The counter that all threads spin on has separate cache lines: claims would invalidate them otherwise.
    return LINE + stop - start


@compiled
def share_launches(table, start, stop, share, counts):
    """Runs pieces of the launches `start` to `stop` until none is left; other threads do the same.

    Each thread begins with its own share of a launch, the same as in the previous launch, for cache locality: `share`
    is its index, of how many. Threads never wait for a thread that has not begun or is not running, only for claimed
    pieces. Pieces depend on shapes only, so the number of threads never changes a bit. Launches that are not split run
    together, as one piece. At the address `counts` are `count_size(start, stop)` zeros.
    """
    finished, pieces, row = counts, 0, start
    while row < stop:
        first, length, chunks = row, group_length(table, row, stop), max(1, table[row, CHUNKS])
        row += length
        # One claim and one barrier for a run of small launches, which a single thread executes in order anyway.
        while chunks == 1 and row < stop and table[row, CHUNKS] <= 1:
            row += group_length(table, row, stop)
        parts, place = table[first, PARTS if length > 1 else TOTAL], finished + (LINE + first - start) * 8
        piece = take_piece(place, chunks, share[0] * chunks // share[1])
        while piece >= 0:
            if chunks == 1:
                run_whole(table, first, row)
            else:
                run_parts(table, first, length, parts * piece // chunks, parts * (piece + 1) // chunks)
            # Counted per piece, after its results are written, and never reset within a pass: the barrier below is a
            # comparison with the number of pieces so far, which a thread that joins late evaluates correctly, too.
            add_one(finished)
            piece = take_piece(place, chunks, piece)
        pieces += chunks
        # A barrier: the next launch reads what all pieces of this one have written.
        wait_for(finished, pieces)


@kept
@njit(nogil=True)
def run_backwards(table, start, stop):
    """As `run_launches`, sequentially with the pieces of each launch from the last to the first: for checks."""
    row = start
    while row < stop:
        length, chunks = group_length(table, row, stop), max(1, table[row, CHUNKS])
        parts = table[row, PARTS if length > 1 else TOTAL]
        for chunk in range(chunks - 1, -1, -1):
            first, last = parts * chunk // chunks, parts * (chunk + 1) // chunks
            if first < last:
                run_parts(table, row, length, first, last)
        row += length
