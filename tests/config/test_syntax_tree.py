"""The lexer and the syntax tree: nothing is lost, and whole texts have the fields that the reader finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddle_layers.config.diagnostics.diagnostic import Source
from paddle_layers.config.diagnostics.report import DiagnosticReport
from paddle_layers.config.reading import lexer
from paddle_layers.config.reading.fields import BLOCK, LIST, STRING, Fields, items
from paddle_layers.config.reading.syntax import read
from paddle_layers.config.reading.syntax_tree import SyntaxBlock, SyntaxTree

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples").rglob("*.textproto"))
TEXTS = [path.read_text(encoding="utf-8") for path in EXAMPLES]
JSON = (
    '{"$schema": "x", "name": "n", "layer": [{"name": "x", "type": "data", "data": {"shape": [4]}},\n'
    ' {"name": "y", "type": "fc", "input": ["x"], "fc": {"size": 2, "act": "tanh", "bias": false}}]}'
)
ODD = """
name: 'single'  layer: { name: "a" "b" type: "data" data < shape: [1, 2, ] > };
layer [ { name: "c" }, { name: "d", stage: ['x', "y"] } ] # a "comment" { with: all
"""


def read_fields(fields: Fields) -> Iterator[tuple[str, Any]]:
    for field in fields:
        for item in items(field):
            if item[1] == BLOCK:
                yield field[0], list(read_fields(item[2]))
            elif item[1] != LIST and field[0] != "!":
                yield field[0], item[2] if item[1] == STRING else None


def in_tree(block: SyntaxBlock) -> Iterator[tuple[str, Any]]:
    """What a block holds in the order of the text; the value of what is no string stays out, as above."""
    for field in block.fields:
        values: list[Any] = [(token.start, token) for token in field.values]
        values += [(inner.start, inner) for inner in field.blocks]
        for _, value in sorted(values, key=lambda pair: pair[0]):
            if isinstance(value, SyntaxBlock):
                yield field.name, list(in_tree(value))
            else:
                yield field.name, value.word if value.kind == lexer.STRING else None


@pytest.mark.parametrize("text", [*TEXTS, JSON], ids=[*(path.stem for path in EXAMPLES), "json"])
def test_tree_and_reader_agree(text: str) -> None:
    report = DiagnosticReport(Source("", text))
    wanted = list(read_fields(read(report)))
    tree = SyntaxTree(text)
    assert not report.diagnostics
    assert [entry for entry in in_tree(tree.root) if entry[0] != "$schema"] == wanted


def test_every_syntax_of_a_field() -> None:
    root = SyntaxTree(ODD).root
    layers = root.blocks("layer")
    assert [layer.word("name") for layer in layers] == ["a", "c", "d"]
    assert layers[0].words("name") == ["a", "b"]
    assert layers[0].blocks("data")[0].words("shape") == ["1", "2"]
    assert layers[2].words("stage") == ["x", "y"]
    assert root.word("name") == "single"
    assert [ODD[layer.end - 1] for layer in layers] == ["}", "}", "}"]


@pytest.mark.parametrize("text", [*TEXTS, JSON, ODD], ids=[*(path.stem for path in EXAMPLES), "json", "odd"])
def test_tokens_lose_nothing_but_blanks(text: str) -> None:
    end = 0
    for token in lexer.tokens(text, json=text is JSON):
        assert not text[end : token.start].strip()
        assert text[token.start : token.end] == token.text
        assert token.lines == (text.count("\n", end, token.start) if end else 1)
        end = token.end
    assert not text[end:].strip()


@pytest.mark.parametrize(
    ("line", "strings"),
    [
        ('name: "x type: "fc"', ["x", "fc"]),
        ("name: 'x type: 'fc'", ["x", "fc"]),
        ('layer { name: "x }', ["x"]),
        ('name: "of two words"', ["of two words"]),
        (r'name: "of \" words"', [r"of \" words"]),
        ("name: 'of \" words'", ['of " words']),
        ('name: "of two words" # that isn\'t all', ["of two words"]),
    ],
)
def test_a_string_whose_quote_is_missing_ends_with_its_first_word(line: str, strings: list[str]) -> None:
    for text in (line, f'other: "a: b"\n{line}\nother: "a: b"'):
        found = [token.word for token in lexer.tokens(text) if token.kind == lexer.STRING]
        assert [word for word in found if word != "a: b"] == strings
