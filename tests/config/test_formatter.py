"""The formatter: fields and comments are kept in any layout, and the result stays as it is."""

from __future__ import annotations

import json
from random import Random

import pytest

from paddle_layers.config.binding.headers import spec
from paddle_layers.config.diagnostics.diagnostic import Source
from paddle_layers.config.diagnostics.report import DiagnosticReport
from paddle_layers.config.reading.fields import Fields
from paddle_layers.config.reading.lexer import COMMENT, tokens
from paddle_layers.config.reading.reader import read_text
from paddle_layers.config.writing.formatter import format_text
from paddle_layers.define import registries
from tests.each import each

DEEPEST = 4
HEADERS = {"layer": "Layer", "optimizer": "Optimizer", "schedule": "Schedule", "regularizer": "Regularizer"}
HEADERS |= {"callback": "Callback", "source": "Source", "transform": "Transform"}
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


@pytest.mark.parametrize("registry", HEADERS)
def test_attributes_move_into_the_block_of_their_type(registry: str) -> None:
    value = {"INT": "1", "FLOAT": "-0.5", "BOOL": "true", "STRING": "'a' 'b'", "CHOICE": "x"}
    layout = {"layer": "net {{ layer {{ {} }} }}", "transform": "source {{ transform {{ {} }} }}"}
    file = layout.get(registry, f"{registry} {{{{ {{}} }}}}") + " steps: 1"
    for definition in registries[registry].values():
        fields = spec(HEADERS[registry]).fields
        own = [one for one in definition.attributes.values() if one.name not in fields]
        texts = [f"{one.name}: {f'[{value[one.type]}]' if one.repeated else value[one.type]}" for one in own]
        type_ = f'type: "{definition.name}"'
        whole, rest = (f"{definition.name} {{ {' '.join(part)} }}" if part else "" for part in (texts, texts[1:]))
        wanted = without_places(format_text(file.format(f"{type_} {whole}")))
        gap = ", # why\n"
        for outside in (f"{type_}, {gap.join(texts)}", f"{type_} {' '.join(texts[:1])}; {rest}"):
            moved = format_text(file.format(outside))
            assert without_places(moved) == wanted
            assert format_text(moved) == moved
            assert comments(moved) == comments(outside)


def test_attributes_of_json_move_into_the_block_of_their_type() -> None:
    text = '{"source": [{"type": "csv", "file": "a.csv"}, {"type": "npz", "npz": {"file": "b"}}], "steps": 1e400}'
    moved = format_text(text)
    assert json.loads(moved)["source"][0] == {"type": "csv", "csv": {"file": "a.csv"}}
    assert json.loads(moved)["source"][1] == {"type": "npz", "npz": {"file": "b"}}
    assert "1e400" in moved
    twice = '{"optimizer": {"type": "sgd", "momentum": 1, "sgd": {"momentum": 2}}, "steps": 1}'
    assert json.loads(format_text(twice)) == json.loads(twice)


def test_what_is_no_attribute_stays() -> None:
    text = 'schedule { type: "cosine" warmup { steps: 5 } zigzag: 3 until: 5 }\nsteps: 1\n'
    assert format_text(text) == text


@each("seed", range(300))
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
