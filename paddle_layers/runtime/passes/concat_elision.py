"""Concat elision: inputs of a `concat` are written directly into its output, without a copy.

A part has to be contiguous, so that only applies to axes with a single element before them: for channels if a plan is
for one row.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from paddle_layers.runtime.generate.drivers import Kernel
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.arguments import Ref
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.launch import Launch

from . import runs
from .cache_blocked_fusion import DEVICES


def elide_concat(passes: Sequence[list[Launch]], filled: Iterable[Buffer], device: str) -> list[Buffer]:
    """Shortens the forward pass, the first one; returns the buffers that are parts of others (`Buffer.same_as`).

    Those that are `filled` outside are copied: they would keep the whole output alive.
    """
    if device not in DEVICES or not runs("concat elision"):
        return []
    writers: dict[Buffer, list[int]] = defaultdict(list)
    alone = set(filled)
    for at, launch in enumerate(launch for launches in passes for launch in launches):
        for buffer in launch.writes:
            writers[buffer.root].append(at)
        # Each step of a loop addresses its rows only, which are at other offsets in the whole.
        if launch.loop is not None:
            alone.update(buffer.root for buffer in (*launch.reads, *launch.writes))
    copies = {at: copied for at, launch in enumerate(passes[0]) if (copied := _copied(launch)) is not None}
    parts: list[Buffer] = []
    left_out = []
    for at, (whole, part, begin) in copies.items():
        known = part is whole or part.same_as is not None or part.dtype != whole.dtype
        if known or not alone.isdisjoint((part, whole)):
            continue
        # Another write to the part, or a write to the whole that is not one of these copies, would now change both.
        if max(writers[part], default=at) < at and all(place in copies for place in writers[whole]):
            part.same_as, part.begin = whole, begin
            parts.append(part)
            left_out.append(at)
    passes[0][:] = [launch for at, launch in enumerate(passes[0]) if at not in left_out]
    return parts


def _copied(launch: Launch) -> tuple[Buffer, Buffer, int] | None:
    """For a launch that copies to a contiguous part of its target: the target, the source, and the offset."""
    code = launch.code
    if not isinstance(code, Kernel) or code.along is None or code.accumulate or code.factor or code.scan:
        return None
    args = dict(zip(code.args, launch.args, strict=True))
    name = code.program.copies(code.indices)
    target, source, begin = launch.args[0], args.get(name or ""), args["begin_"]
    if not isinstance(target, Ref) or not isinstance(source, Ref) or not isinstance(begin, Extent):
        return None
    whole, part, axis = target.owner, source.owner, code.indices.index(code.along)
    if not isinstance(whole, Buffer) or not isinstance(part, Buffer) or _numbers(target.shape[:axis]) != 1:
        return None
    piece = part.extent.capacity == _numbers(source.shape)
    return (whole, part, begin.extra * _numbers(target.shape[axis + 1 :])) if piece else None


def _numbers(shape: Sequence[Extent]) -> int:
    return math.prod(size.capacity for size in shape)
