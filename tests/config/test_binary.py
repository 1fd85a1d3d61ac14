"""Text, JSON and binary hold the same: protobuf's own readers as oracle, there and back without loss."""

from __future__ import annotations

import contextlib
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format, text_format
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.config import ConfigError, loads
from paddle_layers.config.conversion import FORMATS, converted, read_message, written
from paddle_layers.config.diagnostics.diagnostic import Source
from paddle_layers.config.diagnostics.report import DiagnosticReport
from paddle_layers.config.reading.syntax import read
from paddle_layers.config.writing.binary import message_of_binary, message_of_fields, text_of_binary
from paddle_layers.config.writing.descriptors import message_class
from paddle_layers.define.fields.attributes import Attribute
from paddle_layers.testing.cases.case import cases
from tests.config.test_mutations import DECODER, EXAMPLES, RESIDUAL, SEQUENCE
from tests.each import each

NETWORK = message_class("Network")
TEXTS = [RESIDUAL, SEQUENCE, DECODER]
TEXTS += [case.text() for name in sorted(pl.registry) for case in cases(pl.registry[name])]
ENDS = (".textproto", ".json", ".binpb")


def message(text: str) -> Any:
    return message_of_fields(read(DiagnosticReport(Source("", text))))


@each("text", TEXTS)
def test_all_formats_hold_the_same(text: str) -> None:
    made = message(text)
    assert made == text_format.Parse(text, NETWORK())
    assert made == json_format.Parse(written(made, "JSON"), NETWORK())
    for wanted in ("text", "JSON"):
        assert message(written(made, wanted).decode()) == made
    assert message_of_binary(written(made, "binary"), "x") == made
    assert pl.dumps(loads(text_of_binary(written(made, "binary"), "x"))) == pl.dumps(loads(text))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("way", list(itertools.permutations(ENDS)), ids=" ".join)
def test_examples_survive_every_way_round(path: Path, way: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "examples"
    folder.mkdir()
    for other in path.parent.iterdir():
        if other.is_file():
            (folder / other.name).write_bytes(other.read_bytes())
    source = folder / path.name
    before, _ = read_message(source)
    for number, end in enumerate(way):
        target = folder / f"step{number}{end}"
        target.write_bytes(converted(source, FORMATS[end])[0])
        source = target
    after, _ = read_message(source)
    assert after == before


SHIPPED = sorted((Path(__file__).parents[2] / "docs/examples").rglob("*.textproto"))
SHIPPED = [path for path in SHIPPED if path.parent.name != "plugin"]  # its layers are in a package of its own


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_shipped_config_survives_every_format(path: Path, tmp_path: Path) -> None:
    before, _ = read_message(path)
    for end in ENDS:
        target = tmp_path / f"out{end}"
        target.write_bytes(written(before, FORMATS[end]))
        assert read_message(target)[0] == before


AMBIGUOUS = [
    'schedule { type: "cosine" cosine { warmup: 200 } }',
    'schedule { type: "warmup" warmup { steps: 200 } }',
    'regularizer { type: "l1_l2" l1_l2 { l1: 0.5 l2: 0.25 } }',
    'source { type: "csv" csv { file: "a.csv" text: ["a", "b"] } }',
    'optimizer { type: "adadelta" adadelta { rho: 0.5 } }',
]
"""Settings that are also names of other types of their kind, and aliases of settings."""


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_settings_are_told_from_blocks_of_the_same_name(text: str) -> None:
    fields = read(DiagnosticReport(Source("", text)))
    made = message_of_fields([*fields, *read(DiagnosticReport(Source("", "steps: 1 batch_size: 1")))])
    kind = text.split(maxsplit=1)[0]
    block = getattr(made, kind)[0] if kind in ("schedule", "source") else getattr(made, kind)
    assert [field.name for field, _ in block.ListFields()] == ["type", block.type]
    again = message(written(made, "text").decode())
    assert again == made


# ---- generated networks


def values(attribute: Attribute[Any]) -> st.SearchStrategy[Any]:
    """Legal values of one attribute, its ends among them."""
    if attribute.options:
        return st.sampled_from(attribute.options)
    if attribute.type == "INT":
        low = attribute.min if attribute.min is not None else -(2**63)
        return st.integers(low, attribute.max if attribute.max is not None else 2**63 - 1)
    if attribute.type == "FLOAT":
        number = st.floats(allow_nan=False)
        return number.filter(lambda value: attribute.check_item(value) is None)
    if attribute.type == "BOOL":
        return st.booleans()
    return st.text(st.characters(codec="utf-8"), max_size=20)


@st.composite
def messages(draw: st.DrawFn) -> Any:
    """Networks of one layer with drawn settings, legal or not as a whole."""
    definition = pl.registry[draw(st.sampled_from(list(pl.registry)))]
    network = NETWORK(name=draw(st.text(st.characters(codec="utf-8"), max_size=10)))
    layer = network.layer.add(name="it", type=definition.name)
    layer.loss_weight.extend(draw(st.lists(st.floats(allow_nan=False), max_size=2)))
    block = getattr(layer, definition.name)
    for name, attribute in definition.attributes.items():
        if draw(st.booleans()):
            continue
        if attribute.repeated:
            getattr(block, name).extend(draw(st.lists(values(attribute), min_size=1, max_size=3)))
            continue
        value = draw(values(attribute))
        field = block.DESCRIPTOR.fields_by_name[name]
        setattr(block, name, field.enum_type.values_by_name[value].number if field.enum_type else value)
    return network


@given(messages())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_is_set_stays_set(made: Any) -> None:
    for wanted in ("text", "JSON"):
        assert message(written(made, wanted).decode()) == made
    assert message_of_binary(written(made, "binary"), "x") == made
    assert text_format.Parse(written(made, "text").decode(), NETWORK()) == made


def test_bits_of_floats_and_large_numbers_are_kept(tmp_path: Path) -> None:
    numbers = [0.1, 1e-320, 2.5e300, -0.0, float("inf"), float("-inf"), 1 / 3]
    made = NETWORK()
    made.layer.add(name='é \n"', type="relu").loss_weight.extend(numbers)
    for wanted in ("text", "JSON"):
        back = message(written(made, wanted).decode())
        assert [value.hex() for value in back.layer[0].loss_weight] == [value.hex() for value in numbers]
        assert back == made


# ---- faults


def refused(content: bytes) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        text_of_binary(content, "net.binpb")
    assert [d.code for d in caught.value.diagnostics] == ["E008"]
    return caught.value


def test_cut_or_foreign_binaries_are_refused() -> None:
    whole = written(message(RESIDUAL), "binary")
    refused(whole[:-3])
    refused(b"\xff\xff\xff\xff")
    refused(RESIDUAL.encode())


def test_an_unknown_field_is_named_with_its_place() -> None:
    made = message(RESIDUAL)
    layer = made.layer[1].SerializeToString() + b"\xf2\xff\x01\x00"  # field 4094, an empty text
    content = NETWORK(layer=[made.layer[0]]).SerializeToString() + b"\x12" + bytes([len(layer)]) + layer
    error = refused(content)
    assert "`layer[1]` has an unknown field with number 4094" in str(error)


def test_texts_that_are_no_utf_8_are_named_with_their_place() -> None:
    layer = b"\x0a\x01y\x1a\x02x\xff"  # name: "y" input: "x", and a byte that is no text
    assert "`layer[0].input[0]` is not UTF-8 text" in str(refused(b"\x12" + bytes([len(layer)]) + layer))


def test_deep_nesting_is_refused() -> None:
    refused(b"\xf3\x01" * 10_000)  # groups that begin and never end


def test_what_is_too_large_for_a_message_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "net.binpb"
    with path.open("wb") as file:
        file.truncate(2**31)  # a hole: takes no room
    with pytest.raises(ConfigError, match="the file has 2147483648 bytes; the maximum of a protobuf message is"):
        pl.load(path)


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_bytes_give_a_text_or_a_diagnostic(content: bytes) -> None:
    with contextlib.suppress(ConfigError):
        assert text_of_binary(content, "net.binpb").startswith("# proto-file")


def test_faults_in_a_binary_point_into_its_text(tmp_path: Path) -> None:
    made = message(RESIDUAL)
    made.layer[2].input[0] = "y"
    path = tmp_path / "net.binpb"
    path.write_bytes(written(made, "binary"))
    with pytest.raises(ConfigError) as caught:
        pl.load(path)
    assert "unknown input `y` of layer `conv1`" in str(caught.value)
    assert 'input: "y"' in str(caught.value)


# ---- the command


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        commands(["convert", *arguments])
    return int(str(stop.value.code))


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.textproto").write_text("# mine\n" + RESIDUAL)
    assert run("net.textproto", "net.json") == 0
    assert "without the comments" in capsys.readouterr().out
    assert len(json.loads(Path("net.json").read_text())["layer"]) == 10
    assert run("net.json", "net.binpb") == 0
    assert "comments" not in capsys.readouterr().out
    assert run("net.binpb", "net.json") == 1
    assert "net.json already exists" in capsys.readouterr().err
    assert run("net.binpb", "net.json", "--overwrite") == 0
    assert run("net.binpb", "net.yaml") == 2
    capsys.readouterr()
    assert run("net.binpb", "nowhere/net.json") == 1
    assert capsys.readouterr().err == "nowhere: no such folder\n"
    Path("wrong.textproto").write_text(RESIDUAL.replace('input: "x"', 'input: "z"', 1))
    assert run("wrong.textproto", "wrong.json") == 1
    assert "E203" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("net.binpb", "net.json", "net.textproto", "wrong.textproto")
    ]
