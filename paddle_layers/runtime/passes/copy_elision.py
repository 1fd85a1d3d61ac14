"""Copy elision: launches that only copy are removed; the copy and its source share memory if that is unobservable.

That holds for `flatten`, `reshape`, `dropout` in the test phase, the gradients of a sum: both are equal as long as both
are read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from paddle_layers.runtime.generate.drivers import Kernel
from paddle_layers.runtime.launches.accesses import accesses, in_order
from paddle_layers.runtime.launches.arguments import Ref
from paddle_layers.runtime.launches.buffers import FOREVER, Buffer
from paddle_layers.runtime.launches.launch import Launch

from . import runs

Uses = list[tuple[int, bool]]
"""Launches that use a buffer, and whether they write it."""


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
        pair = _copied(launch)
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


def _copied(launch: Launch) -> tuple[Buffer, Buffer] | None:
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
    pair = _copied(launch)
    return pair is not None and pair[0] in same and pair[0].root is pair[1].root
