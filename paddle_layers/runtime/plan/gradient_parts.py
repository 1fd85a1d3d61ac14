"""Gradient buckets: contiguous runs of parameter gradients, in the order in which a backward pass completes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.launches.arguments import Held, refs_of

if TYPE_CHECKING:
    from paddle_layers.runtime.launches.launch import Launch
    from paddle_layers.runtime.memory.blocks import MemoryBlock
    from paddle_layers.runtime.memory.parameters import Parameter

# A sum over processes has a fixed cost per call, so small layers share one; large enough buckets still overlap with the
# rest of the backward pass.
PART = 2**20
"""Minimum bytes of a separate bucket: smaller runs are merged with their neighbors."""


class GradientPart(NamedTuple):
    """Contiguous gradients that no launch from `behind` on changes."""

    behind: int
    block: MemoryBlock
    offset: int
    size: int
    dtype: str

    @property
    def numbers(self) -> NDArray[Any]:
        """The gradients: a view on the CPU, otherwise a copy."""
        return self.block.read(self.offset, self.size, self.dtype)

    def write(self, numbers: NDArray[Any]) -> None:
        """Replaces the gradients."""
        self.block.write(self.offset, numbers, self.dtype)

    @property
    def address(self) -> int:
        """Their address on the device."""
        return self.block.address + self.offset

    @property
    def nbytes(self) -> int:
        """Their size in bytes."""
        return self.size * np.dtype(self.dtype).itemsize


def gradient_parts(launches: Sequence[Launch], first: int, smallest: int = PART) -> list[GradientPart]:
    """Outputs of the launches from `first` on, in buckets of at least so many bytes, in order of completion.

    Sparse gradients are not included.
    """
    done: dict[Parameter, int] = {}
    for at, launch in enumerate(launches[first:], first + 1):
        for ref in (ref for argument in launch.args for ref in refs_of(argument)):
            if isinstance(ref.owner, Held) and ref.owner.part == "gradient":
                # The last launch counts: a shared parameter has several contributions.
                done[ref.owner.parameter] = at
    parts: list[GradientPart] = []
    run: list[Parameter] = []
    for parameter in sorted(done, key=lambda one: one.offset, reverse=True):  # the last layers come first
        if run and (_bytes(run) >= smallest or parameter.offset + _padded(parameter) != run[0].offset):
            parts.append(_part(run, done))
            run = []
        run.insert(0, parameter)
    return sorted([*parts, *([_part(run, done)] if run else [])], key=lambda part: part.behind)


def _padded(parameter: Parameter) -> int:
    """Offset of the next gradient in bytes."""
    return -(-parameter.size * np.dtype(parameter.dtype).itemsize // 64) * 64


def _bytes(run: Sequence[Parameter]) -> int:
    return run[-1].offset + _padded(run[-1]) - run[0].offset


def _part(run: Sequence[Parameter], done: dict[Parameter, int]) -> GradientPart:
    begin, last = run[0], run[-1]
    # Padding between parameters is included, so that a bucket is one contiguous array.
    count = (last.offset - begin.offset) // np.dtype(last.dtype).itemsize + last.size
    behind = max(done[one] for one in run)
    return GradientPart(behind, begin.blocks["gradient"], begin.offset, count, begin.dtype)
