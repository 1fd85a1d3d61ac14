"""Atomic operations on shared memory, and spin waits."""

from __future__ import annotations

import os
import time
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils

from paddle_layers.kernels.primitives.compile_options import compiled, llvm_code

LINE = 16
"""Distance in elements between values that different threads write: two cache lines, which are fetched together."""
# Measured with LeNet's batch of one beside tests on both cores: without yields the 75th percentile is 208 us instead of
# 95 us, since a worker is often woken on the caller's core and would spin there instead of the caller
# (docs/development/performance.md, 2-core AMD EPYC).
SPINS = 200
"""Spin iterations (5 us) before a waiting thread yields its core."""
YIELDS = 4000
"""Yields (some milliseconds) before it sleeps between checks."""
NAP = 50
"""Microseconds of such a sleep."""
I64, HAS_PAUSE = ir.IntType(64), llvmlite.binding.get_default_triple().startswith("x86_64")


@llvm_code(types.int64(types.int64))
def load(builder: Any, address: Any) -> Any:
    """Atomic load with acquire ordering."""
    # Acquire: what another thread wrote before its release store or increment is visible after this load. A plain
    # load could also be hoisted out of a waiting loop.
    return builder.load_atomic(builder.inttoptr(address, I64.as_pointer()), "acquire", 8)


@llvm_code(types.void(types.int64, types.int64))
def store(builder: Any, address: Any, number: Any) -> None:
    """Atomic store with release ordering."""
    # Release: all writes before it, such as the fields of a pass, are visible to a thread that loads this value.
    builder.store_atomic(number, builder.inttoptr(address, I64.as_pointer()), "release", 8)


@llvm_code(types.void(types.int64))
def add_one(builder: Any, address: Any) -> None:
    """Atomic increment."""
    place = builder.inttoptr(address, I64.as_pointer())
    # Release only: it publishes the results of a piece. The thread that counts needs nothing from the others here;
    # whoever waits for the count acquires it by `load`.
    builder.atomic_rmw("add", place, ir.Constant(I64, 1), "release")


@llvm_code(types.int64(types.int64, types.int64, types.int64))
def exchange(builder: Any, address: Any, expected: Any, new: Any) -> Any:
    """Atomic compare-and-swap; returns the previous value."""
    place = builder.inttoptr(address, I64.as_pointer())
    # Acquire and release on success, since a claim both takes over earlier results and is seen by later claims. A
    # failed exchange returns a value that the caller continues with, as if it had loaded it.
    return builder.extract_value(builder.cmpxchg(place, expected, new, "acq_rel", "acquire"), 0)


@llvm_code(types.void())
def pause(builder: Any) -> None:
    """Spin-wait hint for the CPU."""
    # Without the hint, leaving the loop costs a pipeline flush for the mispredicted memory order, and a sibling
    # hyper-thread gets fewer execution slots.
    if HAS_PAUSE:
        kind = ir.FunctionType(ir.VoidType(), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])


@llvm_code(types.void(types.int64))
def let_others(builder: Any, microseconds: Any) -> None:
    """Yields the core to other threads, or sleeps for the given time."""
    word = ir.IntType(32)
    # Python has the function where the C library has it; on other systems there are no workers that could wait.
    if hasattr(os, "sched_yield"):
        with builder.if_else(builder.icmp_signed("==", microseconds, ir.Constant(I64, 0))) as (at_once, asleep):
            with at_once:
                kind = ir.FunctionType(word, [])
                builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
            with asleep:
                kind = ir.FunctionType(word, [word])
                sleep = cgutils.get_or_insert_function(builder.module, kind, "usleep")
                builder.call(sleep, [builder.trunc(microseconds, word)])


@compiled
def wait_for(address, count):
    """Waits until the value at an address is at least `count`."""
    # Spin, then yield, then sleep: most waits are for a piece of some microseconds, but the thread that runs it may
    # have lost its core for a whole time slice, during which spinning would only slow it down.
    looks = 0
    while load(address) < count:
        looks += 1
        if looks < SPINS:
            pause()
        elif looks < YIELDS:
            let_others(0)
        else:
            let_others(NAP)


@llvm_code(types.int64())
def nanoseconds(builder: Any) -> Any:
    """The monotonic clock, as an `int64`."""
    i64 = ir.IntType(64)
    kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32), i64.as_pointer()])
    # Not the wall clock, which may be set back while a worker counts down. The call stays in user space (vDSO).
    clock = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
    parts = cgutils.alloca_once(builder, i64, size=2)
    builder.call(clock, [ir.Constant(ir.IntType(32), time.CLOCK_MONOTONIC), parts])
    seconds = builder.load(parts)
    return builder.add(builder.mul(seconds, ir.Constant(i64, 10**9)), builder.load(cgutils.gep(builder, parts, 1)))
