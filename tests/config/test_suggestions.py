"""Did you mean: the same answer as difflib's, and a quick one where there are many names."""

from __future__ import annotations

from difflib import get_close_matches

from hypothesis import given
from hypothesis import strategies as st

from paddle_layers.config.diagnostics.suggestions import Vocabulary, nearest

WORDS = st.text("abcdeN_1", min_size=1, max_size=9)
MANY = [
    f"block{block}.layer_{number}.{kind}" for block in range(10) for number in range(100) for kind in ("conv", "fc")
]
MANY += [f"{name}_again" for name in MANY]


@given(WORDS, st.lists(WORDS, max_size=9, unique_by=str.lower))
def test_the_nearest_name_is_that_of_difflib(name: str, known: list[str]) -> None:
    same = [other for other in known if other.lower() == name.lower()]
    lowered = {other.lower(): other for other in known}
    alike = get_close_matches(name, known, 1)
    alike = alike or [lowered[other] for other in get_close_matches(name.lower(), lowered, 1)]
    assert nearest(name, known) == next(iter(same or alike), None)


def test_one_of_many_names_is_found_by_its_beginning_or_its_end() -> None:
    known = Vocabulary(MANY)
    for wrong in ("black7.layer_42.conv", "block7.layer_42.con", "block7.layr_42.conv", "Block7.Layer_42.Conv"):
        assert known.nearest(wrong) == "block7.layer_42.conv"
    assert known.nearest("something else") is None


def test_a_name_is_not_meant_by_itself() -> None:
    assert Vocabulary(["conv", "cone"]).nearest("conv", besides="conv") == "cone"
