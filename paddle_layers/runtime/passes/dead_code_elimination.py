"""Dead-code elimination: drops launches whose results are not read, such as argmax positions of mean pooling."""

from __future__ import annotations

from collections.abc import Iterable

from paddle_layers.runtime.launches.arguments import Ref
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.launch import Launch

from . import runs


def eliminate_dead_code(passes: Iterable[list[Launch]], read: Iterable[Buffer]) -> None:
    """Shortens the backward and the forward pass, given in this order; `read` are buffers that are read outside."""
    if not runs("dead-code elimination"):
        return
    wanted = set(read)
    for launches in passes:
        # Backward pass first, and from the last launch on, so that one walk finds whole chains whose end is not read.
        for launch in reversed(launches.copy()):
            target = launch.args[0]  # parameters, their gradients and states outlive the pass
            passing = isinstance(target, Ref) and isinstance(target.owner, Buffer)
            if passing and wanted.isdisjoint(launch.writes):
                launches.remove(launch)
            else:
                wanted.update(launch.reads)
