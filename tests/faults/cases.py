"""What a case is: a function of a place. Its name says what happens, its docstring in one line what is expected."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple


@dataclass(frozen=True)
class Place:
    """Where a case works, and what was asked for."""

    folder: Path
    kills: int
    random: Random


Case = Callable[[Place], str | None]
"""Gives a remark for the table, or nothing. Raises `AssertionError` when the expectation does not hold."""


class NotTried(Exception):
    """The machine does not allow this case; the message says why."""


class Outcome(NamedTuple):
    """What became of a case."""

    name: str
    failed: bool
    text: str
    seconds: float


def run_case(case: Case, place: Place) -> Outcome:
    """Run a case; a failure is told with its place."""
    begin, failed = time.perf_counter(), False
    place.folder.mkdir(parents=True)
    try:
        remark = case(place)
        text = f"holds ({remark})" if remark else "holds"
    except NotTried as error:
        text = f"not tried: {error}"
    except Exception:  # whatever a case meets is its outcome
        text, failed = f"FAILED\n{traceback.format_exc(limit=-4)}", True
    return Outcome(name_of(case), failed, text, time.perf_counter() - begin)


def name_of(case: Case) -> str:
    """As it is written on the command line."""
    return case.__name__.replace("_", "-")


def expectation(case: Case) -> str:
    """What ought to happen."""
    return (case.__doc__ or "").partition("\n")[0]
