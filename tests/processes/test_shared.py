"""Gradients of processes of one machine, which each adds up a share of. Here they are arrays, one behind the other."""

import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from paddle_layers.runtime.memory.blocks import Flat
from paddle_layers.runtime.schedule.all_reduce import GradientPart
from paddle_layers.training.processes.gradient_allreduce import (
    CHUNK,
    SharedGradients,
    SharedMemory,
    shared_gradients,
)

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no files in memory")


class One:
    """MPI as one process sees it, when no other is done before it waits."""

    def __init__(self, number, places=()):
        self.number, self.places = number, places

    def Get_rank(self):  # noqa: N802  as MPI writes it
        return self.number

    def Ibarrier(self):  # noqa: N802  as MPI writes it
        return SimpleNamespace(Test=lambda: False, Wait=lambda: None)

    def Barrier(self):  # noqa: N802  as MPI writes it
        pass

    def allgather(self, own):
        return [own, *self.places] if isinstance(own, tuple) else [own] * (1 + len(self.places))


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("size", [1, 33, 3 * CHUNK + 7])
def test_shares_of_all_processes_are_the_sum(count, size):
    """In the order of the processes; what lies around the parts stays."""
    rng = np.random.default_rng(3)
    arenas = [rng.normal(size=size + 200).astype(np.float32) * 10.0 ** (4 * number) for number in range(count)]
    before = [arena.copy() for arena in arenas]
    shared = [SharedGradients(One(number), arenas) for number in range(count)]
    parts = [slice(10, 10 + size), slice(100 + size, 170 + size)]
    for one, arena in zip(shared, arenas, strict=True):
        for part in parts:
            one.start_sum(GradientPart(0, None, 4 * part.start, len(arena[part]), "float32"))
    for one in shared:
        one.wait()
    for part in parts:
        total = before[0][part].copy()
        for other in before[1:]:
            total += other[part]
        for arena in arenas:
            np.testing.assert_array_equal(arena[part], total)
    for arena, own in zip(arenas, before, strict=True):
        for part in parts:
            own[part] = arena[part] = 0
        np.testing.assert_array_equal(arena, own)


@pytest.mark.skipif(sys.platform != "linux", reason="opens files of /proc")
def test_memory_is_that_of_another():
    own, other = (Flat(SharedMemory(), 1000, "float64") for _ in range(2))
    own.write(np.ones(1))
    other.write(np.arange(1000))
    handle = other.block.handle()
    shared = shared_gradients(One(0, [handle]), own)
    shared.start_sum(GradientPart(0, own.block, 0, 64, "float64"))
    shared.wait()
    np.testing.assert_array_equal(other.read()[:32], 1 + np.arange(32))  # this process's share
    np.testing.assert_array_equal(other.read()[32:], np.arange(32, 1000))
    assert shared_gradients(One(0, [None]), own) is None, "a process that may not have such memory"
    assert shared_gradients(One(0, [handle._replace(file=2**30)]), own) is None, "of another container, for example"
    assert shared_gradients(One(0, [handle._replace(mark=(0, 0))]), own) is None, "of a process with the same number"
