"""Parameters that lie side by side and are updated alike, so that one launch updates them all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np


class Updated(Protocol):
    """A part of the arena, and how it is updated."""

    @property
    def name(self) -> str:
        """Of what errors and plans speak."""

    @property
    def settings(self) -> Any:
        """Those of the parameter, or None."""

    @property
    def offset(self) -> int:
        """Bytes from the start of the arena."""

    @property
    def size(self) -> int:
        """How many numbers."""


@dataclass(frozen=True)
class Range:
    """Neighbours in the arena with what lies between them: zeros, which an update leaves alone."""

    name: str
    settings: Any
    offset: int
    size: int


def ranges(parameters: Iterable[Updated], factors: Callable[[Updated], Hashable], dtype: str) -> list[Range]:
    """The parameters, given in the order of the arena, as few ranges: neighbours with equal factors are one."""
    found: list[Range] = []
    itemsize = np.dtype(dtype).itemsize
    for parameter in parameters:
        own = Range(parameter.name, parameter.settings, parameter.offset, parameter.size)
        if found and factors(found[-1]) == factors(own):
            before = found.pop()
            size = (own.offset - before.offset) // itemsize + own.size
            own = replace(before, name="parameters", size=size)
        found.append(own)
    return found
