"""Compilation of kernels on the CPU: from a kernel to the address of its compiled body.

Within a process, numba compiles one function at a time, so subprocesses compile, too. They write their results to the
cache, from the last driver to the first, while this process proceeds from the first to the last and uses cached
results. Drivers that they cannot compile are compiled by this process, which reports the errors.
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

from paddle_layers.runtime.devices import Progress
from paddle_layers.runtime.generate.authors import at_the_author
from paddle_layers.runtime.generate.cache import driver_path, is_compiled, list_again, load_driver
from paddle_layers.runtime.generate.drivers import Kernel, TunedCall

from .interpreter import interpreted_address, is_interpreted
from .pool import most_threads, pool
from .python_calls import python_address
from .texts import cpu_text, tuned_text

log = logging.getLogger("paddle_layers")
MIN_DRIVERS = 12
"""Minimum number of drivers per process: starting one takes as long as compiling some of them."""


class Driver(NamedTuple):
    """A driver's source, its kernel, and its path."""

    code: Kernel | TunedCall
    path: Path
    text: str
    dtype: str

    @property
    def name(self) -> str:
        """The name of the point function or of the tuned kernel."""
        return self.code.name

    @property
    def module(self) -> str:
        """Module of a tuned kernel; empty for a point function."""
        return str(self.code.tuned.function.__module__) if isinstance(self.code, TunedCall) else ""

    @property
    def function(self) -> str:
        """The function of a tuned kernel; empty for a point function."""
        return str(self.code.tuned.function.__name__) if isinstance(self.code, TunedCall) else ""

    @property
    def compiled(self) -> bool:
        """Whether a compiled result is in the cache, or none is needed."""
        return (isinstance(self.code, Kernel) and self.code.python is not None) or is_compiled(self.path)

    def address(self) -> int:
        """Imports the driver, compiles it if necessary, and returns the address of its body.

        Raises `DefinitionError` for a point function of a plugin that cannot be compiled.
        """
        if isinstance(self.code, Kernel) and self.code.python is not None:
            return python_address(self.code, self.dtype)
        with at_the_author(self.code, self.text):
            return int(load_driver(self.path, self.text).body.address)


def cpu_driver(code: Kernel | TunedCall, dtype: str) -> Driver:
    """The CPU driver of a point function or of a tuned kernel."""
    text = tuned_text(code, dtype) if isinstance(code, TunedCall) else cpu_text(code, dtype)
    return Driver(code, driver_path("cpu", code.name, text), text, dtype)


def compile_all(drivers: Sequence[Driver], progress: Progress | None) -> list[int]:
    """Addresses of the drivers' bodies; drivers that are not in the cache are compiled on all cores, with progress.

    Compiled drivers are kept: `KeyboardInterrupt` reports their number.
    """
    # Paths are digests of the source: equal kernels of different launches are compiled once.
    unique = {str(driver.path): driver for driver in drivers}
    if is_interpreted():
        return [interpreted_address(driver.code, driver.text, driver.dtype) for driver in drivers]
    missing = _in_order([driver for driver in unique.values() if not driver.compiled])
    addresses: dict[str, int] = {}
    with _kept(missing), compiling_beside([DriverText(driver.path, driver.text) for driver in missing]) as others:
        # The loop over launches takes some seconds to compile. Only while other processes are busy with the drivers: in
        # a single process it would not be any sooner than at the first launch.
        if others:
            pool().compile()  # while they compile, too
        for driver in missing:
            if progress is not None and not driver.compiled:
                progress(_done(missing), len(missing), driver.name)
            addresses[str(driver.path)] = driver.address()
        if progress is not None and missing:
            progress(len(missing), len(missing), "")
    # Cached drivers last: loading them must not delay the compilation of missing ones.
    for path, driver in unique.items():
        if path not in addresses:
            addresses[path] = driver.address()
    return [addresses[str(driver.path)] for driver in drivers]


def _in_order(missing: Sequence[Driver]) -> list[Driver]:
    """Compilation order: the slowest at both ends, where a process begins each; drivers with shared functions adjacent.

    The package with most kernels is slowest; equally named functions of a module share most.
    """
    packages: dict[str, list[Driver]] = {}
    for driver in missing:
        packages.setdefault(driver.module.rpartition(".")[0], []).append(driver)
    ordered = packages.pop("", [])
    for _, drivers in sorted(packages.items(), key=lambda package: (len(package[1]), package[0])):
        alike = sorted(drivers, key=lambda driver: (driver.module, driver.function))
        half = len(alike) // 2
        ordered = [*alike[:half], *ordered, *alike[half:]]
    return ordered


def _done(missing: Sequence[Driver]) -> int:
    return sum(driver.compiled for driver in missing)


@contextlib.contextmanager
def _kept(missing: Sequence[Driver]) -> Iterator[None]:
    """Context manager: Ctrl-C reports what has been compiled."""
    try:
        yield
    except KeyboardInterrupt:
        done, total = _done(missing), len(missing)
        raise KeyboardInterrupt(
            f"compiled and cached {done} of {total} kernels; the next run compiles the other {total - done}"
        ) from None


class DriverText(NamedTuple):
    """A driver to be compiled."""

    path: Path
    text: str


@contextlib.contextmanager
def compiling_beside(drivers: Sequence[DriverText]) -> Iterator[int]:
    """Context manager: subprocesses compile the drivers, too; as many as there are other cores, and enough work.

    Returns their number.
    """
    others = min(most_threads() - 1, len(drivers) // MIN_DRIVERS)
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for first in range(others):
            # From the last driver on, interleaved: this process starts at the first, so that they meet in the middle
            # and hardly any driver is compiled twice.
            if (process := _start_process(drivers[::-1][first::others])) is not None:
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


def _start_process(drivers: Sequence[DriverText]) -> subprocess.Popen[bytes] | None:
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
