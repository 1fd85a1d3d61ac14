"""Network diagrams: one box per layer with its nested layers, one arrow per value with its size.

Repeated layers are one box: runs of blocks with equal structure, each reading the previous one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from paddle_layers.config.binding.blocks import BlockDefinition
from paddle_layers.define.machine import as_seconds

from .drawing import Box, Drawing, draw, lay_out

if TYPE_CHECKING:
    from paddle_layers.config import Network
    from paddle_layers.config.wiring.nodes import Node
    from paddle_layers.runtime.plan.dry_run import Footprint

# Bounds the search, which tries blocks of every length at each layer.
LONGEST = 24
"""Layers of a block."""
Link = Callable[[str], str]
"""Gives the address that the box of a layer leads to, by its path."""
Seconds = Mapping[str, Mapping[str, float]]
"""Of each pass, by the path of a layer."""


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


def picture(network: Network, costs: Footprint, link: Link | None = None, seconds: Seconds | None = None) -> str:
    """SVG text. Layers of one name in different phases are adjacent; repeated parts are shown once.

    With `seconds`, each box shows its time, and is the redder, the closer it is to the longest one.
    """
    return draw(_Picture(costs, link, seconds or {}).boxes(network.nodes, ""), network.name)


class _Picture:
    def __init__(self, costs: Footprint, link: Link | None, seconds: Seconds) -> None:
        self.costs, self.link, self.seconds = costs, link, seconds

    def boxes(self, nodes: Sequence[Node], path: str) -> list[Box]:
        """A box for each layer, or for each run of layers that repeat."""
        boxes: list[Box] = []
        makers, read = _Makers(), {name for node in nodes for name in node.inputs}
        for run in runs(nodes):
            first = run.blocks[0]
            key = f"{len(boxes)} {first[0].name}"
            above = [(maker, label) for node in first for name in node.inputs for maker, label in makers.of(name)]
            boxes.append(self._box(run, key, path))
            box = boxes[-1]
            box.above = list(dict.fromkeys(maker for maker, _ in above))
            box.labels = {
                key: ", ".join(dict.fromkeys(label for maker, label in above if maker == key)) for key in box.above
            }
            # Later layers read the last repetition, so its values are those of the box.
            for node in run.blocks[-1]:
                makers.add(key, node)
                # Sizes are on the arrows; an output that nothing reads has none.
                if read.isdisjoint(node.output_names) and node.output_types and len(run.blocks[0]) == 1:
                    box.lines = [*box.lines, ", ".join(map(str, node.output_types))]
            self._write_times(box, [path + node.name for block in run.blocks for node in block])
        return boxes

    def _write_times(self, box: Box, layers: Sequence[str]) -> None:
        times = self._times(layers)
        if times:
            box.lines = [*box.lines, ", ".join(f"{name} {as_seconds(seconds)}" for name, seconds in times.items())]
            # Relative to the slowest layer: absolute times differ between machines by orders of magnitude.
            box.heat = sum(times.values()) / max(sum(passes.values()) for passes in self.seconds.values())

    def _times(self, layers: Sequence[str]) -> dict[str, float]:
        """Seconds of each pass of layers, what is inside of them included."""
        found: dict[str, float] = {}
        for layer in layers:
            for path, passes in self.seconds.items():
                if path == layer or path.startswith(f"{layer}."):
                    for name, seconds in passes.items():
                        found[name] = found.get(name, 0.0) + seconds
        return found

    def _box(self, run: LayerRun, key: str, path: str) -> Box:
        times = len(run.blocks)
        first, last = run.blocks[0], run.blocks[-1]
        name = first[0].name if times == 1 else f"{first[0].name} ... {last[-1].name}"
        link = self.link(path + first[0].name) if self.link is not None else ""
        parameters = sum(self._parameters(node, path) for block in run.blocks for node in block)
        below = [f"{parameters:,} parameters"] if parameters else []
        if len(first) > 1:
            inside = lay_out(self.boxes(first, path))
            return Box(key, [name, f"{times} times", *below], inside=inside, link=link)
        node = first[0]
        kind = node.definition.name + (f" + {node.activation[0].name}" if node.activation else "")
        if node.definition.name == "memory":  # no arrow leads back to the step before
            kind += f" of {node.attributes['of']}"
        lines = [name, f"{times} x {kind}" if times > 1 else kind, *below]
        return Box(key, lines, _style(node), inside=self._inside(node, path), link=link)

    def _inside(self, node: Node, path: str) -> Drawing | None:
        if node.inside is None:
            return None
        names = dict.fromkeys(node.inside.inputs)
        types = dict(zip(node.inside.inputs, node.input_types, strict=False))
        read = {name for inner in node.inside.nodes for name in inner.inputs}
        entries = [Box(f"in {name}", [name], "source") for name in names if name in read]
        boxes = self.boxes(node.inside.nodes, f"{path}{node.name}.")
        made = {name for inner in node.inside.nodes for name in inner.output_names}
        for inner, box in _first_readers(node.inside.nodes, boxes):
            for name in inner.inputs:
                if name in names and name not in made:
                    box.above = [*box.above, f"in {name}"]
                    box.labels = {**box.labels, f"in {name}": str(types.get(name, ""))}
        return lay_out([*entries, *boxes])

    def _parameters(self, node: Node, path: str) -> int:
        return self.costs.layers[node.name].parameters if not path else self.costs.inside(path + node.name)


class _Makers:
    """Producers of values, by name; they may differ between phases."""

    def __init__(self) -> None:
        self.found: dict[str, list[tuple[str, str]]] = {}

    def add(self, key: str, node: Node) -> None:
        for name, type_ in zip(node.output_names, node.output_types, strict=False):
            self.found.setdefault(name, []).append((key, str(type_)))

    def of(self, name: str) -> list[tuple[str, str]]:
        return self.found.get(name, [])


def _first_readers(nodes: Sequence[Node], boxes: list[Box]) -> list[tuple[Node, Box]]:
    """The layers of the first block of each run, with the box that contains them."""
    return [(node, box) for run, box in zip(runs(nodes), boxes, strict=True) for node in run.blocks[0]]


def _style(node: Node) -> str:
    facts = node.definition.facts
    styles = (("source", facts.is_source), ("loss", facts.has_loss), ("report", facts.has_stats))
    return next((style for style, holds in styles if holds), "weights" if facts.has_param else "")
