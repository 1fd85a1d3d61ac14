"""The formatter: fields and comments are kept in any layout, and the result stays as it is."""

from __future__ import annotations

from random import Random

import pytest

from paddle_layers.config.diagnostics.diagnostic import Source
from paddle_layers.config.diagnostics.report import DiagnosticReport
from paddle_layers.config.reading.fields import Fields
from paddle_layers.config.reading.lexer import COMMENT, tokens
from paddle_layers.config.reading.reader import read_text
from paddle_layers.config.writing.formatter import format_text

DEEPEST = 4
GAPS = (*[" "] * 7, "\n", "\n\n\n", " # beside\n", "\n# alone\n", "\n\n# alone\n\n")
SCALARS = (["1"], ["-1.5"], ["-", "inf"], ["INT"], ['"a b"'], [r'"\""'], ['"a"', '"b"'], ["'x'", "'y'"], ['"x"', "'y'"])


@pytest.mark.parametrize(
    ("text", "formatted"),
    [
        ("x: - inf", "x: - inf\n"),
        ("x: 'a'   'b'", "x: 'a' 'b'\n"),
        ("x: 1 # a\n, # b", "x: 1  # a\n# b\n"),
        ("# a {\n\n\nx: 1", "# a {\n\nx: 1\n"),
        ("x {\n\n y: 1\n\n}", "x {\n  y: 1\n}\n"),
        ("x: # a\n[1]", "x:  # a\n[1]\n"),
        ("x: [1, # a\n2,3]", "x: [\n  1,  # a\n  2,\n  3\n]\n"),
        ("x: [ # a\n{y: 1, z: 2}, {y: 3\n} ]", "x: [  # a\n  { y: 1 z: 2 },\n  {\n    y: 3\n  }\n]\n"),
    ],
)
def test_layout(text: str, formatted: str) -> None:
    assert format_text(text) == formatted


@pytest.mark.parametrize("seed", range(300))
def test_any_layout_keeps_fields_and_comments(seed: int) -> None:
    rng = Random(seed)
    text = " ".join(token + rng.choice(GAPS) for token in random_fields(rng, 0))
    formatted = format_text(text)
    assert without_places(formatted) == without_places(text)
    assert comments(formatted) == comments(text)
    assert format_text(formatted) == formatted


def random_fields(rng: Random, depth: int) -> list[str]:
    """Tokens of some fields, between which there may be any gap."""
    written: list[str] = []
    for name in rng.choices("abc", k=rng.randrange(4)):
        value = rng.choice((random_scalar, random_block, random_list) if depth < DEEPEST else (random_scalar,))
        colon = [":"] if value is not random_block or rng.random() < 0.5 else []
        written += [name, *colon, *value(rng, depth), *rng.choice(([], [","], [";"]))]
    return written


def random_scalar(rng: Random, _depth: int) -> list[str]:
    return rng.choice(SCALARS)


def random_block(rng: Random, depth: int) -> list[str]:
    opening, closing = rng.choice(("{}", "<>"))
    return [opening, *random_fields(rng, depth + 1), closing]


def random_list(rng: Random, depth: int) -> list[str]:
    written: list[str] = []
    for number in range(rng.randrange(4)):
        value = rng.choice((random_scalar, random_block))
        written += [*([","] if number else []), *value(rng, depth + 1)]
    return ["[", *written, "]"]


def without_places(text: str) -> list[object]:
    report = DiagnosticReport(Source("", text))
    fields = read_text(text, report)
    assert not report.diagnostics
    return values(fields)


def values(fields: Fields) -> list[object]:
    return [(name, kind, values(value) if isinstance(value, list) else value) for name, kind, value, _, _ in fields]


def comments(text: str) -> list[str]:
    return [token.text.rstrip() for token in tokens(text) if token.kind == COMMENT]
