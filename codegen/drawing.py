"""Layered drawing of a directed acyclic graph as SVG: sources at the top, all arrows point down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from paddle_layers.define.svg import element, image, label

GAP_X, GAP_Y, MARGIN = 28.0, 46.0, 20.0
# Without a browser, text cannot be measured: widths of a character at 12 px, and at the 10 px of labels.
LINE, PAD, CHARACTER = 16.0, 9.0, 7.3
SMALL = 6.2
SWEEPS = 8
HOT = (240, 113, 92)
"""Red, green and blue of the hottest box."""

STYLE = """
text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1f2933; }
.title { font-weight: bold; }
.label { font-size: 10px; fill: #52606d; paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
rect { stroke: #52606d; stroke-width: 1; fill: #ffffff; }
.paper { fill: #ffffff; stroke: none; }
.source { fill: #e4e7eb; }
.weights { fill: #e3f0fb; }
.loss { fill: #fde8e2; }
.report { fill: #eaf6e6; }
.inside { fill: #ffffff; fill-opacity: 0.6; stroke-dasharray: 4 3; }
path { fill: none; stroke: #7b8794; stroke-width: 1.3; }
.head { fill: #7b8794; stroke: none; }
"""


class Drawing(NamedTuple):
    """A graph layout: its size in pixels and its elements."""

    width: float
    height: float
    parts: list[str]


@dataclass
class Box:
    """A box: its key, its lines of text (the first is the title), a style class, the keys of its predecessors.

    `labels`: text on the arrow from a key; `inside`: a drawing below the lines; `link`: the target of a click; `heat`:
    from white (0) to red (1), instead of the style's color.
    """

    key: str
    lines: Sequence[str]
    style: str = ""
    above: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    inside: Drawing | None = None
    link: str = ""
    heat: float | None = None

    @property
    def width(self) -> float:
        """In pixels; wide enough for the longest line and for the drawing inside."""
        inside = self.inside.width if self.inside is not None else 0.0
        return 2 * PAD + max(CHARACTER * max(map(len, self.lines)), inside)

    @property
    def height(self) -> float:
        """In pixels."""
        inside = self.inside.height if self.inside is not None else 0.0
        return 2 * PAD + LINE * len(self.lines) + inside + (4 if inside else 0)


@dataclass(eq=False)
class _LayoutNode:
    """A box, or a bend of an edge that passes a rank, at a position in its rank."""

    rank: int
    width: float
    box: Box | None = None
    up: list[_LayoutNode] = field(default_factory=list)
    down: list[_LayoutNode] = field(default_factory=list)
    order: float = 0.0
    x: float = 0.0
    labels: set[str] = field(default_factory=set)


def draw(boxes: Iterable[Box], title: str = "") -> str:
    """SVG text of the boxes and of one arrow for each of `above`; boxes come in an order in which arrows go forward."""
    width, height, elements = lay_out(boxes)
    tip = element("path", class_="head", d="M0,0 L8,4 L0,8 z")
    size = {"refX": 7, "refY": 4, "markerWidth": 7, "markerHeight": 7}
    head = element("marker", tip, id="head", viewBox="0 0 8 8", **size, orient="auto")
    paper = element("rect", class_="paper", width="100%", height="100%")
    return image(width, height, element("defs", head), paper, *elements, title=title, style=STYLE)


def lay_out(boxes: Iterable[Box]) -> Drawing:
    """Layered layout of the boxes, for a diagram or for the inside of another box."""
    boxes = list(boxes)
    # The steps of Sugiyama's method: ranks, bends of long edges, order within ranks, positions.
    ranks, chains = _layout(boxes)
    tops = _tops(ranks)
    tails = [_tail(chain, tops) for chain in chains]
    width = max((p.x + p.width / 2 for rank in ranks for p in rank), default=0.0)
    width = max([width, *(x + SMALL * len(text) for x, _, text in tails)]) + MARGIN
    parts = [_arrow(chain, tops, ranks) for chain in chains]
    parts += [_box(place, tops) for rank in ranks for place in rank if place.box is not None]
    parts += [label(text, x, y, class_="label") for x, y, text in sorted(set(tails)) if text]
    return Drawing(width, (tops[-1] if tops else 0.0) + MARGIN, parts)


def _tail(chain: list[_LayoutNode], tops: list[float]) -> tuple[float, float, str]:
    """The position and text of the label of an arrow: at its start, or at its end if its start has several."""
    top, bottom = chain[0], chain[-1]
    assert top.box is not None
    assert bottom.box is not None
    text = bottom.box.labels.get(top.box.key, "")
    if len(top.labels) > 1:
        return bottom.x + 5, tops[bottom.rank] - 8, text
    return top.x + 5, tops[top.rank] + top.box.height + 12, text


def _layout(boxes: list[Box]) -> tuple[list[list[_LayoutNode]], list[list[_LayoutNode]]]:
    """Ranks of places with their x, and for each arrow its chain of places from top to bottom."""
    rank_of = _rank(boxes)
    places = {box.key: _LayoutNode(rank_of[box.key], box.width, box) for box in boxes}
    ranks: list[list[_LayoutNode]] = [[] for _ in range(max(rank_of.values(), default=-1) + 1)]
    for place in places.values():
        ranks[place.rank].append(place)
    chains = [_chain(places[key], places[box.key], ranks) for box in boxes for key in dict.fromkeys(box.above)]
    for box in boxes:
        for key, text in box.labels.items():
            places[key].labels.add(text)
    for place in places.values():
        # Labels are written to the right of the arrow, so half of the box has to be as wide as the label.
        place.width = max(place.width, 2 * SMALL * max(map(len, place.labels), default=0) - GAP_X)
    for rank in ranks:
        _renumber(rank)
    for sweep in range(SWEEPS):
        for rank in ranks if sweep % 2 == 0 else reversed(ranks):
            # The barycenter heuristic, downwards and upwards in turn; minimizing crossings exactly is NP-hard.
            rank.sort(key=lambda p: _mean([q.order for q in (p.up if sweep % 2 == 0 else p.down)], p.order))
            _renumber(rank)
    for rank in ranks:
        _spread(rank, [0.0] * len(rank))
    for sweep in range(2 * SWEEPS):
        for rank in ranks if sweep % 2 == 0 else reversed(ranks):
            _spread(rank, [_mean([q.x for q in (p.up if sweep % 2 == 0 else p.down)], p.x) for p in rank])
    left = min((p.x - p.width / 2 for rank in ranks for p in rank), default=0.0)
    for place in (p for rank in ranks for p in rank):
        place.x += MARGIN - left
    return ranks, chains


def _rank(boxes: list[Box]) -> dict[str, int]:
    """Longest way from a source; a source moves down to just above its first reader."""
    rank: dict[str, int] = {}
    for box in boxes:
        rank[box.key] = 1 + max((rank[key] for key in box.above), default=-1)
    readers: dict[str, list[int]] = {}
    for box in boxes:
        for key in box.above:
            readers.setdefault(key, []).append(rank[box.key])
    for box in boxes:
        # A source goes next to its reader: from the top rank, its arrow would cross the whole image.
        if not box.above and box.key in readers:
            rank[box.key] = min(readers[box.key]) - 1
    return rank


def _chain(top: _LayoutNode, bottom: _LayoutNode, ranks: list[list[_LayoutNode]]) -> list[_LayoutNode]:
    chain = [top]
    # A bend reserves some width in each rank, so that the edge passes between boxes and not below them.
    for number in range(top.rank + 1, bottom.rank):
        bend = _LayoutNode(number, 2.0)
        ranks[number].append(bend)
        chain.append(bend)
    chain.append(bottom)
    for upper, lower in pairwise(chain):
        upper.down.append(lower)
        lower.up.append(upper)
    return chain


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _renumber(rank: list[_LayoutNode]) -> None:
    for number, place in enumerate(rank):
        place.order = float(number)


def _spread(rank: list[_LayoutNode], wanted: list[float]) -> None:
    """Move the places as near to the wanted positions as their order and widths allow (pool adjacent violators)."""
    offset, offsets = 0.0, []
    for left, place in zip([None, *rank], rank, strict=False):
        offset += 0.0 if left is None else (left.width + place.width) / 2 + GAP_X
        offsets.append(offset)
    pools: list[tuple[float, int]] = []
    for x, shift in zip(wanted, offsets, strict=True):
        mean, count = x - shift, 1
        # Neighbors that would overlap are merged to their mean: the least squares solution under the order, in linear
        # time.
        while pools and pools[-1][0] > mean:
            other, size = pools.pop()
            mean, count = (mean * count + other * size) / (count + size), count + size
        pools.append((mean, count))
    means = (mean for mean, count in pools for _ in range(count))
    for place, mean, shift in zip(rank, means, offsets, strict=True):
        place.x = mean + shift


def _tops(ranks: list[list[_LayoutNode]]) -> list[float]:
    """Upper edge of every rank, then the lower edge of the last."""
    tops, y = [], MARGIN
    for rank in ranks:
        tops.append(y)
        y += max(place.box.height for place in rank if place.box is not None) + GAP_Y
    return [*tops, y - GAP_Y]


def _box(place: _LayoutNode, tops: list[float]) -> str:
    box = place.box
    assert box is not None
    x, y = place.x - box.width / 2, tops[place.rank]
    texts = (
        label(line, place.x, y + PAD + LINE * (row + 0.75), text_anchor="middle", class_="" if row else "title")
        for row, line in enumerate(box.lines)
    )
    look = {"class_": box.style} if box.heat is None else {"style": f"fill: {_colour(box.heat)}"}
    parts = [element("rect", **look, x=x, y=y, width=box.width, height=box.height, rx=4), *texts]
    if box.inside is not None:
        left, top = place.x - box.inside.width / 2, y + PAD + 4 + LINE * len(box.lines)
        frame = element("rect", class_="inside", x=4, width=box.inside.width - 8, height=box.inside.height, rx=4)
        # Nested `svg` elements have separate coordinates, so the layout of the inside does not depend on its position.
        parts.append(element("svg", frame, *box.inside.parts, x=left, y=top, overflow="visible"))
    drawn = element("g", *parts)
    return element("a", drawn, href=box.link) if box.link else drawn


def _colour(heat: float) -> str:
    mixed = (round(255 + (hot - 255) * min(max(heat, 0.0), 1.0)) for hot in HOT)
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _arrow(chain: list[_LayoutNode], tops: list[float], ranks: list[list[_LayoutNode]]) -> str:
    points = list(_points(chain, tops, ranks))
    path = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in pairwise(points):
        middle = (y0 + y1) / 2
        path += f" C{x0:.1f},{middle:.1f} {x1:.1f},{middle:.1f} {x1:.1f},{y1:.1f}"
    return element("path", d=path, marker_end="url(#head)")


def _points(
    chain: list[_LayoutNode], tops: list[float], ranks: list[list[_LayoutNode]]
) -> Iterator[tuple[float, float]]:
    """Lower edge of the first box, both edges of every rank that is passed, upper edge of the last box."""
    top, *bends, bottom = chain
    assert top.box is not None
    yield top.x, tops[top.rank] + top.box.height
    for bend in bends:
        yield bend.x, tops[bend.rank]
        yield bend.x, tops[bend.rank] + max(p.box.height for p in ranks[bend.rank] if p.box is not None)
    yield bottom.x, tops[bottom.rank]
