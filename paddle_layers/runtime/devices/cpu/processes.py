"""Processes that compile drivers beside this one: in a process, numba compiles one function at a time.

They put their results into the cache, from the last driver to the first, while this process goes from the first to the
last and takes what is there. What they cannot compile, this process compiles, and says what is wrong.
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
"""Drivers for each process: to start one takes as long as to compile some of them."""


class Text(NamedTuple):
    """A driver to be compiled."""

    path: Path
    text: str


@contextlib.contextmanager
def compiling_beside(drivers: Sequence[Text]) -> Iterator[int]:
    """Within it, other processes compile the drivers, too; as many as there are other cores, and enough to do.

    Gives how many.
    """
    others = min(most_threads() - 1, len(drivers) // LEAST)
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for first in range(others):
            if (process := _start(drivers[::-1][first::others])) is not None:
                processes.append(process)
        yield len(processes)
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
        if drivers:
            list_again(driver.path for driver in drivers)


def _start(drivers: Sequence[Text]) -> subprocess.Popen[bytes] | None:
    """Start a process, which sees the modules that this one sees; None where there can be none.

    It reads the drivers from a file: a pipe takes 64 KiB, and would let this process wait until the other one reads.
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    quiet = subprocess.DEVNULL
    command = [sys.executable, "-P", "-c", f"from {__name__} import main; main()"]
    try:
        with tempfile.TemporaryFile() as texts:
            texts.write(json.dumps([(str(driver.path), driver.text) for driver in drivers]).encode())
            texts.seek(0)
            return subprocess.Popen(command, stdin=texts, stdout=quiet, stderr=quiet, env=environment)
    except OSError as error:
        log.info("kernels are compiled by one process: %s", error)
        return None


def main() -> None:
    """Compile what stands on the standard input."""
    for path, text in json.load(sys.stdin):
        if not is_compiled(Path(path)):
            with contextlib.suppress(Exception):  # the other process finds the same, and tells it
                load_driver(Path(path), text)
