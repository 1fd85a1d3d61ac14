"""Compute cheap results again in the backward pass, where it reads them, in place of keeping them until then.

Such as a norm with its activation between two convolutions: the backward pass reads the output of the first one
anyway, from which both follow element by element. The launches that run again are the same ones on other memory, so
they give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from paddle_layers.runtime.generate.drivers import Kernel
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.arguments import Held, Ref, refs_of, with_owners
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.builtin import ADD, simple_launch
from paddle_layers.runtime.launches.launch import Launch

from . import runs
from .memory_uses import MemoryUses

LEAST = 1 << 16
"""Bytes of a result that is worth its launches."""
SMALL = 1 / 16
"""A parameter that is read again has so many of the result's bytes at most; a copy of it is kept, as it may change."""
LONGEST = 8
"""Launches that compute one result, at most."""
EXTRA_TRAFFIC = 0.05
"""Bytes that all of them read and write at most, as a share of those that the step reads and writes without them."""


@dataclass(eq=False)
class Recomputable:
    """A result of the forward pass that can be computed again."""

    result: Buffer
    places: list[int]
    """The launches that compute it."""
    sources: set[Buffer]
    """Memory that they read, which still has its values where the result is read again."""
    free: range
    """The launches between its last reader in the forward pass and the first one in the backward pass."""
    moved: int
    """Bytes that are read and written; what one launch passes on to the next stays in the cache."""


def compute_again(
    forward: list[Launch], backward: list[Launch], used: Iterable[Buffer], kept: Iterable[Buffer], dtype: str
) -> list[Buffer]:
    """Lengthen the backward pass by launches of the forward pass; gives the results that they compute again.

    Buffers that are `used` outside of the launches are left alone; those that are `kept` have their values to the end.
    Parameters may change between the passes: the forward pass ends with copies of those that are read again.
    """
    if not backward or not runs("recomputed results"):
        return []
    uses = MemoryUses([*forward, *backward])
    finder = _Finder(uses, len(forward), {buffer.root for buffer in used}, {buffer.root for buffer in kept})
    chosen = choose(finder.all(), uses.live_bytes(finder.kept), EXTRA_TRAFFIC * uses.traffic())
    boundary = len(forward)
    copies: dict[Held, Buffer] = {}
    inserted: dict[int, list[_Again]] = {}
    for one in sorted(chosen, key=lambda one: one.free.stop, reverse=True):  # copies in the order of the network
        launches = [replace(forward[place]) for place in one.places]
        for launch in launches:
            forward += _copy_parameters(launch, copies, dtype)
        inserted.setdefault(one.free.stop - boundary, []).append(_Again(one.result, launches))
    _insert(inserted, backward)
    return [one.result for one in chosen]


def choose(possible: Sequence[Recomputable], live: list[int], most: float) -> list[Recomputable]:
    """Those that lower the peak of the memory, as long as they move `most` bytes: the cheapest for a byte first.

    `live` are the bytes in use at each launch. What is computed again is no source of another one.
    """
    chosen: list[Recomputable] = []
    rest = list(possible)
    while True:
        peak = live.index(max(live))
        at_peak = [one for one in rest if peak in one.free and one.moved <= most]
        if not at_peak:
            return chosen
        best = max(at_peak, key=lambda one: (one.result.nbytes / one.moved, one.result.nbytes))
        chosen.append(best)
        most -= best.moved
        for at in best.free:
            live[at] -= best.result.nbytes
        used = {best.result, *best.sources}
        rest = [one for one in rest if one.result not in used and best.result not in one.sources]


class _Finder:
    """What can be computed again."""

    def __init__(self, uses: MemoryUses, boundary: int, used: set[Buffer], kept: set[Buffer]) -> None:
        self.uses, self.boundary, self.used, self.kept = uses, boundary, used, kept

    def all(self) -> list[Recomputable]:
        """All of them, in the order of the forward pass."""
        found = (self._recomputable(owner) for owner in self.uses.touched if isinstance(owner, Buffer))
        return [one for one in found if one is not None]

    def _recomputable(self, result: Buffer) -> Recomputable | None:
        reads, writes = self.uses.touched[result]
        late = [at for at in reads if at >= self.boundary]
        if not late or result.nbytes < LEAST or result in self.used:
            return None
        if any(self.uses.launches[at].loop is not None for at in reads):
            return None
        places: set[int] = set()
        sources: set[Buffer] = set()
        if not self._trace(result, late[0], places, sources):
            return None
        last = max(at for at in (*reads, *writes) if at < self.boundary)
        moved = result.nbytes + sum(source.nbytes for source in sources)
        return Recomputable(result, sorted(places), sources, range(last + 1, late[0]), moved)

    def _trace(self, result: Buffer, until: int, places: set[int], sources: set[Buffer]) -> bool:
        """Note what a result follows from, back to what is there `until` a launch. Gives whether all may run again."""
        writes = self.uses.touched[result].writes
        if not writes or len(places) + len(writes) > LONGEST or not all(self._is_cheap(at) for at in writes):
            return False
        places.update(writes)
        for at in writes:
            if not all(self._is_small(held, result) for held in _parameters(self.uses.launches[at])):
                return False
            for owner in self.uses.read_by(at):
                if owner is result:
                    if at == writes[0]:
                        return False  # it goes on with what was there before the pass
                elif any(later > at for later in self.uses.touched[owner].writes):
                    return False
                elif not isinstance(owner, Buffer):
                    continue  # a parameter or a state, of which there will be a copy
                elif owner in self.kept or self.uses.touched[owner].reads[-1] >= until:
                    sources.add(owner)
                elif owner in self.used or not self._trace(owner, until, places, sources):
                    return False
        return True

    def _is_small(self, held: Held, result: Buffer) -> bool:
        """Whether a copy of a parameter costs next to nothing; tables updated by rows are not all up to date."""
        return not held.parameter.by_rows and held.parameter.size * result.itemsize <= SMALL * result.nbytes

    def _is_cheap(self, at: int) -> bool:
        """Whether a launch of the forward pass computes one array, without loops as for products and random numbers."""
        launch = self.uses.launches[at]
        code = launch.code
        if at >= self.boundary or launch.loop is not None or not isinstance(code, Kernel) or len(code.targets) > 1:
            return False
        texts = (code.program, *code.helpers.values())
        return not (code.scan or code.procedure or code.used_rows or any(text.has_loops for text in texts))


def _parameters(launch: Launch) -> list[Held]:
    """The values of parameters and states that a launch reads."""
    owners = [ref.owner for value in launch.args for ref in refs_of(value)]
    return list(dict.fromkeys(owner for owner in owners if isinstance(owner, Held)))


def _copy_parameters(launch: Launch, copies: dict[Held, Buffer], dtype: str) -> list[Launch]:
    """Let a launch read copies of parameters; gives the launches that make those that there are not yet."""
    made, parameters = [], _parameters(launch)
    for held in parameters:
        if held not in copies:
            size = Extent(held.parameter.size)
            copies[held] = Buffer(f"{held.parameter.name}, kept", size, dtype)
            made.append(simple_launch(ADD, launch.op, [Ref(copies[held], (size,)), Ref(held, (size,))]))
    launch.args = [
        with_owners(value, lambda owner: copies[owner] if isinstance(owner, Held) else owner) for value in launch.args
    ]
    launch.reads = [*launch.reads, *(copies[held] for held in parameters)]
    return made


class _Again(NamedTuple):
    """What computes a result again."""

    result: Buffer
    launches: list[Launch]

    def move(self) -> Buffer:
        """Let the launches write into memory of their own; gives where the result is then."""
        written = dict.fromkeys(buffer.root for launch in self.launches for buffer in launch.writes)
        again = {root: Buffer(f"{root.name}, again", root.extent, root.dtype) for root in written}
        for launch in self.launches:
            launch.move(again)
        return again[self.result]


def _insert(inserted: Mapping[int, Sequence[_Again]], backward: list[Launch]) -> None:
    """Put launches before the first one that reads the result in the backward pass; all that do read what they make."""
    again: dict[Buffer, Buffer] = {}
    longer: list[Launch] = []
    for at, launch in enumerate(backward):
        for one in inserted.get(at, ()):
            again[one.result] = one.move()
            longer += one.launches
        launch.move(again)
        longer.append(launch)
    backward[:] = longer
