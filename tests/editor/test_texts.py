"""The editor at any place of any text; positions as editors count them."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle_layers.editor.completion import completions
from paddle_layers.editor.document import Document, problems
from paddle_layers.editor.hover import definitions, hover, symbols
from paddle_layers.editor.lsp_messages import UNITS, LineIndex
from tests.config.test_syntax_tree import EXAMPLES, JSON, ODD, TEXTS

EVERY = 11
"""The usual run asks at every eleventh place."""


def everything(text: str, offset: int) -> None:
    """Ask everything about a text and a place in it."""
    document = Document(text, "/nowhere/x.textproto")
    ask(document, offset)
    for symbol in symbols(document):
        assert symbol.start <= symbol.name_start <= symbol.name_end <= symbol.end
    for problem in problems(document):
        assert 0 <= problem.start <= problem.end <= len(text)


def ask(document: Document, offset: int) -> None:
    """Ask everything about a place."""
    text = document.text
    for item in completions(document, offset):
        assert 0 <= item.start <= offset <= item.end <= len(text)
        assert "\n" not in text[item.start : item.end], "an edit of a completion stays on its line"
    found = hover(document, offset)
    assert found is None or found.start <= offset <= found.end
    for target in definitions(document, offset):
        assert 0 <= target.start <= target.end <= len(target.text)


@pytest.mark.parametrize("step", [EVERY, pytest.param(1, marks=(pytest.mark.slow, pytest.mark.later))])
@pytest.mark.parametrize("text", [*TEXTS, JSON, ODD], ids=[*(path.stem for path in EXAMPLES), "json", "odd"])
def test_places_of_the_examples(text: str, step: int) -> None:
    document = Document(text, "/nowhere/x.textproto")
    for offset in range(zlib.crc32(text.encode()) % step, len(text) + 1, step):
        ask(document, offset)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([*TEXTS, JSON, ODD]), st.data())
def test_cut_texts(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    cut = text[:start] + text[end:]
    everything(cut, start)
    everything(cut[:start], start)


PIECES = st.sampled_from(
    [*"{}[]<>:,;\"'#\\\n \t-", "layer {", 'type: "fc"', "fc", "net", "\r\n", "é", "𝄞", "\x00", "\ufeff"]
)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([*TEXTS, JSON, ODD]), st.lists(st.tuples(st.floats(0, 1), PIECES), max_size=6), st.floats(0, 1))
def test_mutated_texts(text: str, changes: list[tuple[float, str]], at: float) -> None:
    for where, piece in changes:
        offset = round(where * len(text))
        text = text[:offset] + piece + text[offset + 1 :]
    everything(text, round(at * len(text)))


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60), st.floats(0, 1))
def test_any_text(text: str, at: float) -> None:
    everything(text, round(at * len(text)))


# ---- positions


@given(st.text(alphabet=st.sampled_from("aé𝄞\n\r\u2028 {"), max_size=30), st.sampled_from(list(UNITS)), st.data())
def test_positions_count_code_units(text: str, encoding: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    if text[max(offset - 1, 0) : offset + 1] == "\r\n":
        offset += 1  # no editor stands between the two
    line, character = LineIndex(text, encoding).position(offset)
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    assert line == before.count("\n")
    row = before.rpartition("\n")[2]
    assert character == len(row.encode(encoding if encoding == "utf-8" else f"{encoding}-le")) // UNITS[encoding]
    assert LineIndex(text, encoding).offset(line, character) == offset


def test_positions_beyond_the_text() -> None:
    lines = LineIndex("ab\n𝄞c\n")
    assert lines.offset(0, 99) == 2
    assert lines.offset(1, 2) == 4
    assert lines.offset(1, 1) == 3, "in the middle of a character: before it"
    assert lines.offset(9, 0) == 6
    assert lines.position(99) == (2, 0)
