"""Network diagrams: one box per layer with its nested layers, one arrow per value with its size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from paddle_layers.define.machine import as_seconds

from .drawing import Box, Drawing, draw, lay_out
from .repeats import LayerRun, runs

if TYPE_CHECKING:
    from paddle_layers.config import Network
    from paddle_layers.config.wiring.nodes import Node
    from paddle_layers.runtime.plan.dry_run import Footprint

Link = Callable[[str], str]
"""Gives the address that the box of a layer leads to, by its path."""
Seconds = Mapping[str, Mapping[str, float]]
"""Of each pass, by the path of a layer."""


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
