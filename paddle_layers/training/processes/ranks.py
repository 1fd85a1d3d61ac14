"""Data-parallel training: several processes train one network, each with a part of every batch; MPI all-reduce."""

from __future__ import annotations

import atexit
import hashlib
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.errors import first_line
from paddle_layers.define.machine import usable_cores
from paddle_layers.runtime.devices.cpu.pool import limit_threads, most_threads
from paddle_layers.runtime.optimise.joined_rows import JoinedRows, merged_rows
from paddle_layers.runtime.plan.metrics import LossSum

from ..problems import TrainingError
from .gradient_allreduce import MpiSums, SharedGradients, SharedMemory, shared_gradients
from .watchdog import RankWatch

if TYPE_CHECKING:
    from paddle_layers.runtime import Net
    from paddle_layers.runtime.memory.parameters import Parameter
    from paddle_layers.runtime.schedule.all_reduce import GradientPart

T = TypeVar("T")

LAUNCHED = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "PALS_SIZE")
"""Variables in which Open MPI, MPICH and those made of it (Intel's too), MVAPICH and Cray say how many there are.

Processes that Slurm starts by PMIx have none of them; its own count is there without them as well, in a script.
"""
PATIENCE = 600.0
"""Default timeout in seconds for waiting on other processes."""
# A ring all-reduce sends every element twice (reduce-scatter and all-gather), a gather once.
WHOLE = 2
"""Times the bytes of a table that its sum over all processes moves; gathered rows that are more are summed so."""
BEHIND_THE_FIRST = 3.0
"""Seconds that the other processes leave to the first one to say what is wrong, which is often the same."""


class SingleProcess:
    """A single-process training without communication."""

    number, count = 0, 1

    @property
    def first(self) -> bool:
        """Whether this process writes files and speaks."""
        return self.number == 0

    @contextmanager
    def together(self) -> Iterator[None]:
        """A context in which an error of one process ends all of them."""
        yield

    def in_turn(self, make: Callable[[], T]) -> T:
        """The result of `make`, called in the first process before the others, which use its compiled files."""
        return make()

    def sums(self, own: Mapping[str, LossSum]) -> dict[str, LossSum]:
        """Costs of the whole batch from those of its parts."""
        return dict(own)

    def counted(self, net: Net) -> list[tuple[str, str, list[float]]]:
        """The statistics of all processes."""
        return net.statistics_state()

    def join_counts(self, net: Net) -> None:
        """Let the statistics of a net be those of all processes."""

    def any_of(self, reason: str) -> str:
        """The reason of the first process that has one."""
        return reason

    def of_first(self, number: float) -> float:
        """The number that the first process has."""
        return number

    def add_up(self, numbers: NDArray[Any]) -> None:
        """Replace numbers by their sums over all processes."""

    gradient_memory: SharedMemory | None = None
    """Allocator of gradient memory, if it is not the device."""

    on_machine = 0
    """The number of this process among those of its machine."""

    def share(self, net: Net) -> str:  # noqa: ARG002  other ranks share the net's gradients; one alone has none to share
        """Get ready to sum the gradients of this net; returns what the user should know of how."""
        return ""

    def start_sum(self, part: GradientPart) -> None:
        """Begin to replace a part of the gradients by the sum over all processes."""

    def wait(self) -> None:
        """Wait until all sums that were begun are there."""

    def join_rows(self, net: Net) -> None:
        """Give each parameter with a gradient by rows that of all processes."""

    def level_states(self, net: Net) -> None:
        """Give running states, which each process moves by its own rows, their mean."""

    def take_first(self, net: Net) -> None:
        """Give all parameters and states the values that they have in the first process."""

    def check_equal(self, net: Net) -> None:
        """Raise `TrainingError` unless all processes have the same weights."""


class Ranks(SingleProcess):
    """One of several processes."""

    def __init__(self, mpi: Any, patience: float) -> None:
        self._mpi, self._comm = mpi, mpi.COMM_WORLD
        self.number, self.count = self._comm.Get_rank(), self._comm.Get_size()
        self._sums: MpiSums | SharedGradients | None = None
        self._joined: JoinedRows | None = None
        self.moved = 0
        """Bytes that this process has handed over to be summed or gathered."""
        self._watch = RankWatch(mpi, patience)
        machine = self._comm.Split_type(mpi.COMM_TYPE_SHARED)
        # Processes that share cores would otherwise each start a thread per core.
        limit_threads(min(most_threads(), _cores_of_one(machine)))
        self.on_machine = machine.Get_rank()
        # All on one machine, and Linux: memory files are shared without a path that could remain after a crash.
        if machine.Get_size() == self.count and hasattr(os, "memfd_create"):
            self.gradient_memory = SharedMemory()

    @contextmanager
    def together(self) -> Iterator[None]:
        """As `SingleProcess.together`. The others say whose error it was, and the job ends when this process exits."""
        self._watch.start()
        try:
            yield
        except BaseException as error:  # Ctrl-C as well: whatever ends one process ends the job
            # Errors often occur in all processes at once; the message of the first one is enough.
            if self._watch.heard(0 if self.first else BEHIND_THE_FIRST):
                time.sleep(BEHIND_THE_FIRST)  # the other one ends the job
            else:
                self._watch.report(first_line(error))
            # At exit and not here, so that callers can still handle and print the exception. `Abort` ends processes
            # that wait in a call of MPI, which exceptions cannot interrupt.
            atexit.register(self._comm.Abort, 1)
            if not self.first:
                error = TrainingError(f"process {self.number} of {self.count}: {error or type(error).__name__}")
            raise error from None
        self._watch.end()

    def in_turn(self, make: Callable[[], T]) -> T:
        """As `SingleProcess.in_turn`."""
        if not self.first:
            self._comm.Barrier()
        made = make()
        if self.first:
            # The first barrier releases the others once the first process is done; the second keeps all together.
            self._comm.Barrier()
        self._comm.Barrier()
        return made

    def sums(self, own: Mapping[str, LossSum]) -> dict[str, LossSum]:
        """As `SingleProcess.sums`."""
        numbers = self._sum([number for one in own.values() for number in (one.total, one.divisor)])
        found = zip(own.items(), numbers[::2], numbers[1::2], strict=True)
        return {name: LossSum(one.weight, total, divisor) for (name, one), total, divisor in found}

    def counted(self, net: Net) -> list[tuple[str, str, list[float]]]:
        """As `SingleProcess.counted`."""
        own = net.statistics_state()
        numbers = iter(self._sum([number for _, _, sums in own for number in sums]))
        return [(layer, name, [next(numbers) for _ in sums]) for layer, name, sums in own]

    def join_counts(self, net: Net) -> None:
        """As `SingleProcess.join_counts`."""
        net.load_statistics_state(self.counted(net))

    def any_of(self, reason: str) -> str:
        """As `SingleProcess.any_of`."""
        asked = np.array([bool(reason)], np.uint8)  # mpi4py's `allreduce` of objects would hold up the watching thread
        with self._watch.waiting():
            self._comm.Allreduce(self._mpi.IN_PLACE, asked, op=self._mpi.MAX)
            reasons = self._comm.allgather(reason) if asked[0] else []
        return next(filter(None, reasons), "")

    def of_first(self, number: float) -> float:
        """As `SingleProcess.of_first`."""
        with self._watch.waiting():
            return float(self._comm.bcast(number))

    def share(self, net: Net) -> str:
        """As `SingleProcess.share`."""
        if self.gradient_memory is not None:
            with self._watch.waiting():
                self._sums = shared_gradients(self._comm, net.arena.gradients)
        if self._sums is None:
            self._sums = MpiSums(self._mpi, net.target)
        return self._sums.note

    def start_sum(self, part: GradientPart) -> None:
        """As `SingleProcess.start_sum`."""
        assert self._sums is not None, "`share` comes first"
        self._sums.start_sum(part)
        self.moved += part.nbytes

    def wait(self) -> None:
        """As `SingleProcess.wait`."""
        assert self._sums is not None, "`share` comes first"
        with self._watch.waiting():
            self._sums.wait()

    def join_rows(self, net: Net) -> None:
        """As `SingleProcess.join_rows`. Rows are added up in the order of the processes, whichever comes first."""
        tables = [parameter for parameter in net.arena.trained if parameter.by_rows]
        own = [parameter.gradient_rows for parameter in tables]
        lengths = np.array([0 if rows is None else len(rows[0]) for rows in own], np.int64)
        counts = self._gathered(lengths, [len(tables)] * self.count).reshape(self.count, -1) if tables else lengths
        for parameter, rows, each in zip(tables, own, counts.T, strict=True):
            if rows is None:  # it is read without one, other rows in each process
                parameter.catch_up()
            else:
                if self._joined is None:
                    self._joined = JoinedRows(net.target, net.dtype)
                self._joined.put(parameter, *self._join(parameter, *rows, each.tolist()))

    def _join(
        self, parameter: Parameter, ids: NDArray[np.int64], rows: NDArray[Any], counts: list[int]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Ids and rows of all processes, gathered, or summed as the whole table where that moves fewer bytes."""
        table = parameter.size * rows.itemsize
        if sum(counts) * (ids.itemsize + table // parameter.shape[0]) <= WHOLE * table:
            return merged_rows(self._gathered(ids, counts), self._gathered(rows, counts), counts)
        # Which rows are used is summed separately: a gradient may be zero by chance, and such a row is still updated.
        whole, used = np.zeros(parameter.shape, rows.dtype), np.zeros(parameter.shape[0], np.uint8)
        whole[ids], used[ids] = rows, 1
        self.add_up(whole)
        self.add_up(used, self._mpi.MAX)
        found = np.flatnonzero(used)
        return found, whole[found]

    def add_up(self, numbers: NDArray[Any], op: Any = None) -> None:
        """As `SingleProcess.add_up`."""
        with self._watch.waiting():
            self._comm.Allreduce(self._mpi.IN_PLACE, numbers, op=op or self._mpi.SUM)
        self.moved += numbers.nbytes

    def _gathered(self, own: NDArray[Any], counts: Sequence[int]) -> NDArray[Any]:
        """The rows of all processes, each of which has so many, in the order of the processes."""
        found = np.empty((sum(counts), *own.shape[1:]), own.dtype)
        width = math.prod(own.shape[1:])
        with self._watch.waiting():
            self._comm.Allgatherv(own, [found, [count * width for count in counts]])
        self.moved += own.nbytes
        return found

    def level_states(self, net: Net) -> None:
        """As `SingleProcess.level_states`."""
        for state in net.plan("train").moving_states:
            # Float64, as the mean of equal values must be that value.
            numbers = np.array(state.value, np.float64)
            self.add_up(numbers)
            state.value = numbers / self.count

    def take_first(self, net: Net) -> None:
        """As `SingleProcess.take_first`."""
        for one in net.arena.by_name.values():
            numbers = np.array(one.value)
            with self._watch.waiting():
                self._comm.Bcast(numbers)
            one.value = numbers

    def check_equal(self, net: Net) -> None:
        """As `SingleProcess.check_equal`: they part where a callback of one process changes them, for example."""
        # A digest: comparing the weights themselves would send all of them.
        own = hashlib.blake2b(net.arena.values.read().tobytes()).digest()
        with self._watch.waiting():
            found = self._comm.allgather(own)
        if len({*found}) > 1:
            raise TrainingError("the weights differ between processes: some processes changed theirs separately")

    def _sum(self, numbers: Sequence[float]) -> list[float]:
        array = np.array(numbers, np.float64)
        self.add_up(array)
        return [float(number) for number in array]


SINGLE_PROCESS = SingleProcess()


def join(patience: float = PATIENCE) -> SingleProcess:
    """The place of this process among those that were started with it. Raises `TrainingError` without their MPI."""
    names = (*LAUNCHED, "SLURM_STEP_NUM_TASKS") if "PMIX_RANK" in os.environ else LAUNCHED
    # Environment variables first: importing mpi4py initializes MPI, which trainings in a single process do without.
    said = next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdecimal()), 1)
    if said < 2:
        return SINGLE_PROCESS
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise TrainingError(
            f"training with {said} processes requires mpi4py: pip install 'paddle-layers[mpi]' ({error})"
        ) from None
    if MPI.COMM_WORLD.Get_size() != said:
        raise TrainingError(
            f"{said} processes were started, but mpi4py sees {MPI.COMM_WORLD.Get_size()}: it uses another MPI library "
            f"({MPI.Get_library_version().split(',')[0].strip()}) than the program that started them"
        )
    return Ranks(MPI, patience)


def _cores_of_one(machine: Any) -> int:
    """Cores for a process: its own, or its share of those that it has in common with others of the machine."""
    own = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return max(1, usable_cores() // int(machine.allgather(own).count(own)))
