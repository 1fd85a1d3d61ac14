"""Memory accesses of launches: by element, and the bytes in use at each launch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Sequence
from itertools import accumulate
from typing import NamedTuple

from paddle_layers.runtime.generate.drivers import Kernel, TunedCall
from paddle_layers.runtime.graph.domains import Extent

from .arguments import Argument, Held, Lagged, Ref, refs_of
from .buffers import Buffer
from .launch import Launch


class Access(NamedTuple):
    """One array that a launch reads or writes."""

    owner: object
    """The buffer, the parameter with its part, or the address: equal if the memory is the same."""
    writes: bool
    own: bool
    """Element i of the launch accesses element i of the array and no other, in memory order."""


def accesses(launch: Launch) -> list[Access]:
    """All accesses of a launch; an array that it reads and writes occurs twice."""
    code = launch.code
    touched = _of_kernel(launch, code) if isinstance(code, Kernel) else _of_tuned(launch, code)
    return [access for ref, writes, own in touched for access in _accesses(ref, writes, own)]


def elements(launch: Launch) -> Extent:
    """Number of elements of a launch's first target."""
    target = launch.args[0]
    assert isinstance(target, Ref)
    return _size(target)


def in_order(launch: Launch) -> bool:
    """Whether work item i of a point function writes the i-th of equal runs of each target."""
    code = launch.code
    return isinstance(code, Kernel) and not (code.scan or code.procedure or code.used_rows or code.along)


RefAccesses = list[tuple[Ref, bool, bool]]


def _of_kernel(launch: Launch, kernel: Kernel) -> RefAccesses:
    program, ordered, target = kernel.program, in_order(launch), launch.args[0]
    touched: RefAccesses = []
    for name, value in zip(kernel.args, launch.args, strict=True):
        known = name in program.arguments
        own = ordered and _alike(value, target) and (not known or program.reads_own_element(name, kernel.indices))
        if name in kernel.targets:
            touched += [(ref, True, ordered) for ref in refs_of(value)]
            if kernel.accumulate or program.reads(name):
                touched += [(ref, False, own) for ref in refs_of(value)]
        elif not known or program.reads(name):
            touched += [(ref, False, own and known) for ref in refs_of(value)]
    return touched


def _of_tuned(launch: Launch, call: TunedCall) -> RefAccesses:
    touched: RefAccesses = []
    target, ordered = launch.args[0], call.tuned.runs is not None
    for name, value in zip(call.args, launch.args, strict=True):
        own = ordered and _alike(value, target)
        makes = name == "prepared" and call.tuned.prepared is not None
        if name in call.targets or name == "scratch" or makes:
            touched += [(ref, True, own) for ref in refs_of(value)]
        if not makes and (name not in call.targets or call.constants["accumulate"]):
            touched += [(ref, False, own and call.tuned.in_place) for ref in refs_of(value)]
    return touched


def _alike(value: Argument, target: Argument) -> bool:
    return isinstance(value, Ref) and isinstance(target, Ref) and value.shape == target.shape


def _accesses(ref: Ref, writes: bool, own: bool) -> list[Access]:
    owner = ref.owner
    if isinstance(owner, Lagged):
        owners = [owner.buffer, *([owner.boot] if owner.boot is not None else [])]
        # Rows of another step: never the element's own.
        return [Access(buffer.root, writes, own=False) for buffer in owners]
    if isinstance(owner, Buffer):
        # A reference to a part counts elements from another start, so equal indices are not equal addresses.
        whole = owner.extent == _size(ref)
        return [Access(owner.root, writes, own and whole)]
    return [Access((owner.parameter.name, owner.part) if isinstance(owner, Held) else owner, writes, own)]


def _size(ref: Ref) -> Extent:
    found = ref.shape[0]
    for size in ref.shape[1:]:
        found = found * size.extra
    return found


class Touched(NamedTuple):
    """Launches by index, in order."""

    reads: list[int]
    writes: list[int]


class MemoryUses:
    """Liveness analysis: memory uses by launches, in order: of buffers by their root, of parameters."""

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
