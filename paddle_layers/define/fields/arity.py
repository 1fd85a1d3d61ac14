"""Numbers of inputs that a layer accepts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .tensors import Input


class Arity(NamedTuple):
    """The fewest inputs of a layer and the most; None: as many as one likes."""

    least: int
    most: int | None

    def allows(self, count: int) -> bool:
        """Whether a layer may have so many inputs."""
        return self.least <= count and not self.exceeded(count)

    def exceeded(self, count: int) -> bool:
        """Whether so many inputs are too many."""
        return self.most is not None and count > self.most

    def __str__(self) -> str:
        plural = "s" * (self.least != 1)
        if self.most is None:
            return f"at least {self.least} input{plural}"
        if self.least < self.most:
            return f"{self.least} to {self.most} inputs"
        return f"{self.least} input{plural}"


def arity_of(inputs: Iterable[Input]) -> Arity:
    """The arity of a layer with these inputs."""
    fields = list(inputs)
    least = sum(field.minimum if field.repeatable else not field.optional for field in fields)
    return Arity(least, None if any(field.repeatable for field in fields) else len(fields))
