"""The learning curve: round ticks, axes for constants and for decades, a colour for each name, the best step."""

from __future__ import annotations

import math
import sys
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paddle_layers.training.results.curves import linear_axis, picture, value_axis

NUMBERS = st.floats(-1e300, 1e300)


def words(text: str) -> list[str]:
    return [str(element.text) for element in ElementTree.fromstring(text).iter() if element.tag.endswith("text")]


def test_ticks_are_round() -> None:
    assert [text for _, text in linear_axis(0, 0.93).ticks] == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert [text for _, text in linear_axis(0, 873, whole=True).ticks] == ["0", "200", "400", "600", "800"]
    assert [text for _, text in linear_axis(0, 3, whole=True).ticks] == ["0", "1", "2", "3"]
    assert [text for _, text in linear_axis(-0.03, 0.05).ticks] == ["-0.04", "-0.02", "0.00", "0.02", "0.04", "0.06"]


def test_a_constant_lies_in_the_middle_with_its_value() -> None:
    for value in (0.01, -3.0, 0.0, 1e30):
        axis = value_axis([value, value])
        assert axis.share(value) == pytest.approx(0.5)
        assert [tick for tick, _ in axis.ticks] == [value]


def test_more_than_two_decades_are_logarithmic() -> None:
    axis = value_axis([2.3, 0.011])
    assert axis.logarithmic
    assert [text for _, text in axis.ticks] == ["0.01", "0.1", "1", "10"]
    assert axis.share(1.0) == pytest.approx(2 / 3)
    assert not value_axis([2.3, 0.03]).logarithmic
    assert not value_axis([2.3, 0.0]).logarithmic


@example([5e-324, 0.0])
@example([1e300, -1e300])
@example([1e-300, 1e-295])
@example([1e-300, 1e300])
@given(st.lists(NUMBERS, max_size=4))
def test_every_value_lies_within_its_axis(values: list[float]) -> None:
    axis = value_axis(values)
    assert len(axis.ticks) <= 9
    for value in (*values, *(tick for tick, _ in axis.ticks)):
        share = axis.share(value)
        assert math.isfinite(share)
        assert -1e-6 <= share <= 1 + 1e-6, (value, axis)


@example(0.0, 5e-324)
@example(1e-300, 1e300)
@given(st.floats(), st.floats())
def test_any_two_numbers_make_a_picture(first: float, second: float) -> None:
    ElementTree.fromstring(picture("curve", {"loss": {"train": [(1, first), (sys.maxsize, second)]}}))


def test_a_name_has_one_colour_in_all_panels_and_axes_have_names() -> None:
    train, test = [(1, 2.0), (9, 1.0)], [(5, 1.5), (9, 1.2)]
    text = picture("digits", {"loss": {"train": train, "test": test}, "accuracy": {"train": [], "test": test}})
    root = ElementTree.fromstring(text)
    lines = [element.attrib["stroke"] for element in root.iter() if element.tag.endswith("polyline")]
    assert len(lines) == 3
    labels = {
        (e.text, e.attrib.get("fill")) for e in root.iter() if e.tag.endswith("text") and e.text in ("train", "test")
    }
    assert len(labels) == 2
    assert lines[-1] in {fill for text, fill in labels if text == "test"}
    assert words(text).count("step") == 2


def test_the_lowest_loss_is_marked() -> None:
    test = [(5, 1.5), (10, float("nan")), (15, 0.9), (20, 1.2)]
    assert "lowest test loss: step 15" in words(picture("a", {"loss": {"train": [(1, 0.1), (20, 0.2)], "test": test}}))
    assert "lowest train loss: step 1" in words(picture("a", {"loss": {"train": [(1, 0.1), (20, 0.2)]}}))
    assert not [word for word in words(picture("a", {"loss": {"train": [(1, 0.1)]}})) if "lowest" in word]
