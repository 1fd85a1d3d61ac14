"""Rematerialization: cheap results are recomputed in the backward pass instead of kept until then.

For example a norm with its activation between two convolutions: the backward pass reads the output of the first one
anyway, from which both follow element by element. The same launches run again on other memory, so the bits are
identical.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from paddle_layers.runtime.generate.drivers import Kernel
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.accesses import MemoryUses
from paddle_layers.runtime.launches.arguments import Held, Ref, refs_of, with_owners
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.builtin import ADD, simple_launch
from paddle_layers.runtime.launches.launch import Launch

from . import runs

# Smaller results are read from the cache; the launch that recomputes one costs as much as it saves.
LEAST = 1 << 16
"""Minimum size of a result in bytes that is worth its launches."""
SMALL = 1 / 16
"""Maximum size of a parameter that is read again, as a fraction of the result's bytes; a copy is kept, as it may
change.
"""
LONGEST = 8
"""Maximum number of launches that compute one result."""
# Most steps are limited by memory, so traffic approximates time: ResNet-50 needs 362 instead of 455 MiB (4 images,
# 2-core AMD EPYC), for 0.3 to 1 % of a step; DenseNet-121 pays 2.6 %.
EXTRA_TRAFFIC = 0.05
"""Maximum extra memory traffic of all of them, as a fraction of the traffic of the step without them."""


@dataclass(eq=False)
class Recomputable:
    """A result of the forward pass that can be recomputed."""

    result: Buffer
    places: list[int]
    """The launches that compute it."""
    sources: set[Buffer]
    """Memory that they read, which still has its values when the result is read again."""
    free: range
    """The launches between its last reader in the forward pass and the first one in the backward pass."""
    moved: int
    """Memory traffic in bytes; values passed between the launches stay in the cache."""


def rematerialize(
    forward: list[Launch], backward: list[Launch], used: Iterable[Buffer], kept: Iterable[Buffer], dtype: str
) -> list[Buffer]:
    """Inserts launches of the forward pass into the backward pass; returns the recomputed results.

    Buffers that are `used` outside of the launches are not changed; those that are `kept` have their values to the end.
    Parameters may change between the passes: the forward pass ends with copies of those that are read again.
    """
    if not backward or not runs("rematerialization"):
        return []
    uses = MemoryUses([*forward, *backward])
    finder = _RecomputableFinder(uses, len(forward), {buffer.root for buffer in used}, {buffer.root for buffer in kept})
    chosen = choose(finder.all(), uses.live_bytes(finder.kept), EXTRA_TRAFFIC * uses.traffic())
    boundary = len(forward)
    copies: dict[Held, Buffer] = {}
    inserted: dict[int, list[_Again]] = {}
    # The backward pass runs in reverse, so this is forward order, in which copies of parameters are made.
    for one in sorted(chosen, key=lambda one: one.free.stop, reverse=True):  # copies in the order of the network
        launches = [replace(forward[place]) for place in one.places]
        for launch in launches:
            forward += _copy_parameters(launch, copies, dtype)
        inserted.setdefault(one.free.stop - boundary, []).append(_Again(one.result, launches))
    _insert(inserted, backward)
    return [one.result for one in chosen]


def choose(possible: Sequence[Recomputable], live: list[int], most: float) -> list[Recomputable]:
    """Selects those that lower the peak memory, within `most` bytes of traffic: the cheapest per byte first.

    `live` are the bytes in use at each launch. A recomputed result is never a source of another one.
    """
    chosen: list[Recomputable] = []
    rest = list(possible)
    while True:
        # Only what is alive at the peak can lower it; any other recomputation would cost time for nothing.
        peak = live.index(max(live))
        at_peak = [one for one in rest if peak in one.free and one.moved <= most]
        if not at_peak:
            return chosen
        best = max(at_peak, key=lambda one: (one.result.nbytes / one.moved, one.result.nbytes))
        chosen.append(best)
        most -= best.moved
        for at in best.free:
            live[at] -= best.result.nbytes
        # Its sources have to stay in memory, and it no longer is there as a source itself.
        used = {best.result, *best.sources}
        rest = [one for one in rest if one.result not in used and best.result not in one.sources]


class _RecomputableFinder:
    """Search for recomputable results."""

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
        # A step of a loop reads other rows than the one before; recomputation would be needed in every step.
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
        """Collects the launches of a result, back to what is available `until` a launch; whether all may run again."""
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
                        return False  # it updates a value from before the pass
                # Overwritten after the launch: a second run would read other values.
                elif any(later > at for later in self.uses.touched[owner].writes):
                    return False
                elif not isinstance(owner, Buffer):
                    continue  # a parameter or a state, which will be copied
                elif owner in self.kept or self.uses.touched[owner].reads[-1] >= until:
                    sources.add(owner)
                elif owner in self.used or not self._trace(owner, until, places, sources):
                    return False
        return True

    def _is_small(self, held: Held, result: Buffer) -> bool:
        """Whether a copy of a parameter is cheap; tables with sparse updates are not all up to date."""
        return not held.parameter.by_rows and held.parameter.size * result.itemsize <= SMALL * result.nbytes

    def _is_cheap(self, at: int) -> bool:
        """Whether a launch of the forward pass computes one array, without loops as in products and random numbers."""
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
    """Lets a launch read copies of parameters; returns the launches that create missing ones."""
    made, parameters = [], _parameters(launch)
    for held in parameters:
        # The optimizer may step between the two passes of a batch, so that the parameter itself would give other
        # values.
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
    """The recomputation of a result."""

    result: Buffer
    launches: list[Launch]

    def move(self) -> Buffer:
        """Lets the launches write into separate memory; returns the new location of the result."""
        written = dict.fromkeys(buffer.root for launch in self.launches for buffer in launch.writes)
        again = {root: Buffer(f"{root.name}, again", root.extent, root.dtype) for root in written}
        for launch in self.launches:
            launch.move(again)
        return again[self.result]


def _insert(inserted: Mapping[int, Sequence[_Again]], backward: list[Launch]) -> None:
    """Inserts launches before the first reader of the result in the backward pass; all readers read the new result."""
    again: dict[Buffer, Buffer] = {}
    longer: list[Launch] = []
    for at, launch in enumerate(backward):
        for one in inserted.get(at, ()):
            again[one.result] = one.move()
            longer += one.launches
        launch.move(again)
        longer.append(launch)
    backward[:] = longer
