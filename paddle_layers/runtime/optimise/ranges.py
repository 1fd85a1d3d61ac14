"""Contiguous parameters with the same update, so that one launch updates them all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np


class Updated(Protocol):
    """A part of the arena, and its update."""

    @property
    def name(self) -> str:
        """Name in errors and plans."""

    @property
    def settings(self) -> Any:
        """Settings of the parameter, or None."""

    @property
    def offset(self) -> int:
        """Bytes from the start of the arena."""

    @property
    def size(self) -> int:
        """Number of elements."""


@dataclass(frozen=True)
class Range:
    """Adjacent parameters in the arena including the padding between them: zeros, which an update does not change."""

    name: str
    settings: Any
    offset: int
    size: int


def ranges(parameters: Iterable[Updated], factors: Callable[[Updated], Hashable], dtype: str) -> list[Range]:
    """The parameters, in the order of the arena, as few ranges: adjacent ones with equal factors are merged."""
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
