"""Runs the cases of a target: in a process of its own, whose death still names the case that it died of."""

from __future__ import annotations

import contextlib
import faulthandler
import itertools
import multiprocessing
import os
import re
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from paddle_layers.config import ConfigWarning

from .minimising import minimised
from .target import Target

SECONDS = 2.0
"""Processor time of a case, beside what the target allows for its length."""

GROWTH, MEMORY = 2**28, 2**31
"""Bytes of memory that one case may take; and that the process may take beyond those it begins with."""

HANGING = 90.0
"""Seconds after which a case is taken to run for ever. They are seconds of the clock: the machine may be busy."""

SHRINKING = 20.0
"""Seconds for making one failing case smaller."""

WARMING = 20
"""Cases in the beginning that count for nothing: what is made once is made then."""

_PAUSE = 0.5


class Fault(NamedTuple):
    """A case that failed; cases with the same `kind` have most likely the same cause."""

    target: str
    seed: int
    kind: str
    story: str
    case: bytes


class Tally(NamedTuple):
    """What became of the cases of a target: one fault of each kind, and how many cases failed."""

    target: str
    cases: int
    seconds: float
    failures: int
    faults: list[Fault]


def case_of(target: Target, seed: int) -> bytes:
    """The case of a seed."""
    return target.make(Random(f"{target.name} {seed}"))


def judge(target: Target, case: bytes) -> tuple[str, str] | None:
    """Kind and story of the failure of a case; None when it was read or refused as documented."""
    memory, began = _peak(), time.process_time()
    try:
        target.check(case)
    except Exception as error:
        return _place(error), "".join(traceback.format_exception(error, limit=-6))
    except SystemExit as error:
        return "SystemExit", f"SystemExit: {error}"
    used = time.process_time() - began
    if used > SECONDS + target.second_per_byte * len(case):
        return "too slow", f"took {used:.1f} s for {len(case)} bytes"
    if (grown := _peak() - memory) > GROWTH:
        return "too much memory", f"took {grown >> 20} MiB for {len(case)} bytes"
    return None


def hunt(target: Target, seed: int, *, seconds: float, cases: float, note: Callable[[int], Any], found: Any) -> int:
    """Check cases from `seed` on, tell each number to `note` and each failure to `found`. Gives their number."""
    known: set[str] = set()
    end = time.monotonic() + seconds
    done = 0
    for number in itertools.count(seed):
        if done >= cases or time.monotonic() > end:
            break
        note(number)
        case = case_of(target, number)
        failure = judge(target, case)
        if failure is not None and failure[0].startswith("too "):
            failure = judge(target, case)  # the first time something may have been loaded
        if failure is not None:
            kind, story = failure
            if kind not in known:
                known.add(kind)
                case, story = _smaller(target, case, kind, story)
            found(Fault(target.name, number, kind, story, case))
        done += 1
    return done


def _smaller(target: Target, case: bytes, kind: str, story: str) -> tuple[bytes, str]:
    def fails(candidate: bytes) -> bool:
        failure = judge(target, candidate)
        return failure is not None and failure[0] == kind

    small = minimised(case, fails, time.monotonic() + SHRINKING)
    failure = judge(target, small)
    return (small, failure[1]) if failure is not None and failure[0] == kind else (case, story)


def _place(error: Exception) -> str:
    """The kind of an error, and the last line of the library, or of the fuzzer, that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if re.search(r"/(paddle_layers|fuzz)/(?!target\.py)", frame.filename)]
    where = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    return f"{type(error).__name__}{where}"


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# ---- the process


@contextlib.contextmanager
def opened(kind: type[Target]) -> Iterator[Target]:
    """The target with a folder of its own, in memory where that can be."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="fuzz", dir=shared if os.access(shared, os.W_OK) else None) as folder:
        yield kind(Path(folder))


def _work(
    kind: type[Target], seed: int, warming: int, seconds: float, cases: float, current: Any, pipe: Connection
) -> None:
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who started this process
    parent = os.getppid()
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", ConfigWarning)  # of a config that is sound and odd
    with opened(kind) as target:
        for number in range(warming):  # whatever is made once is made now
            current.value = seed
            with contextlib.suppress(Exception):
                target.check(case_of(target, seed + number))
        _limit_memory()
        pipe.send("ready")

        def note(number: int) -> None:
            current.value = number
            if os.getppid() != parent:
                os._exit(1)

        began = time.monotonic()
        done = hunt(target, seed, seconds=seconds, cases=cases, note=note, found=pipe.send)
        pipe.send((done, time.monotonic() - began))


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def _make(kind: type[Target], seed: int, pipe: Connection) -> None:
    with opened(kind) as target:
        pipe.send(case_of(target, seed))


def run(kind: type[Target], seed: int, *, seconds: float, cases: float) -> Tally:
    """Check cases of a target for so long, or so many. A case that kills the process is a failure as any other."""
    tally = Tally(kind.name, 0, 0.0, 0, [])
    first = seed
    while tally.cases < cases and tally.seconds < seconds:
        tally, dead = _sitting(kind, first, seconds - tally.seconds, cases - tally.cases, tally)
        if dead is None:
            break
        first = dead + 1
    return tally


def _sitting(kind: type[Target], seed: int, seconds: float, cases: float, so_far: Tally) -> tuple[Tally, int | None]:
    """One process; the tally, and the seed of the case that it died of."""
    context = multiprocessing.get_context("spawn")
    current = context.Value("q", seed, lock=False)
    pipe, other = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(kind, seed, WARMING, seconds, cases, current, other), daemon=True)
    process.start()
    other.close()
    began = changed = time.monotonic()
    ready, seen, faults, failures = False, seed, list(so_far.faults), so_far.failures
    while True:
        try:
            message = pipe.recv() if pipe.poll(_PAUSE) else None
        except EOFError:
            break
        if current.value != seen or not ready:
            seen, changed = current.value, time.monotonic()
        if message == "ready":
            ready, began = True, time.monotonic()
        elif isinstance(message, Fault):
            failures += 1
            changed = time.monotonic()
            if message.kind not in {fault.kind for fault in faults}:
                faults.append(message)
        elif message is not None:
            process.join()
            done, taken = message
            return Tally(kind.name, so_far.cases + done, so_far.seconds + taken, failures, faults), None
        elif time.monotonic() - changed > HANGING + SHRINKING:
            os.kill(process.pid or 0, signal.SIGABRT)  # which has the stack printed
    process.join()
    if (process.exitcode or 0) >= 0:
        raise RuntimeError(f"the fuzzer fails at case {current.value} of {kind.name}, see above")
    dead = current.value
    kind_of_death = f"the process ended with {process.exitcode}"
    faults.append(Fault(kind.name, dead, kind_of_death, kind_of_death, case_in_a_process(kind, dead)))
    done = so_far.cases + dead - seed + 1
    return Tally(kind.name, done, so_far.seconds + time.monotonic() - began, failures + 1, faults), dead


def case_in_a_process(kind: type[Target], seed: int) -> bytes:
    """The same as `case_of`, where nothing has happened before."""
    context = multiprocessing.get_context("spawn")
    pipe, other = context.Pipe(duplex=False)
    process = context.Process(target=_make, args=(kind, seed, other))
    process.start()
    other.close()
    try:
        case = pipe.recv()
    except EOFError:
        case = b""
    process.join()
    return bytes(case)
