"""Cache-blocked fusion: consecutive launches run block by block, while the block is in a core's cache.

Launches can be fused if each computes its elements from the same elements of the results before it: a bias, an
activation, a sum. The first may be a tuned kernel whose items write runs of its target (`@tuned(..., runs=...)`). Two
such kernels of one layer that read the same inputs, and not each other's results, can be fused, too: the maxima of a
pool and their positions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from paddle_layers.runtime.generate.drivers import Kernel, TunedCall
from paddle_layers.runtime.launches.accesses import Access, accesses, elements, in_order
from paddle_layers.runtime.launches.buffers import Buffer, Storage
from paddle_layers.runtime.launches.launch import Launch

from . import runs

DEVICES = ("cpu",)
"""Devices whose tables support cache-blocked fusion."""
NEAR = 16
"""Maximum distance over which launches are moved together: the candidates are a later bias or norm."""


class _Seen(NamedTuple):
    """A launch and its memory accesses."""

    launch: Launch
    touched: list[Access]

    def is_before(self, other: _Seen) -> bool:
        """Whether the order of both matters: one writes what the other accesses."""
        written, theirs = _written(self.touched), _written(other.touched)
        return any(a.owner in theirs for a in self.touched) or any(a.owner in written for a in other.touched)


def _written(touched: Iterable[Access]) -> set[object]:
    return {access.owner for access in touched if access.writes}


# ---- before memory planning: reorder launches so that candidates are adjacent


def group_launches(launches: Sequence[Launch], stops: Iterable[int], device: str) -> list[Launch]:
    """Reorders the launches of a pass so that those that may be fused are adjacent.

    No launch is moved across one that accesses what it writes, nor across a stop or a loop.
    """
    if device not in DEVICES or not runs("cache-blocked fusion"):
        return list(launches)
    cuts = set(stops)
    ordered: list[Launch] = []
    part: list[_Seen] = []
    for at, launch in enumerate(launches):
        if at in cuts or launch.loop is not None:
            ordered += [seen.launch for seen in part]
            part = []
        if launch.loop is not None:
            ordered.append(launch)
        else:
            _place(part, _Seen(launch, accesses(launch)))
    return [*ordered, *(seen.launch for seen in part)]


def _place(order: list[_Seen], new: _Seen) -> None:
    """Moves a launch to directly after its elementwise producer, and its other inputs before that."""
    last = len(order) - 1
    at = next((at for at in range(last, max(last - NEAR, 0) - 1, -1) if _goes_on(new, order[at])), None)
    if at is None:
        order.append(new)
        return
    # Everything between the producer and the new launch on which the latter depends has to move before the producer's
    # chain; the rest is moved after it.
    needed: list[_Seen] = [new]
    rest: list[_Seen] = []
    for other in reversed(order[at + 1 :]):
        found = needed if any(other.is_before(one) for one in needed) else rest
        found.insert(0, other)
    start = at
    while start and _goes_on(order[start], order[start - 1]):
        start -= 1
    chain, early = order[start : at + 1], needed[:-1]
    # One of them needs a result of the chain: the launch stays where it is.
    if any(one.is_before(member) for one in early for member in chain):
        order.append(new)
    else:
        order[start:] = [*early, *chain, new, *rest]


def _goes_on(new: _Seen, before: _Seen) -> bool:
    """Whether a launch reads, element by element, the elementwise result of another one."""
    if not _follows(new.launch) or _misfit(new.launch, before.launch):
        return False
    own = {access.owner for access in before.touched if access.writes and access.own}
    return any(access.own and not access.writes and access.owner in own for access in new.touched)


# ---- during memory planning: decide which are fused


class _FusedGroup:
    """Fused launches, and the memory that they access."""

    def __init__(self, first: int, launch: Launch) -> None:
        self.first, self.launches = first, [launch]
        self.touched: dict[Hashable, tuple[bool, bool]] = {}
        """By memory: whether it is written, and whether all touch their own element only."""
        self.add(launch)

    def add(self, launch: Launch) -> None:
        """Records the accesses of a launch."""
        for access in accesses(launch):
            key = _memory(access.owner)
            writes, own = self.touched.get(key, (False, True))
            self.touched[key] = (writes or access.writes, own and access.own)

    def hindrance(self, launch: Launch) -> str | None:
        """Why a launch cannot be fused with these, or `None`; empty if it is unrelated."""
        shared = [
            (access, _memory(access.owner)) for access in accesses(launch) if _memory(access.owner) in self.touched
        ]
        # Nothing in common that is written: not an obstacle worth reporting, but blocks save nothing either, except
        # where two kernels read the same inputs.
        if not any(self.touched[memory][0] for _, memory in shared):
            reads = bool(shared) and not any(access.writes for access, _ in shared)
            return None if reads and runs("cache-blocked fusion") and _beside(launch, self.launches[-1]) else ""
        if not runs("cache-blocked fusion"):
            return "the pass is disabled"
        for other in self.launches:
            if reason := _misfit(launch, other):
                return reason
        for access, memory in shared:
            writes, own = self.touched[memory]
            # A block of the next launch would read elements that later blocks have yet to write, or overwrite elements
            # that they have yet to read.
            if (writes or access.writes) and not (own and access.own):
                return f"{_name(access.owner)} is not accessed elementwise"
        return None


def fuse_blocks(launches: Sequence[Launch], stops: Iterable[int], device: str) -> None:
    """Decides which launches are fused with the previous one: `Launch.joins`, `Launch.fused`.

    `stops` are the launches before which a run may end. Memory of a group is not reused before its end.
    """
    groups: list[_FusedGroup] = []
    cuts = set(stops)
    for at, launch in enumerate(launches):
        launch.joins, launch.fused = False, ""
        if device not in DEVICES or (not _follows(launch) and not _leads(launch)):
            continue
        group = groups[-1] if groups and groups[-1].first + len(groups[-1].launches) == at and at not in cuts else None
        may = group is not None and (_follows(launch) or _beside(launch, group.launches[-1]))
        reason = group.hindrance(launch) if group is not None and may else ""
        if group is None or reason is not None:
            groups.append(_FusedGroup(at, launch))
            launch.fused = f"no: {reason}" if reason else ""
        else:
            group.launches.append(launch)
            group.add(launch)
            launch.joins = True
    for group in groups:
        _note(group)


def _note(group: _FusedGroup) -> None:
    """Records which launches are fused, and keeps the memory of all of them alive until the last."""
    first, last = group.first, group.first + len(group.launches) - 1
    if first == last:
        return
    for launch in group.launches:
        launch.fused = f"{first} to {last}"
        for buffer in (*launch.reads, *launch.writes):
            if buffer.storage is not None:
                # Blocks interleave all launches of the group, so a buffer of any of them is in use during all of them.
                buffer.storage.first = min(buffer.storage.first, first)
                buffer.storage.last = max(buffer.storage.last, last)


def _follows(launch: Launch) -> bool:
    """Whether a launch may run on a part of its elements."""
    if launch.loop is not None:
        return False
    tuned = isinstance(launch.code, TunedCall) and launch.code.tuned.runs is not None and launch.code.tuned.in_place
    return in_order(launch) or tuned


def _leads(launch: Launch) -> bool:
    """Whether a launch writes its elements part by part, whatever it reads."""
    tuned = isinstance(launch.code, TunedCall) and launch.code.tuned.runs is not None
    return launch.loop is None and (in_order(launch) or tuned)


def _beside(launch: Launch, before: Launch) -> bool:
    """Whether two tuned kernels of a layer write run by run, so that common inputs are in the cache for the second."""
    if launch.op != before.op or not isinstance(launch.code, TunedCall) or not isinstance(before.code, TunedCall):
        return False
    kernel = launch.code.tuned  # whose items are the runs, as required after a first launch
    return kernel.runs is kernel.items and not kernel.scratch_per_chunk and not _misfit(launch, before)


def _misfit(launch: Launch, before: Launch) -> str | None:
    """Why the elements of two launches cannot be split at the same positions, or None."""
    if not _leads(before):
        return f"{before.name} does not write its elements in blocks"
    if elements(launch) != elements(before):
        return f"{before.name} has a different size"
    if isinstance(launch.code, Kernel) and isinstance(before.code, Kernel):
        small, large = sorted((launch.columns, before.columns))
        # A row of one would end within a row of the other.
        if large % max(small, 1):
            return f"{before.name} has different rows"
    return None


def _memory(owner: object) -> Hashable:
    storage: Storage | None = owner.storage if isinstance(owner, Buffer) else None
    return owner if storage is None else storage


def _name(owner: object) -> str:
    return owner.name if isinstance(owner, Buffer) else str(owner)
