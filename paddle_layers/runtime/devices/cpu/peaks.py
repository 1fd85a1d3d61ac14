"""Peak performance of this machine, measured: multiply-adds in registers, and memory bandwidth."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import cfunc, float32, types
from numba.core import cgutils
from numpy.typing import NDArray

from paddle_layers.kernels.primitives.compile_options import llvm_code

from .arrays import argument
from .native import ADDRESS, BODY, CHUNKS, COLUMNS, INTS, LENGTH, MOST_CHUNKS, POINTERS, TOTAL
from .pool import pool

LANES = 16 if llvmlite.binding.get_host_cpu_features().get("avx512f") else 8
"""float32 lanes of the widest register."""
CHAINS = 12
"""Independent multiply-adds: more than the latency of a core hides, and all in registers."""
ROUNDS = 1 << 18
NUMBERS = 1 << 24
"""Elements of each array that is read or written: together they exceed all caches but the largest."""
SECONDS = 0.4
"""Duration of each of the two measurements."""


class Peaks(NamedTuple):
    """Peak rates of all threads together."""

    operations: float
    """float32 operations per second; a multiply-add counts as two."""
    bandwidth: float
    """Bytes per second, read from two arrays and written to a third one."""


def measure_peaks(threads: int) -> Peaks:
    """Takes a second. The best of many runs counts: noise only makes runs slower."""
    place = np.full(LANES * threads, 0.5, np.float32)
    operations = 2 * LANES * CHAINS * ROUNDS * threads
    x, y, result = (np.full(NUMBERS, value, np.float32) for value in (1.0, 2.0, 0.0))
    nbytes = x.nbytes + y.nbytes + result.nbytes
    return Peaks(
        operations / _best(_multiply_adds, threads, threads, [place]),
        nbytes / _best(_triad, NUMBERS, threads, [x, y, result]),
    )


def _best(body: Any, items: int, threads: int, arrays: list[NDArray[Any]]) -> float:
    """Seconds of the fastest run."""
    pointers = np.array([array.ctypes.data for array in arrays], np.int64)
    sizes = np.array([array.size for array in arrays], np.int64)
    table = np.zeros((1, len(COLUMNS)), np.int64)
    table[0, [ADDRESS, TOTAL, CHUNKS, LENGTH]] = body.address, items, min(threads, MOST_CHUNKS), 1
    table[0, [POINTERS, INTS]] = pointers.ctypes.data, sizes.ctypes.data
    pool().run(table, 0, len(table), worth=True)  # wakes the threads
    best, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        begin = time.perf_counter()
        pool().run(table, 0, len(table), worth=True)
        best = min(best, time.perf_counter() - begin)
    return best


@llvm_code(types.void(types.int64, types.int64))
def multiply_adds(builder: Any, rounds: Any, place: Any) -> None:
    """So many rounds of `CHAINS` vector multiply-adds on the data at an address."""
    vector = ir.VectorType(ir.FloatType(), LANES)
    address = builder.inttoptr(place, vector.as_pointer())
    factor = builder.load(address, align=4)
    # Memory cells only by form: LLVM promotes them to registers, one per independent chain.
    chains = [cgutils.alloca_once_value(builder, factor) for _ in range(CHAINS)]
    kind = ir.FunctionType(vector, [vector] * 3)
    fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{LANES}f32")
    with cgutils.for_range(builder, rounds):
        for chain in chains:
            builder.store(builder.call(fma, [builder.load(chain), factor, factor]), chain)
    # All chains have to reach memory, or LLVM removes them as dead code.
    total = builder.load(chains[0])
    for chain in chains[1:]:
        total = builder.fadd(total, builder.load(chain))
    builder.store(total, address, align=4)


@cfunc(BODY, error_model="numpy")  # not cached: compiles in a tenth of a second, and this file is not a driver
def _multiply_adds(first, last, pointers, _ints, _floats):
    for thread in range(first, last):
        multiply_adds(ROUNDS, pointers[0] + thread * LANES * 4)


@cfunc(BODY, error_model="numpy")
def _triad(first, last, pointers, ints, _floats):
    x: Any = argument(pointers, 0, ints, 0, 1, 0, float32)[first:last]
    y = argument(pointers, 1, ints, 1, 1, 0, float32)[first:last]
    result = argument(pointers, 2, ints, 2, 1, 0, float32)[first:last]
    for i in range(last - first):
        result[i] = x[i] + float32(3.0) * y[i]
