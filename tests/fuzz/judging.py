"""Checks cases, one after the other, and makes those that fail smaller."""

from __future__ import annotations

import itertools
import re
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from .minimising import minimised
from .target import Target

SECONDS = 2.0
"""Processor time of a case, beside what the target allows for its length."""

GROWTH = 2**28
"""Bytes of memory that one case may take."""

SHRINKING = 20.0
"""Seconds for making one failing case smaller."""


class Fault(NamedTuple):
    """A case that failed; cases with the same `kind` have most likely the same cause."""

    target: str
    seed: int
    kind: str
    story: str
    case: bytes


def case_of(target: Target, seed: int) -> bytes:
    """The case of a seed, in every process the same."""
    return target.make(Random(f"{target.name} {seed}"))


def judge(target: Target, case: bytes) -> tuple[str, str] | None:
    """Kind and story of the failure of a case; None when it was read, or refused as documented."""
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


def hunt(
    target: Target,
    seed: int,
    *,
    seconds: float,
    cases: float,
    note: Callable[[int, float], Any],
    found: Callable[[Fault], Any],
) -> int:
    """Check cases from `seed` on, tell each failure to `found`. Gives how many they were.

    `note` is told each number before the case is made, and again with the seconds that it is allowed for its length.
    """
    known: set[str] = set()
    end = time.monotonic() + seconds
    for number in itertools.count(seed):
        if number - seed >= cases or time.monotonic() > end:
            break
        note(number, 0.0)
        case = case_of(target, number)
        note(number, target.second_per_byte * len(case))
        failure = judge(target, case)
        if failure is not None and failure[0] == "too slow":
            failure = judge(target, case)  # the first time something may have been loaded
        if failure is not None:
            kind, story = failure
            if kind not in known:
                known.add(kind)
                case, story = _smaller(target, case, kind, story)
            found(Fault(target.name, number, kind, story, case))
    return number - seed


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
    status = Path("/proc/self/status").read_text()  # what `getrusage` says begins with the peak of the parent process
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024
