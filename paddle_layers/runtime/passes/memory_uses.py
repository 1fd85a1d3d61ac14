"""Which launches touch which memory, and how much of it is in use at each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Sequence
from itertools import accumulate
from typing import NamedTuple

from paddle_layers.runtime.launches.accesses import accesses
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.launch import Launch


class Touched(NamedTuple):
    """Places of launches in their order."""

    reads: list[int]
    writes: list[int]


class MemoryUses:
    """The uses of memory by launches in their order: of buffers by their root, of parameters."""

    def __init__(self, launches: Sequence[Launch]) -> None:
        self.launches = launches
        self.touched: dict[object, Touched] = defaultdict(lambda: Touched([], []))
        self._found = [
            dict.fromkeys((access.owner, access.writes) for access in accesses(launch)) for launch in launches
        ]
        for at, found in enumerate(self._found):
            for owner, writes in found:
                (self.touched[owner].writes if writes else self.touched[owner].reads).append(at)

    def read_by(self, at: int) -> list[object]:
        """What a launch reads."""
        return [owner for owner, writes in self._found[at] if not writes]

    def traffic(self) -> int:
        """Bytes of buffers that the launches read and write."""
        return sum(owner.nbytes for found in self._found for owner, _ in found if isinstance(owner, Buffer))

    def live_bytes(self, kept: Container[Buffer]) -> list[int]:
        """Bytes in use at each launch, where results are in place wherever they may be; what is `kept` always is."""
        spans = {
            owner: (0, len(self.launches))
            if owner in kept
            else (min(reads[:1] + writes[:1]), max(reads[-1:] + writes[-1:]))
            for owner, (reads, writes) in self.touched.items()
            if isinstance(owner, Buffer)
        }
        for at, launch in enumerate(self.launches):
            for giver, taker in launch.takeovers:
                (_, end), (begin, last) = spans[giver.root], spans[taker.root]
                if begin == end == at and giver.nbytes == taker.nbytes:
                    spans[taker.root] = (at + 1, last)
        change = [0] * (len(self.launches) + 2)
        for owner, (begin, end) in spans.items():
            change[begin] += owner.nbytes
            change[end + 1] -= owner.nbytes
        return list(accumulate(change[:-2]))
