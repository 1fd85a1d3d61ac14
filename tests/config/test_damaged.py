"""Config files that no one writes by hand: a diagnostic at a place of the file, on the command line too."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.config import ConfigError, format_text, loads
from paddle_layers.config.diagnostics.report import KEPT
from paddle_layers.config.trainingfiles import load_training

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
SETTINGS = 'steps: 1\nbatch_size: 2\noptimizer { type: "sgd" learning_rate: 0.1 }\nsource { type: "digits" }\n'
LAYER = '{"name":"x","type":"data","data":{"shape":[8]}}'
WIDE = f'layer {{ name: "x" type: "data" data {{ shape: [{", ".join(["999999999"] * 600)}] }} }}\n'

CASES = {
    "a net that is text": ("t.textproto", f'net: ""\n{SETTINGS}', "t.textproto:1:6: error[E102]"),
    "a net that is a number": ("t.textproto", f"net: 5\n{SETTINGS}", "t.textproto:1:6: error[E102]"),
    "a net that is a list": ("t.textproto", f"net: [1]\n{SETTINGS}", "t.textproto:1:"),
    "a network of a long name": (
        "t.textproto",
        f'network: "{"x" * 5000}"\n{SETTINGS}',
        "t.textproto:1:10: error[E302]",
    ),
    "a network of no name": ("t.textproto", f'network: "a\\000b"\n{SETTINGS}', "t.textproto:1:10: error[E302]"),
    "half a character": ("n.json", f'{{"name":"\\ud800","layer":[{LAYER}]}}', "n.json:1:9: error[E006]"),
    "half a character in a name": ("n.json", f'{{"\\udfff":1,"layer":[{LAYER}]}}', "n.json:1:2: error[E006]"),
    "a number of many digits": ("n.json", LAYER.join(('{"layer":[', "]}")).replace("8", "9" * 5000), "error[E004]"),
    "a real number of many digits": ("n.json", f'{{"layer":[{LAYER}],"x":0.{"1" * 5000}}}', "error[E004]"),
    "many digits in text": ("n.textproto", f"layer {{ size: {'9' * 5000} }}", "n.textproto:1:15: error[E004]"),
    "a value too large to count": ("n.textproto", WIDE, "n.textproto:1:15: error[E209]"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "arguments", [["validate"], ["validate", "--format", "json"], ["show"], ["show", "--svg", "o.svg"]]
)
def test_the_command_line_says_it_in_a_line(tmp_path, monkeypatch, case, arguments):
    monkeypatch.chdir(tmp_path)
    name, text, words = CASES[case]
    Path(name).write_text(text)
    result = CliRunner().invoke(commands, [*arguments, name])
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    if "json" in arguments:
        assert json.loads(result.stdout)
    else:
        assert words in result.output


@pytest.mark.parametrize("case", ["half a character", "half a character in a name", "a number of many digits"])
@pytest.mark.parametrize("arguments", [["fmt"], ["fmt", "--stdout"], ["convert"]])
def test_other_commands_say_it_too(tmp_path, monkeypatch, case, arguments):
    monkeypatch.chdir(tmp_path)
    name, text, words = CASES[case]
    Path(name).write_text(text)
    more = ["out.textproto"] if arguments == ["convert"] else []
    result = CliRunner().invoke(commands, [*arguments, name, *more])
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert words in result.output
    assert Path(name).read_text() == text


def test_half_a_character_in_a_text_is_no_error_of_python():
    with pytest.raises(ConfigError, match=r"1:8: error\[E003\]: unpaired surrogate `\\ud800`"):
        pl.loads('name: "\ud800\\n"\nlayer { name: "x" type: "data" data { shape: [8] } }')


def test_a_string_ends_on_its_line():
    with pytest.raises(ConfigError, match=r"1:15: error\[E003\]: unterminated string\n.*\n.*\n.*add `'` at its end"):
        pl.loads('layer { name: \'x\n type: "data" }')


def test_both_halves_are_a_character():
    network = pl.loads(f'{{"name":"\\ud83d\\ude00","layer":[{LAYER}]}}')
    assert network.name == "\U0001f600"


def test_numbers_too_large_to_hold_stay_as_they_are_written():
    text = '{"layer":[],"a":[1e999,-1E+999,1.50,1e5,7,-0],"b":{},"c":"\\u00e4\\n","d":[true,false,null]}'
    formatted = format_text(text)
    assert formatted == format_text(formatted)
    assert "NaN" not in formatted
    assert "Infinity" not in formatted
    assert json.loads(formatted) == json.loads(text)
    sound = text.replace("1e999,-1E+999,", "")
    assert format_text(sound) == json.dumps(json.loads(sound), indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("name", ["x" * 300, "x" * 5000, "x\0y"])
@pytest.mark.parametrize("load", [pl.load, load_training])
def test_names_that_no_file_can_have(load, name):
    with pytest.raises(ConfigError):
        load(name)


PLUGINS = {
    "an open bracket": ("x = (\n", 1, 1),
    "other line ends": ('s = """\n' + "\u2028" * 30 + "\n\x0c\n" + " " * 2000 + '"""\nx = 1 +\n', 5, 1),
    "an indented fault": ("if True:\n    raise ValueError(1)\n", 2, 5),
    "a zero byte": ("x = 1\0\n", 1, 1),
    "many signs": ("x = " + "-" * 90_000 + "1", 1, 1),
    "no text": (b"\xff\xfe", 1, 1),
}


@pytest.mark.parametrize("case", PLUGINS)
def test_a_plugin_that_fails_has_a_place_in_its_file(tmp_path, case):
    content, line, column = PLUGINS[case]
    path = tmp_path / "mine.py"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError) as caught:
        pl.load(EXAMPLES / "digits" / "lenet.textproto", plugins=[path])
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.line, fault.column) == ("E402", line, column)
    for arguments in (["--plugins", str(path), "layers"], ["layers", "--plugins", str(path)]):
        result = CliRunner().invoke(commands, arguments)
        assert result.exit_code == 1
        assert isinstance(result.exception, SystemExit)
        assert "mine.py" in result.output


@pytest.mark.parametrize("name", ["x" * 300 + ".py", "x" * 5000, "x\0y.py"])
def test_plugins_that_no_file_can_be(name):
    with pytest.raises(ConfigError, match="E402"):
        pl.load(EXAMPLES / "digits" / "lenet.textproto", plugins=[name])


@pytest.mark.parametrize("count", [10, 999, 1000, 1001, 100_000])
@pytest.mark.parametrize(
    "layer", ['layer {{ name: "y" type: "fc" input: "x" fc {{ size: 3 {} }} }}', 'layer {{ name: "y" type: "fc" {} }}']
)
def test_one_layer_with_many_faults(layer: str, count: int) -> None:
    """A layer is first read by itself, where its faults must not be lost, however many there are."""
    wrong = " ".join(f"odd{number}: 3" for number in range(count))
    with pytest.raises(ConfigError) as error:
        loads(layer.format(wrong))
    assert len([fault for fault in error.value.diagnostics if fault.code == "E101"]) >= min(count, 999)


def test_one_layer_with_many_unknown_inputs() -> None:
    """The place of each is found without looking at all of them again."""
    inputs = " ".join(f'input: "q{number}"' for number in range(100_000))
    with pytest.raises(ConfigError) as error:
        loads(f'layer {{ name: "y" type: "concat" {inputs} }}')
    faults = error.value.diagnostics
    assert {fault.code for fault in faults} == {"E203"}
    assert len({fault.start for fault in faults}) == KEPT
