"""Mutants are tried in a few processes; one that goes on for ever is stopped, and counts as killed."""

from __future__ import annotations

import contextlib
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, NamedTuple

from .checks import checks_on, first_problem
from .hand_written import failing_file, passing_files
from .planting import planted
from .sources import Mutant, choose, sources

LONGEST = 20.0
"""Seconds that a mutant may take besides ten times what its definitions take."""
ENDLESS = "time"
"""What kills a mutant that is stopped."""


class Choice(NamedTuple):
    """What is tried; every process makes the same mutants of it."""

    count: int
    seed: int = 0
    layer: str | None = None
    kind: str | None = None

    def mutants(self) -> list[Mutant]:
        """The mutants, the same ones every time."""
        return choose(sources(self.layer), self.count, self.seed, self.kind)


class Verdict(NamedTuple):
    """What became of a mutant."""

    check: str | None
    """The check that kills it; None where it survives."""
    message: str
    seconds: float


def run(choice: Choice, jobs: int) -> Iterator[tuple[int, Verdict]]:
    """Numbers of mutants with what became of them, as they are done. Those of one function go to one process."""
    rows: dict[Any, list[int]] = {}
    for number, mutant in enumerate(choice.mutants()):
        rows.setdefault(mutant.source.definitions[0].name, []).append(number)
    with ProcessPoolExecutor(jobs, initializer=_begin, initargs=(choice,)) as pool:
        try:
            for done in as_completed([pool.submit(_try_all, row) for row in rows.values()]):
                yield from done.result()
        finally:
            pool.shutdown(cancel_futures=True)  # where the caller is interrupted, or a check fails without a mutant


_MUTANTS: list[Mutant] = []


def _begin(choice: Choice) -> None:
    _MUTANTS[:] = choice.mutants()


def _try_all(numbers: list[int]) -> list[tuple[int, Verdict]]:
    return [(number, verdict_on(_MUTANTS[number])) for number in numbers]


def verdict_on(mutant: Mutant) -> Verdict:
    """Plant a mutant and run the checks until one fails."""
    begin = time.perf_counter()
    checks = checks_on(mutant.source)
    usual = time.perf_counter() - begin
    begin = time.perf_counter()
    found = _problem(mutant, usual, lambda: first_problem(checks)) or _hand_written(mutant)
    check, message = found or (None, "")
    return Verdict(check, message, time.perf_counter() - begin)


def _hand_written(mutant: Mutant) -> tuple[str, str] | None:
    """What the hand-written tests of its definitions find."""
    begin = time.perf_counter()
    files = passing_files(mutant.source)
    usual = time.perf_counter() - begin

    def failing() -> tuple[str, str] | None:
        file = failing_file(files)
        return None if file is None else ("tests", file)

    return _problem(mutant, usual, failing)


def _problem(mutant: Mutant, usual: float, search: Callable[[], tuple[str, str] | None]) -> tuple[str, str] | None:
    """What a search finds with the mutant planted; `usual` are the seconds that it takes without."""
    try:
        with _limited(LONGEST + 10 * usual), planted(mutant), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's, about the text of the mutant
            return search()
    except _TooLong:
        return ENDLESS, "does not end"


class _TooLong(BaseException):
    """Nothing that a check catches."""


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise `_TooLong` after so many seconds."""

    def stop(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
