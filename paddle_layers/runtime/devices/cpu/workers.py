"""Worker threads, and the sharing of launches among them.

The calling thread posts the pass on a board in shared memory and begins at once. A worker that sees it joins, and
claims pieces as the caller does; the caller only waits for workers that have joined. So a worker that is slow to wake
up costs nothing, and passes of some microseconds are shared with workers that are still awake.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from paddle_layers.kernels.primitives.compile_options import compiled
from paddle_layers.runtime.generate.cache import kept

from .arrays import contiguous
from .atomics import I64, LINE, SPINS, add_one, exchange, let_others, load, nanoseconds, pause, store, wait_for
from .native import BY_CALLER, CHUNKS, COLUMNS, count_size, group_length, run_whole, share_launches

# Numba's OpenMP pool ends a region only when every thread has started, and waking one costs 30 to 60 us. With this pool
# a batch of one of LeNet took 67 instead of 93 us, of the MLP 33 instead of 46 us (2-core AMD EPYC).
AWAKE = 100_000
"""Nanoseconds for which a worker spins for the next pass before it sleeps: about the cost of waking it."""
CLOSED = -1
"""Instead of a pass: no pass is open."""
PASS, LIMIT = 32, 16
"""Bit fields of the value at `OPEN`: pass number, maximum number of threads, workers that have joined."""
# Each on separate cache lines: workers spin on `OPEN` while the others are written.
OPEN, CALLER, LEFT = 0, LINE, 2 * LINE
"""Indices on the board: the open pass, whether it has a caller, how many workers have left it."""
TABLE, START, STOP, COUNTS, NUMBER, LAST, ENDED = range(3 * LINE, 3 * LINE + 7)
"""Description of the pass for workers: see `share_launches`; its number; when the last one ended; 1 at shutdown."""
ASLEEP, MUTEX, CONDITION = 0, LINE, 2 * LINE
"""Indices in each worker's part of the board; the system's two objects take less than 128 bytes each."""
PART = 4 * LINE

# Mutexes of the system and not of Python: workers run without the interpreter lock and must not call Python.
_init_mutex = types.ExternalFunction("pthread_mutex_init", types.int32(types.int64, types.int64))
_init_condition = types.ExternalFunction("pthread_cond_init", types.int32(types.int64, types.int64))
_lock = types.ExternalFunction("pthread_mutex_lock", types.int32(types.int64))
_unlock = types.ExternalFunction("pthread_mutex_unlock", types.int32(types.int64))
_wait = types.ExternalFunction("pthread_cond_wait", types.int32(types.int64, types.int64))
_signal = types.ExternalFunction("pthread_cond_signal", types.int32(types.int64))


def board_size(workers: int) -> int:
    """Number of elements of a board."""
    return (workers + 1) * PART


@intrinsic
def table_at(typingctx: Any, address: Any, rows: Any) -> Any:
    """The table of launches at an address."""
    array = types.Array(types.int64, 2, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = builder.inttoptr(args[0], I64.as_pointer())
        return contiguous(context, builder, array, data, [args[1], ir.Constant(I64, len(COLUMNS))])

    return array(types.int64, types.int64), codegen


@compiled
def join_pass(board, own, last):
    """Joins the open pass, if it is not number `last`; returns the value at `OPEN`, or `CLOSED`."""
    # Number, limit and count of a pass are one value, so that a single exchange both checks that the pass is still the
    # same one and registers the worker; after that the caller cannot finish without it.
    now: Any = load(board + 8 * OPEN)
    while now >= 0:
        # A worker leaves a pass when no pieces are left; joining it again could only delay the caller.
        if now >> PASS == last or own >= threads_of(now):
            return CLOSED
        before, now = now, exchange(board + 8 * OPEN, now, now + 1)
        if before == now:
            return now
    return now


@compiled
def threads_of(opened):
    """Maximum number of threads, from the value at `OPEN`."""
    return opened >> LIMIT & (1 << PASS - LIMIT) - 1


@compiled
def sleep(board, own):
    """Sleeps until a caller needs this worker."""
    part = board + 8 * PART * own
    _lock(part + 8 * MUTEX)
    # Set before `ENDED` is checked: a wake-up at exit is lost only while this store is still buffered.
    store(part + 8 * ASLEEP, 1)
    if load(board + 8 * ENDED) != 0:
        store(part + 8 * ASLEEP, 0)
    # In a loop, because a condition variable may wake up spuriously.
    while load(part + 8 * ASLEEP) == 1:
        _wait(part + 8 * CONDITION, part + 8 * MUTEX)
    _unlock(part + 8 * MUTEX)


@kept
@njit(nogil=True)
def wake(board, workers):
    """Wakes sleeping workers, at most the first so many."""
    for worker in range(1, workers + 1):
        part = board + 8 * PART * worker
        # Checked without the lock, which would cost two atomic operations per worker and pass. A worker that falls
        # asleep right now is missed, but the pass does not wait for a worker that has not joined.
        if load(part + 8 * ASLEEP) == 1:
            _lock(part + 8 * MUTEX)
            store(part + 8 * ASLEEP, 0)
            _signal(part + 8 * CONDITION)
            _unlock(part + 8 * MUTEX)


@kept
@njit(nogil=True)
def work(board, own):
    """Main loop of worker number `own`, from 1 on."""
    part = board + 8 * PART * own
    _init_mutex(part + 8 * MUTEX, 0)
    _init_condition(part + 8 * CONDITION, 0)
    last, end, looks = np.int64(CLOSED), nanoseconds() + AWAKE, 0
    while load(board + 8 * ENDED) == 0:
        opened = join_pass(board, own, last)
        if opened >= 0:
            # Read after joining: the caller does not change the description before all that joined have left.
            start, stop, counts = load(board + 8 * START), load(board + 8 * STOP), load(board + 8 * COUNTS)
            table: Any = table_at(load(board + 8 * TABLE), stop)
            share_launches(table, start, stop, (own, threads_of(opened)), counts)
            # The last access to the table and the counters of the pass: the caller frees them afterward.
            add_one(board + 8 * LEFT)
            last, end = opened >> PASS, nanoseconds() + AWAKE
            looks = 0
        looks += 1
        if looks < SPINS:
            pause()
        elif nanoseconds() < end:
            let_others(0)  # to the caller, if they share a core
        else:
            sleep(board, own)
            # `SPINS`: it was woken, possibly on the core of the caller, and yields from the first check on.
            end, looks = nanoseconds() + AWAKE, SPINS


@compiled
def run_together(table, start, stop, threads, board):
    """Runs launches together with the workers that join, at most `threads` in all."""
    # New counters per pass: a worker that is late with the previous one has left it, but may not share its counters
    # with anyone.
    zeros = np.zeros(count_size(start, stop), np.int64)
    counts = np.int64(zeros.ctypes.data)
    # 30 bits, so that the value at `OPEN` is never negative, as `CLOSED` is.
    number = load(board + 8 * NUMBER) + 1 & 0x3FFFFFFF
    store(board + 8 * NUMBER, number)
    store(board + 8 * TABLE, table.ctypes.data)
    store(board + 8 * START, start)
    store(board + 8 * STOP, stop)
    store(board + 8 * COUNTS, counts)
    store(board + 8 * LEFT, 0)
    # Published last: the release store makes all fields above visible to whoever reads this value.
    store(board + 8 * OPEN, number << PASS | threads << LIMIT)
    share_launches(table, start, stop, (np.int64(0), threads), counts)
    now: Any = load(board + 8 * OPEN)
    # Closes the pass by an exchange, which returns the final number of workers: none can join between the reading of
    # the count and the closing.
    before = now + 1
    while before != now:
        before, now = now, exchange(board + 8 * OPEN, now, CLOSED)
    wait_for(board + 8 * LEFT, now & (1 << LIMIT) - 1)
    store(board + 8 * LAST, nanoseconds())
    zeros[0] = 0  # last use, after which numba frees it: workers that joined have read it until now


@compiled
def run_stretch(table, start, stop, threads, worth, board):
    """Runs launches of which none is `BY_CALLER`.

    Sleeping workers are woken if the launches are `worth` it, or if a pass has ended so recently that another one may
    follow as soon. A caller that finds another caller's pass on the board runs alone.
    """
    # Without a launch that is split there is nothing to share: the board is not touched.
    cut, row = False, start
    while row < stop and not cut:
        cut = table[row, CHUNKS] > 1
        row += group_length(table, row, stop)
    # The board holds one pass: a second calling thread computes alone instead of waiting for the first.
    if threads <= 1 or not cut or exchange(board + 8 * CALLER, 0, 1) != 0:
        run_whole(table, start, stop)
        return
    # The call of the system for each sleeping worker costs more than a short pass, unless several follow each other.
    if worth or nanoseconds() - load(board + 8 * LAST) < AWAKE:
        wake(board, threads - 1)
    run_together(table, start, stop, threads, board)
    store(board + 8 * CALLER, 0)


@kept
@njit(nogil=True)
def run_launches(table, start, stop, threads, worth, board):
    """Runs the launches `start` to `stop` of a table with the columns of `COLUMNS`, in order.

    Fused launches run block by block if all of them are to run.
    """
    row = start
    while row < stop:
        end = row
        while end < stop and table[end, CHUNKS] != BY_CALLER:
            end += 1
        run_stretch(table, row, end, threads, worth, board)
        run_whole(table, end, min(end + 1, stop))
        row = end + 1


@kept
@njit(nogil=True)
def time_launches(table, spent, threads, board):
    """Runs all launches of a table sequentially; the nanoseconds of each are added to `spent`."""
    for row in range(len(table)):
        spent[row] -= nanoseconds()
        run_launches(table, row, row + 1, threads, np.bool_(True), board)
        spent[row] += nanoseconds()
