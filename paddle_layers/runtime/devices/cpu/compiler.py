"""From a kernel to the address of its compiled body."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from paddle_layers.runtime.devices.protocol import Progress
from paddle_layers.runtime.generate.authors import at_the_author
from paddle_layers.runtime.generate.cache import driver_path, is_compiled, load_driver
from paddle_layers.runtime.generate.drivers import Kernel, TunedCall

from .interpreter import interpreted_address, is_interpreted
from .texts import cpu_text, tuned_text


class Driver(NamedTuple):
    """A driver's text, what it was made from, and where it lies."""

    code: Kernel | TunedCall
    path: Path
    text: str

    @property
    def name(self) -> str:
        """The name of the point function or of the tuned kernel."""
        return self.code.name

    @property
    def compiled(self) -> bool:
        """Whether a result is on the disk already."""
        return is_compiled(self.path)

    def address(self) -> int:
        """Import the driver, compile it if need be, give the address of its body.

        Raises `DefinitionError` for a point function, not the library's own, that cannot be compiled.
        """
        with at_the_author(self.code, self.text):
            return int(load_driver(self.path, self.text).body.address)


def cpu_driver(code: Kernel | TunedCall, dtype: str) -> Driver:
    """The CPU driver of a point function or of a tuned kernel."""
    text = tuned_text(code, dtype) if isinstance(code, TunedCall) else cpu_text(code, dtype)
    return Driver(code, driver_path("cpu", code.name, text), text)


def compile_all(drivers: Sequence[Driver], progress: Progress | None) -> list[int]:
    """Addresses of the drivers' bodies; drivers not yet on the disk are compiled, with progress."""
    unique = {str(driver.path): driver for driver in drivers}
    if is_interpreted():
        return [interpreted_address(driver.code, driver.text) for driver in drivers]
    missing = {path for path, driver in unique.items() if progress is not None and not driver.compiled}
    addresses: dict[str, int] = {}
    done = 0
    for path, driver in unique.items():
        if progress is not None and path in missing:
            progress(done, len(missing), driver.name)
        addresses[path] = driver.address()
        done += path in missing
    if progress is not None and missing:
        progress(done, len(missing), "")
    return [addresses[str(driver.path)] for driver in drivers]
