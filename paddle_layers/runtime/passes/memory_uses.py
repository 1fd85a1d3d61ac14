"""Liveness analysis: memory accesses of launches, and bytes in use at each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Sequence
from itertools import accumulate
from typing import NamedTuple

from paddle_layers.runtime.launches.accesses import accesses
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.launch import Launch


class Touched(NamedTuple):
    """Launches by index, in order."""

    reads: list[int]
    writes: list[int]


class MemoryUses:
    """Memory uses by launches, in order: of buffers by their root, of parameters."""

    def __init__(self, launches: Sequence[Launch]) -> None:
        self.launches = launches
        self.touched: dict[object, Touched] = defaultdict(lambda: Touched([], []))
        # A dictionary as an ordered set: plans must not depend on hash values, or they would differ from run to run.
        self._uses = [[*{(one.owner, one.writes): None for one in accesses(launch)}] for launch in launches]
        """Of each launch: what it touches, and whether it writes it."""
        for at, uses in enumerate(self._uses):
            for owner, writes in uses:
                (self.touched[owner].writes if writes else self.touched[owner].reads).append(at)

    def read_by(self, at: int) -> list[object]:
        """Reads of a launch."""
        return [owner for owner, writes in self._uses[at] if not writes]

    def traffic(self) -> int:
        """Bytes of buffers that the launches read and write."""
        return sum(owner.nbytes for uses in self._uses for owner, _ in uses if isinstance(owner, Buffer))

    def live_bytes(self, kept: Container[Buffer]) -> list[int]:
        """Bytes in use at each launch, with in-place execution wherever possible; `kept` buffers are always live."""
        end = len(self.launches) - 1
        spans = {
            owner: (0, end) if owner in kept else (min(reads + writes), max(reads + writes))
            for owner, (reads, writes) in self.touched.items()
            if isinstance(owner, Buffer)
        }
        for at, launch in enumerate(self.launches):
            for giver, taker in launch.takeovers:
                (_, given), (begin, last) = spans[giver.root], spans[taker.root]
                # An in-place result must not be counted twice at the launch where both exist.
                if given == begin == at and giver.nbytes == taker.nbytes:
                    spans[taker.root] = (at + 1, last)
        change = [0] * (end + 2)
        for owner, (begin, last) in spans.items():
            change[begin] += owner.nbytes
            change[last + 1] -= owner.nbytes
        return list(accumulate(change[:-1]))
