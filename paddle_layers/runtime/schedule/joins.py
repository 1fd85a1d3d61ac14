"""All-reduce points: where processes that share a batch reduce values over all its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import ShapeError
from paddle_layers.define.functions.joining import Joined
from paddle_layers.runtime.graph.graph import Op
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.launch import Launch

from .workspace import Workspace

AddUp = Callable[[NDArray[Any]], None]
"""Replaces an array by its sum over all processes (all-reduce)."""
Read = Callable[[Buffer], NDArray[Any]]
Write = Callable[[Buffer, NDArray[Any]], None]


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
