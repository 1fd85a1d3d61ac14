"""Runs the cases of a target in a process of its own, whose death still names the case that it died of."""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import resource
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from paddle_layers.config import ConfigWarning

from .judging import SHRINKING, Fault, case_of, hunt
from .target import Target

MEMORY = 2**31
"""Bytes that a process may take beyond those it begins with."""

HANGING = 90.0
"""Seconds after which a case is taken to run for ever, beside twice what the target allows for its length.

They are those of the clock, the machine may be busy, and a case that took too long is judged twice.
"""

WARMING = 20
"""Cases in the beginning that count for nothing: what is made once is made then."""

_PAUSE, _NONE = 0.5, -1


class Tally(NamedTuple):
    """What became of the cases of a target: one fault of each kind, and how many cases failed."""

    target: str
    cases: int
    seconds: float
    failures: int
    faults: list[Fault]


def run(kind: type[Target], seed: int, *, seconds: float, cases: float) -> Tally:
    """Check cases of a target for so long, or so many. A case that kills the process is a failure as any other."""
    faults: dict[str, Fault] = {}
    done, taken, failures = 0, 0.0, 0
    while done < cases and taken < seconds:
        sitting = _Sitting(kind, seed + done, seconds - taken, cases - done)
        sitting.watch()
        for fault in sitting.faults:
            faults.setdefault(fault.kind, fault)
        done, taken, failures = done + sitting.done, taken + sitting.taken, failures + len(sitting.faults)
        if not sitting.died:
            break
    return Tally(kind.name, done, taken, failures, list(faults.values()))


@contextlib.contextmanager
def opened(kind: type[Target]) -> Iterator[Target]:
    """The target with a folder of its own, in memory where that can be."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="fuzz", dir=shared if os.access(shared, os.W_OK) else None) as folder:
        yield kind(Path(folder))


class _Sitting:
    """A process, seen from outside."""

    def __init__(self, kind: type[Target], seed: int, seconds: float, cases: float) -> None:
        self.kind, self.seed = kind, seed
        self.faults: list[Fault] = []
        self.done, self.taken = 0, 0.0
        self.ended = self.died = False
        context = multiprocessing.get_context("spawn")
        self.current = context.Value("q", _NONE, lock=False)
        self.allowed = context.Value("d", 0.0, lock=False)
        """The number of the case that is being checked."""
        self.pipe, other = context.Pipe(duplex=False)
        arguments = (kind, seed, WARMING, seconds, cases, self.current, self.allowed, other)
        self.process = context.Process(target=_work, args=arguments, daemon=True)
        self.process.start()
        other.close()

    def watch(self) -> None:
        """Take what the process tells, until it has ended, by itself or because a case takes for ever."""
        began = changed = time.monotonic()
        seen = _NONE
        with contextlib.suppress(EOFError):
            while not self.ended:
                message = self.pipe.recv() if self.pipe.poll(_PAUSE) else None
                if message is not None or self.current.value != seen or seen == _NONE:
                    seen, changed = self.current.value, time.monotonic()
                if isinstance(message, Fault):
                    self.faults.append(message)
                elif message is not None:
                    self.ended, (self.done, self.taken) = True, message
                elif time.monotonic() - changed > HANGING + SHRINKING + 2 * self.allowed.value:
                    os.kill(self.process.pid or 0, signal.SIGABRT)  # which has the stack printed
        self.process.join()
        if not self.ended:
            self._note_death(time.monotonic() - began)

    def _note_death(self, taken: float) -> None:
        status, seed = self.process.exitcode or 0, self.current.value
        if status >= 0:
            raise RuntimeError(f"the fuzzer fails at case {seed} of {self.kind.name}, see above")
        story = f"the process ended with {status}"
        self.faults.append(Fault(self.kind.name, seed, story, story, case_in_a_process(self.kind, seed)))
        self.done, self.taken, self.died = seed - self.seed + 1, taken, True


def _work(
    kind: type[Target],
    seed: int,
    warming: int,
    seconds: float,
    cases: float,
    current: Any,
    allowed: Any,
    pipe: Connection,
) -> None:
    """What the process does."""
    faulthandler.enable()
    os.environ["RUST_BACKTRACE"] = "0"  # tokenizers panics often, which is no failure and needs no stack
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who started this process
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", ConfigWarning)  # of a config that is sound and odd
    parent = os.getppid()

    def note(number: int, seconds: float) -> None:
        current.value, allowed.value = number, seconds
        if os.getppid() != parent:
            os._exit(1)

    with opened(kind) as target:
        for number in range(seed, seed + warming):
            note(number, 0.0)
            with contextlib.suppress(Exception):
                case = case_of(target, number)
                note(number, target.second_per_byte * len(case))
                target.check(case)
        _limit_memory()
        began = time.monotonic()
        done = hunt(target, seed, seconds=seconds, cases=cases, note=note, found=pipe.send)
        pipe.send((done, time.monotonic() - began))


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def case_in_a_process(kind: type[Target], seed: int) -> bytes:
    """The same as `case_of`, where nothing has happened before."""
    context = multiprocessing.get_context("spawn")
    pipe, other = context.Pipe(duplex=False)
    process = context.Process(target=_make, args=(kind, seed, other))
    process.start()
    other.close()
    with contextlib.suppress(EOFError):
        return bytes(pipe.recv())
    return b""


def _make(kind: type[Target], seed: int, pipe: Connection) -> None:
    with opened(kind) as target:
        pipe.send(case_of(target, seed))
