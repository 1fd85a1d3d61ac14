"""Elision of launches: dead code, copies and concatenations.

Dead-code elimination drops launches whose results are not read, such as argmax positions of mean pooling.

Copy elision removes launches that only copy; the copy and its source share memory if that is unobservable. That holds
for `flatten`, `reshape`, `dropout` in the test phase, the gradients of a sum: both are equal as long as both are read.

Concat elision writes inputs of a `concat` directly into its output, without a copy. A part has to be contiguous, so
that only applies to axes with a single element before them: for channels if a plan is for one row.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from paddle_layers.runtime.generate.drivers import Kernel
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.accesses import accesses, in_order
from paddle_layers.runtime.launches.arguments import Ref
from paddle_layers.runtime.launches.buffers import FOREVER, Buffer
from paddle_layers.runtime.launches.launch import Launch

from . import runs
from .cache_blocked_fusion import DEVICES

Uses = list[tuple[int, bool]]
"""Launches that use a buffer, and whether they write it."""


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


def elide_copies(passes: Sequence[list[Launch]], read: Iterable[Buffer], filled: Iterable[Buffer]) -> list[Buffer]:
    """Shortens the forward and the backward pass; returns the buffers that are the same as another (`Buffer.same_as`).

    `read` are buffers that are read outside of the launches. Those that are `filled` outside are copied: later launches
    may work in place on the copy, and never on them. Buffers used in loops are not changed.
    """
    if not runs("copy elision"):
        return []
    outside, everything = set(read), [launch for launches in passes for launch in launches]
    uses: dict[Buffer, Uses] = defaultdict(list)
    alone = set(filled)
    for at, launch in enumerate(everything):
        for access in accesses(launch):
            # Only buffers: a parameter may change between the passes while its copy must not.
            if isinstance(access.owner, Buffer):
                uses[access.owner].append((at, access.writes))
                alone |= {access.owner} if launch.loop is not None else set()
    # Read after the last launch: an overwritten source may not share memory with an output.
    for buffer in outside:
        uses[buffer].append((FOREVER, False))
    same: list[Buffer] = []
    for at, launch in enumerate(everything):
        pair = _whole_copy(launch)
        if pair is None or not alone.isdisjoint(pair):
            continue
        target, source = pair[0], pair[1].root
        # The copy has to be the first use of its target; an earlier write would now overwrite the source.
        if uses[target][0] == (at, True) and _unnoticed(at, uses[source], uses[target]):
            target.same_as = source
            # Later copies of the same source, or of this target, have to respect the uses of both.
            uses[source] = sorted(use for use in uses[source] + uses[target] if use[0] != at)
            same.append(target)
    for launches in passes:
        launches[:] = [launch for launch in launches if not _is_left_out(launch, same)]
    return same


def _whole_copy(launch: Launch) -> tuple[Buffer, Buffer] | None:
    """Target and source of a launch that only copies, both whole."""
    code = launch.code
    if not isinstance(code, Kernel) or not in_order(launch) or code.accumulate or code.factor or len(code.targets) > 1:
        return None
    name = code.program.copies(code.indices)
    if name is None or name not in code.args:
        return None
    target, source = launch.args[0], launch.args[list(code.args).index(name)]
    if not isinstance(target, Ref) or not isinstance(source, Ref) or target.shape != source.shape:
        return None
    one, other = target.owner, source.owner
    if not isinstance(one, Buffer) or not isinstance(other, Buffer):
        return None
    return (one, other) if one is not other and (one.extent, one.dtype) == (other.extent, other.dtype) else None


def _unnoticed(at: int, source: Uses, target: Uses) -> bool:
    """Whether neither of two buffers is read after launch `at` when the other one has been overwritten."""
    return _is_over(at, source, target) and _is_over(at, target, source)


def _is_over(at: int, read: Uses, written: Uses) -> bool:
    """Whether the last use of one is before the next write of the other."""
    change = min((place for place, writes in written if writes and place > at), default=None)
    return change is None or max((place for place, _ in read), default=-1) < change


def _is_left_out(launch: Launch, same: Sequence[Buffer]) -> bool:
    pair = _whole_copy(launch)
    return pair is not None and pair[0] in same and pair[0].root is pair[1].root


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
    copies = {at: copied for at, launch in enumerate(passes[0]) if (copied := _partial_copy(launch)) is not None}
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


def _partial_copy(launch: Launch) -> tuple[Buffer, Buffer, int] | None:
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
