"""Detection of repeated layers: runs of blocks with equal structure, each reading the previous one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from paddle_layers.config.binding.blocks import BlockDefinition

if TYPE_CHECKING:
    from paddle_layers.config.wiring.nodes import Node

# Bounds the search, which tries blocks of every length at each layer.
LONGEST = 24
"""Layers of a block."""


class LayerRun(NamedTuple):
    """Blocks of layers one after the other; a layer that repeats nothing is a run of one block of one layer."""

    blocks: list[tuple[Node, ...]]


def runs(nodes: Sequence[Node]) -> list[LayerRun]:
    """All layers in their order, those that repeat together."""
    return list(_RunFinder(nodes).runs())


class _RunFinder:
    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = list(nodes)
        makers: dict[str, list[int]] = {}
        for place, node in enumerate(self.nodes):
            for name in node.output_names:
                makers.setdefault(name, []).append(place)
        self.reads = [[makers.get(name, [-1])[-1] for name in node.inputs] for node in self.nodes]
        self.several = {place for places in makers.values() if len(places) > 1 for place in places}
        self.last_reader = [max((p for p, reads in enumerate(self.reads) if m in reads), default=m)
                            for m in range(len(self.nodes))]  # fmt: skip

    def runs(self) -> Iterator[LayerRun]:
        place = 0
        while place < len(self.nodes):
            size, times = self._best(place)
            starts = [place + size * time for time in range(times)]
            yield LayerRun([tuple(self.nodes[start : start + size]) for start in starts])
            place += size * times

    def _best(self, place: int) -> tuple[int, int]:
        """Size and number of the blocks that begin at a place and save most; one layer once if nothing repeats."""
        found = [
            (size, self._times(place, size)) for size in range(1, min(LONGEST, (len(self.nodes) - place) // 2) + 1)
        ]
        # Two adjacent layers are clearer than one box with "2 times".
        worth = [
            (size, times) for size, times in found if times > 1 and (times > 2 or size > 1 or self._has_inside(place))
        ]
        # By the number of layers that need no box; of equal ones, the shorter block.
        return max(worth, key=lambda run: (run[0] * (run[1] - 1), -run[0]), default=(1, 1))

    def _has_inside(self, place: int) -> bool:
        return self.nodes[place].inside is not None

    def _times(self, place: int, size: int) -> int:
        times = 1
        while self._repeats(place, size, place + size * times):
            times += 1
        # The image has no place for an arrow from the middle of a run.
        while times > 1 and not self._closed(place, size, times):
            times -= 1
        return times

    def _repeats(self, first: int, size: int, start: int) -> bool:
        """Whether the block at `start` is like the first one and goes on from the block before it."""
        if start + size > len(self.nodes):
            return False
        goes_on = False
        for own, model in zip(range(start, start + size), range(first, first + size), strict=True):
            # A value with several producers, one per phase, has no place in a chain.
            if own in self.several or _structure(self.nodes[own]) != _structure(self.nodes[model]):
                return False
            if len(self.reads[own]) != len(self.reads[model]):
                return False
            for read, model_read in zip(self.reads[own], self.reads[model], strict=True):
                inside, before = read >= start, start - size <= read < start
                if inside and own - read != model - model_read:
                    return False
                if not inside and (model_read >= first or (not before and read != model_read)):
                    return False
                goes_on = goes_on or before
        return goes_on

    def _closed(self, place: int, size: int, times: int) -> bool:
        """Whether only its last block is read after the run, and each block only by the next one."""
        end = place + size * times
        for maker in range(place, end - size):
            own_end = place + ((maker - place) // size + 2) * size
            if self.last_reader[maker] >= min(own_end, end):
                return False
        return True


def _structure(node: Node) -> object:
    """Structural key of a layer in repeats; it is the same for copies of a block, even if their inputs grow."""
    activation = node.activation[0].name if node.activation else ""
    copied = node.name.isdecimal() and isinstance(node.definition, BlockDefinition)
    types = [] if copied else [str(type_) for type_ in (*node.input_types, *node.output_types)]
    return node.definition.name, repr(sorted(node.attributes.items())), activation, types
