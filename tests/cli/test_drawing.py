"""The layered drawing: every arrow points down, no two boxes overlap, text is escaped."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st
from paddle_layers.codegen.drawing import Box, draw

SVG = "{http://www.w3.org/2000/svg}"

Rect = tuple[float, float, float, float]


def boxes_of(text: str) -> dict[str, Rect]:
    found = {}
    for group in ET.fromstring(text).iter(f"{SVG}g"):
        rect, title = group.find(f"{SVG}rect"), group.find(f"{SVG}text")
        assert rect is not None
        assert title is not None
        x, y, width, height = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        found[str(title.text)] = (x, y, x + width, y + height)
    return found


def arrows_of(text: str) -> list[list[float]]:
    paths = [path.attrib["d"] for path in ET.fromstring(text).iter(f"{SVG}path") if "marker-end" in path.attrib]
    return [[float(number) for number in re.findall(r"-?\d+\.?\d*", path)] for path in paths]


@st.composite
def graphs(draw_: st.DrawFn) -> list[Box]:
    count = draw_(st.integers(1, 14))
    boxes = []
    for number in range(count):
        above = draw_(st.lists(st.integers(0, number - 1), max_size=3, unique=True)) if number else []
        lines = [f"b{number}", *draw_(st.lists(st.text("xyz", min_size=1, max_size=20), max_size=2))]
        boxes.append(Box(f"b{number}", lines, above=[f"b{a}" for a in above]))
    return boxes


@given(graphs())
def test_boxes_do_not_overlap_and_arrows_point_down(boxes: list[Box]) -> None:
    text = draw(boxes)
    places = boxes_of(text)
    assert set(places) == {box.key for box in boxes}
    rects = list(places.values())
    for i, (x0, y0, x1, y1) in enumerate(rects):
        assert all(x1 <= a or c <= x0 or y1 <= b or d <= y0 for a, b, c, d in rects[:i])
    for box in boxes:
        assert all(places[key][3] < places[box.key][1] for key in box.above)
    arrows = arrows_of(text)
    assert len(arrows) == sum(len(box.above) for box in boxes)
    assert all(arrow[1] < arrow[-1] for arrow in arrows)


def test_a_chain_is_straight() -> None:
    text = draw([Box("a", ["a"]), Box("b", ["a longer one"], above=["a"]), Box("c", ["c"], above=["b"])])
    middles = {(x0 + x1) / 2 for x0, _, x1, _ in boxes_of(text).values()}
    assert max(middles) - min(middles) < 0.2


def test_a_source_stands_just_above_its_reader() -> None:
    boxes = [Box("x", ["x"]), Box("label", ["label"])]
    boxes += [Box("h", ["h"], above=["x"]), Box("y", ["y"], above=["h"]), Box("cost", ["cost"], above=["y", "label"])]
    places = boxes_of(draw(boxes))
    assert places["label"][1] == places["y"][1]


def test_text_is_escaped() -> None:
    text = draw([Box("a", ['<b> & "c"'], style='x" onload="')], title="<t>")
    assert "<b>" not in text
    assert set(boxes_of(text)) == {'<b> & "c"'}


def test_nothing_to_draw() -> None:
    assert draw([]).startswith("<svg")
