"""Parallel compilation in subprocesses: within a process, numba compiles one function at a time.

They write their results to the cache, from the last driver to the first, while this process proceeds from the first to
the last and uses cached results. Drivers that they cannot compile are compiled by this process, which reports the
errors.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from paddle_layers.runtime.generate.cache import is_compiled, list_again, load_driver

from .threads import most_threads

log = logging.getLogger("paddle_layers")
LEAST = 12
"""Minimum number of drivers per process: starting one takes as long as compiling some of them."""


class DriverText(NamedTuple):
    """A driver to be compiled."""

    path: Path
    text: str


@contextlib.contextmanager
def compiling_beside(drivers: Sequence[DriverText]) -> Iterator[int]:
    """Context manager: subprocesses compile the drivers, too; as many as there are other cores, and enough work.

    Returns their number.
    """
    others = min(most_threads() - 1, len(drivers) // LEAST)
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for first in range(others):
            # From the last driver on, interleaved: this process starts at the first, so that they meet in the middle
            # and hardly any driver is compiled twice.
            if (process := _start(drivers[::-1][first::others])) is not None:
                processes.append(process)
        yield len(processes)
    finally:
        for process in processes:
            # Nothing is missing any more when this is reached, or this process was interrupted: whatever they still
            # compile is of no use.
            process.kill()
        for process in processes:
            process.wait()
        # A killed process may have replaced a cached file without recording its checksum, and the next run would
        # consider the file damaged.
        if drivers:
            list_again(driver.path for driver in drivers)


def _start(drivers: Sequence[DriverText]) -> subprocess.Popen[bytes] | None:
    """Starts a process with the same module search path; `None` if that is impossible.

    It reads the drivers from a file: a pipe holds 64 KiB, and would block this process until the other one reads.
    """
    # `-P` and this path: the same modules as here, even if the current directory has files with their names. A new
    # interpreter instead of a fork, which would copy locks of numba and of other threads.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    quiet = subprocess.DEVNULL
    command = [sys.executable, "-P", "-c", f"from {__name__} import main; main()"]
    try:
        with tempfile.TemporaryFile() as texts:
            texts.write(json.dumps([(str(driver.path), driver.text) for driver in drivers]).encode())
            texts.seek(0)
            return subprocess.Popen(command, stdin=texts, stdout=quiet, stderr=quiet, env=environment)
    except OSError as error:
        log.info("kernels are compiled in a single process: %s", error)
        return None


def main() -> None:
    """Compiles the drivers listed on the standard input."""
    for path, text in json.load(sys.stdin):
        if not is_compiled(Path(path)):
            with contextlib.suppress(Exception):  # the other process finds the same error and reports it
                load_driver(Path(path), text)
