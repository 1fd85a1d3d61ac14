"""The parts in order of their value, the time that each may take, and the page."""

from __future__ import annotations

import time
import traceback
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from .children import run_part
from .measurements import write_measurements
from .page import write_page
from .parts import Outcome, Setup, load, message

FIRST = "environment"
"""The part that is always run; the others only when it finds a device."""
DEVICE = "device"
"""Its item that runs a first net."""
OTHERS = ("conformance", "larger", "compiling", "digits", "benchmark", "memory")
PARTS = {name: f"{__package__}.{name}" for name in (FIRST, *OTHERS)}
"""Modules with a `PART`."""
LEAST = 2.0
"""Seconds below which a part is not begun."""


def run(setup: Setup, names: Collection[str], seconds: float, output: Path, command: str) -> bool:
    """Run parts, all if none is named; write page and measurements after each; return whether nothing failed."""
    end = time.monotonic() + seconds
    outcomes: dict[str, Outcome] = {}
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.with_suffix(".log").open("w", encoding="utf-8") as log:
        for name in [name for name in PARTS if name == FIRST or not names or name in names]:
            reason = _why_not(name, outcomes, end)
            outcomes[name] = Outcome(absent=reason) if reason else _run(name, setup, end, log)
            print(f"{name}: {outcomes[name]} ({outcomes[name].seconds:.0f} s)", flush=True)
            now = datetime.now(UTC)
            write_page(output, outcomes, command, now)
            write_measurements(output.with_suffix(".csv"), outcomes, command, now)
    return not any(outcome.failed for outcome in outcomes.values())


def _run(name: str, setup: Setup, end: float, log: TextIO) -> Outcome:
    try:
        return run_part(PARTS[name], load(PARTS[name]), setup, end, log)
    except Exception as error:  # one part that is broken takes no other with it
        traceback.print_exc(file=log)
        return Outcome(failures={name: message(error)})


def _why_not(name: str, outcomes: dict[str, Outcome], end: float) -> str:
    if name == FIRST:
        return ""
    if not outcomes[FIRST].passed(DEVICE):
        return "there is no device to run it on"
    return "no time left" if end - time.monotonic() < LEAST else ""
