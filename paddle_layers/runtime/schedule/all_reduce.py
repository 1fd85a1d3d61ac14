"""All-reduce over processes that share a batch: values over all its rows, and gradients in buckets.

A bucket is a contiguous run of parameter gradients; they are in the order in which a backward pass completes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import ShapeError
from paddle_layers.define.functions.host_calls import Joined
from paddle_layers.runtime.graph.graph import Op
from paddle_layers.runtime.launches.arguments import Held, refs_of
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.launch import Launch

from .workspace import Workspace

if TYPE_CHECKING:
    from paddle_layers.runtime.memory.blocks import MemoryBlock
    from paddle_layers.runtime.memory.parameters import Parameter

AddUp = Callable[[NDArray[Any]], None]
"""Replaces an array by its sum over all processes (all-reduce)."""
Read = Callable[[Buffer], NDArray[Any]]
Write = Callable[[Buffer, NDArray[Any]], None]
# A sum over processes has a fixed cost per call, so small layers share one; large enough buckets still overlap with the
# rest of the backward pass.
MIN_BUCKET_BYTES = 2**20
"""Minimum bytes of a separate bucket: smaller runs are merged with their neighbors."""


@dataclass(frozen=True)
class Join:
    """Temporaries of an operation that a function of its layer reduces over processes."""

    op: Op
    joined: Joined
    training: bool
    targets: dict[str, Buffer]

    def run(self, read: Read, write: Write, add_up: AddUp) -> None:
        """Replaces the values of this process by those of all processes."""
        given: dict[str, Any] = {**self.op.attributes, "training": self.training, "add_up": add_up}
        given |= {name: read(buffer) for name, buffer in self.targets.items()}
        found = self.joined.call(**{name: given[name] for name in self.joined.args})
        if found is not None:
            for buffer, array in zip(self.targets.values(), found, strict=True):
                write(buffer, np.asarray(array))


def joins_of(workspace: Workspace) -> list[Join]:
    """The reductions of either pass. Raises `ShapeError` in a group."""
    found = []
    for op in workspace.graph.ops:
        for joined in op.layer.joined:
            tensors = workspace.scope(op).tensors
            if not op.attributes[joined.when] or not all(tensors.get(name) for name in joined.targets):
                continue
            # Processes may have different numbers of steps, and would wait for each other in different places.
            if op.steps is not None:
                raise ShapeError(
                    f"layer `{op.name}`: processes combine values of a whole batch; move the layer out of the group"
                )
            targets = {name: tensors[name][0].owner for name in joined.targets}
            buffers = {name: owner for name, owner in targets.items() if isinstance(owner, Buffer)}
            found.append(Join(op, joined, workspace.training, buffers))
    return found


def places_of(joins: Sequence[Join], launches: Sequence[Launch]) -> list[tuple[int, Join]]:
    """The reductions of a pass in order, each with the launch before which it is made."""
    places = []
    for join in joins:
        targets = {*join.targets.values()}
        # Directly after the last launch that writes a target.
        behind = [at + 1 for at, launch in enumerate(launches) if not targets.isdisjoint(launch.writes)]
        if behind:
            places.append((max(behind), join))
    return sorted(places, key=lambda placed: placed[0])


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


def gradient_parts(launches: Sequence[Launch], first: int, smallest: int = MIN_BUCKET_BYTES) -> list[GradientPart]:
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
