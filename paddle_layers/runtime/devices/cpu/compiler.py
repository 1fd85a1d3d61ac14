"""Compilation of kernels on the CPU: from a kernel to the address of its compiled body."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from paddle_layers.runtime.devices.protocol import Progress
from paddle_layers.runtime.generate.authors import at_the_author
from paddle_layers.runtime.generate.cache import driver_path, is_compiled, load_driver
from paddle_layers.runtime.generate.drivers import Kernel, TunedCall

from .interpreter import interpreted_address, is_interpreted
from .pool import pool
from .processes import DriverText, compiling_beside
from .python_calls import python_address
from .texts import cpu_text, tuned_text


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

    The module with most kernels is slowest; equally named functions of it share most.
    """
    modules: dict[str, list[Driver]] = {}
    for driver in missing:
        modules.setdefault(driver.module, []).append(driver)
    ordered = modules.pop("", [])
    for _, drivers in sorted(modules.items(), key=lambda module: (len(module[1]), module[0])):
        alike = sorted(drivers, key=lambda driver: driver.function)
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
