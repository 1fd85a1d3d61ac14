"""What a target has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from paddle_layers.kernels.tuned import point_functions_only
from paddle_layers.runtime.devices.cpu.interpreter import interpreted


class Target:
    """One reader. An exception that leaves `check` is a fault: what is documented is caught there."""

    name = ""
    second_per_byte = 1e-5
    """What a case may take beside its two seconds; a reader takes linear time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """An empty folder for the files of a case."""

    def make(self, rng: Random) -> bytes:
        """A case, from the random numbers alone."""
        raise NotImplementedError

    def check(self, case: bytes) -> None:
        """Read it. Returns when it was read or refused as documented."""
        raise NotImplementedError


class Wrong(AssertionError):
    """What was read is not what was written, or an error is not what it has to be."""


def demand(condition: object, what: str) -> None:
    """Raise `Wrong` unless the condition holds."""
    if not condition:
        raise Wrong(what)


@contextmanager
def as_python() -> Iterator[None]:
    """Networks run as Python: an index out of range is an error, where a kernel reads what lies there."""
    with point_functions_only(), interpreted():
        yield
