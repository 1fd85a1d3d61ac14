"""Fields from the command line in the place of a file's: `--set`."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.config import load_training
from paddle_layers.config.diagnostics.rendering import render_json, render_text

NETWORK = """
name: "small"
layer { name: "x" type: "data" data { shape: [1, 8, 8] } }
layer { name: "label" type: "data" data { data_type: INT size: 10 } }
layer { name: "fc1" type: "fc" input: "x" fc { size: 6 act: "relu" } }
layer { name: "fc2" type: "fc" input: "fc1" fc { size: 10 } }
layer { name: "cost" type: "softmax_with_loss" input: "fc2" input: "label" }
"""
TRAINING = """
network: "net.textproto"
source { type: "digits" digits { part: train } }
source { type: "digits" phase: "test" digits { part: test } }
feed { input: "x" field: "pixels" }
optimizer { type: "sgd" learning_rate: 0.1 sgd { momentum: 0.5 } }
epochs: 2
"""


@pytest.fixture(params=["file", "inline", "JSON"])
def path(tmp_path, request):
    """The same training three times."""
    file = tmp_path / "train.textproto"
    (tmp_path / "net.textproto").write_text(NETWORK)
    file.write_text(TRAINING)
    if request.param == "inline":
        file.write_text(TRAINING.replace('network: "net.textproto"', f"net {{ {NETWORK} }}"))
    if request.param == "JSON":
        block = {"type": "sgd", "learning_rate": 0.1, "sgd": {"momentum": 0.5}}
        sources = [{"type": "digits", "digits": {"part": "train"}}]
        sources.append({"type": "digits", "phase": "test", "digits": {"part": "test"}})
        fields = {"network": "net.textproto", "source": sources, "optimizer": block, "epochs": 2}
        file.write_text(json.dumps({**fields, "feed": [{"input": "x", "field": "pixels"}]}))
    return file


def load(path, *settings):
    return load_training(path, settings=settings)


def test_values_in_the_place_of_others(path):
    found = load(
        path,
        "optimizer.learning_rate=1e-2",
        "optimizer.momentum=0.75",
        "epochs=",
        "steps=7",
        "output=out/a b",
        'net.layer[fc1].fc.act="tanh"',
        "net.layer[3].fc.size=12",
        "source[test].digits.part=train",
        "source[0].shuffle=false",
        "log.format=[jsonl, tensorboard]",
        "schedule.type=cosine",
        "schedule.floor=0.5",
        "clip.norm=2",
    )
    assert (found.optimizer.learning_rate, found.optimizer.attributes["momentum"]) == (0.01, 0.75)
    assert (found.epochs, found.steps, found.output) == (None, 7, "out/a b")
    assert found.log.format == ("jsonl", "tensorboard")
    assert dict(found.network["fc1"].attributes)["act"] == "tanh"
    assert found.network["fc2"].attributes["size"] == 12
    assert found.network["fc1"].attributes["size"] == 6
    assert [one.attributes["part"] for one in found.source] == ["train", "train"]
    assert (found.source[0].shuffle, found.clip.norm) == (False, 2)
    assert (found.schedule[0].type, found.schedule[0].attributes["floor"]) == ("cosine", 0.5)


def test_another_type_has_other_settings(path):
    found = load(path, "optimizer.type=adam", "optimizer.beta1=0.8")
    assert (found.optimizer.type, found.optimizer.attributes["beta1"]) == ("adam", 0.8)


def faults(path, *settings):
    with pytest.raises(pl.ConfigError) as error:
        load(path, *settings)
    return error.value.diagnostics


@pytest.mark.parametrize(
    ("setting", "code", "column", "message"),
    [
        ("optimizer.learning_rate=-1", "E103", 25, "`learning_rate` is -1"),
        ("optimizer.lr=1", "E101", 11, "has no field `lr`"),
        ("optimizer.momentum=high", "E102", 20, "must be a number"),
        ("optimiser.type=adam", "E101", 1, "has no field `optimiser`"),
        ("net.layer[fc1].fc.size=0", "E103", 24, "`size` is 0"),
        ("net.layer[fc1].fc.sise=4", "E101", 19, "has no attribute `sise`"),
        ("net.layer[fc3].fc.size=4", "E316", 5, "`fc3` matches none of the 5 `layer` blocks"),
        ("source.shuffle=true", "E316", 1, "there are 2 `source` blocks"),
        ("batch_size", "E316", 1, "expected a field, `=` and a value"),
        ("=3", "E316", 1, "expected a field, `=` and a value"),
        ("steps=3", "E303", 1, "mutually exclusive"),
    ],
)
def test_what_is_wrong_has_its_place(path, setting, code, column, message):
    (found,) = faults(path, "seed=1", setting)
    assert (found.code, found.file, found.line, found.column) == (code, "--set", 2, column)
    assert message in found.message
    assert f"--set:2:{column}: error[{code}]" in render_text([found])
    assert f"    2 | {setting}\n" in render_text([found])
    assert json.loads(render_json([found]))[0]["file"] == "--set"


def test_faults_of_the_file_keep_their_places(path):
    path.write_text(path.read_text().replace("0.1", "-0.1"))
    found = faults(path, "batch_size=0")
    assert [one.file for one in found] == [str(path), "--set"]
    assert found[0].line == path.read_text()[: path.read_text().index("-0.1")].count("\n") + 1


def test_on_the_command_line(tmp_path, path, monkeypatch):
    monkeypatch.chdir(path.parent)
    given = ["--set", "net.layer[fc1].fc.size=7", "--set", "epochs=", "--set", "steps=2", "--set", "output=out"]
    result = CliRunner().invoke(commands, ["train", path.name, *given])
    assert result.exit_code == 0, result.output
    assert "predict train.textproto --set 'net.layer[fc1].fc.size=7'" in result.output
    with pl.Net(load(path, "net.layer[fc1].fc.size=7").network) as net:
        net.load(path.parent / "out" / "weights.safetensors")
    result = CliRunner().invoke(commands, ["evaluate", path.name, *given])
    assert result.exit_code == 0, result.output
    result = CliRunner().invoke(commands, ["validate", path.name, "--set", "seed=-1"])
    assert result.exit_code == 1
    assert "--set:1:6: error[E103]" in result.output
