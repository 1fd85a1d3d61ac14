"""Calling compiled bodies by address: one signature for all of them, a table of numbers for a whole plan."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from paddle_layers.kernels.primitives.compiling import compiled
from paddle_layers.runtime.generate.library import kept

from .atomics import LINE, add_one, exchange, load, wait_for

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


@compiled
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


@compiled
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
            run_parts(table, row, length, np.int64(0), parts)  # of a literal 0 numba would compile another form
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


@compiled
def count_size(start, stop):
    """How many numbers `share_launches` counts in: pieces that are finished, then those taken of each launch."""
    return LINE + stop - start


@compiled
def share_launches(table, start, stop, share, counts):
    """Run pieces of the launches `start` to `stop` until there are none left; other threads do the same.

    Each begins with a part of a launch that is its own, as that of the launch before was, for the sake of its cache:
    `share` is which one, of how many. Nobody waits for a thread that has not begun, or is not running, but for the
    pieces that it has taken. Pieces are cut by shape, so threads never change a bit. Launches that are not cut go
    together, as one piece. At the address `counts` are `count_size(start, stop)` zeros.
    """
    finished, pieces, row = counts, 0, start
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
