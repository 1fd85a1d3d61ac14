"""From a kernel to the address of its compiled body."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from paddle_layers.define.analysis import bare_subscripts
from paddle_layers.kernels.tuned import Tuned, tuned_digest

from .cache import driver_path, is_compiled, load_driver
from .drivers import Kernel, Spec, cpu_body, cpu_prelude, cpu_text
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


def cpu_driver(kernel: Kernel, dtype: str) -> Driver:
    """The CPU driver of a point function."""
    unsigned = not kernel.procedure and bare_subscripts(kernel.tree, kernel.indices)
    text = cpu_text(kernel, dtype, unsigned)
    return Driver(kernel.name, driver_path("cpu", kernel.name, text), text)


def tuned_driver(name: str, tuned: Tuned, args: Mapping[str, Spec], constants: Mapping[str, Any], dtype: str) -> Driver:
    """The CPU driver of a tuned kernel: it unpacks the arguments and calls the kernel."""
    call = tuned.function
    given = [repr(constants[n]) if n in constants else n for n in tuned.names]
    text = "\n".join(
        [
            f'"""{name} by {call.__module__}.{call.__qualname__}, {dtype}, cpu. Generated: do not edit."""',
            *cpu_prelude(dtype),
            f"from {call.__module__} import {call.__name__}",
            f"# the kernels' own text: {tuned_digest(call.__module__)}",
            *cpu_body(args, [f"{call.__name__}(lo_, hi_, {', '.join(given)})"]),
            "",
        ]
    )
    return Driver(name, driver_path("cpu", name, text), text)


Progress = Callable[[int, int, str], None]
"""Called as `progress(done, total, name)` while drivers are compiled."""


def compile_all(drivers: list[Driver], progress: Progress | None) -> dict[str, int]:
    """Addresses by path; drivers not yet on the disk are compiled, with progress."""
    unique = {str(driver.path): driver for driver in drivers}
    if is_interpreted():
        return {path: interpreted_address(driver.text) for path, driver in unique.items()}
    missing = [path for path, driver in unique.items() if not driver.compiled]
    addresses, done = {}, 0
    for path, driver in unique.items():
        if progress is not None and path in missing:
            progress(done, len(missing), driver.name)
        addresses[path] = driver.address()
        done += path in missing
    if progress is not None and missing:
        progress(done, len(missing), "")
    return addresses


def depth_of_loops(tree: ast.AST) -> int:
    """How many loops are nested at most: a guess at the work of an element."""
    deepest, stack = 0, [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        depth += isinstance(node, (ast.For, ast.While))
        deepest = max(deepest, depth)
        stack += [(child, depth) for child in ast.iter_child_nodes(node)]
    return deepest
