"""From a kernel to the address of its compiled body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from paddle_layers.define.analysis import bare_subscripts
from paddle_layers.kernels.digests import tuned_digest

from .cache import driver_path, is_compiled, load_driver
from .drivers import Kernel, TunedCall, cpu_body, cpu_prelude, cpu_text
from .interpreter import interpreted_address, is_interpreted


class Driver(NamedTuple):
    """A driver's text and where it lies."""

    name: str
    path: Path
    text: str

    @property
    def compiled(self) -> bool:
        """Whether a result is on the disk already."""
        return is_compiled(self.path)

    def address(self) -> int:
        """Import the driver, compile it if need be, give the address of its body."""
        return int(load_driver(self.path, self.text).body.address)


def cpu_driver(code: Kernel | TunedCall, dtype: str) -> Driver:
    """The CPU driver of a point function or of a tuned kernel."""
    text = _tuned_text(code, dtype) if isinstance(code, TunedCall) else _point_text(code, dtype)
    return Driver(code.name, driver_path("cpu", code.name, text), text)


def _point_text(kernel: Kernel, dtype: str) -> str:
    unsigned = not kernel.procedure and bare_subscripts(kernel.tree, kernel.indices)
    return cpu_text(kernel, dtype, unsigned)


def _tuned_text(code: TunedCall, dtype: str) -> str:
    """It unpacks the arguments and calls the kernel."""
    call, constants = code.tuned.function, code.constants
    given = [repr(constants[n]) if n in constants else n for n in code.tuned.names]
    return "\n".join(
        [
            f'"""{code.name} by {call.__module__}.{call.__qualname__}, {dtype}, cpu. Generated: do not edit."""',
            *cpu_prelude(dtype),
            f"from {call.__module__} import {call.__name__}",
            f"# the kernels' own text: {tuned_digest(call.__module__)}",
            *cpu_body(code.args, [f"{call.__name__}(lo_, hi_, {', '.join(given)})"]),
            "",
        ]
    )


Progress = Callable[[int, int, str], None]
"""Called as `progress(done, total, name)` while drivers are compiled."""


def compile_all(drivers: Sequence[Driver], progress: Progress | None) -> list[int]:
    """Addresses of the drivers' bodies; drivers not yet on the disk are compiled, with progress."""
    unique = {str(driver.path): driver for driver in drivers}
    if is_interpreted():
        return [interpreted_address(driver.text) for driver in drivers]
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
