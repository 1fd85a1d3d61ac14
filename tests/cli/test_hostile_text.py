"""Text from configs, data, weights and arguments commands no terminal, breaks no log and no picture."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import paddle_layers
from paddle_layers.cli import app
from paddle_layers.cli.app import MODULES, commands
from paddle_layers.config import ConfigError, loads
from paddle_layers.define import escaping
from paddle_layers.define.escaping import CONTROL, printable, printable_line, xml_text
from paddle_layers.define.plugins.installed import plain
from paddle_layers.training.progress import Bar, LineProgress
from paddle_layers.training.results.curves import picture
from paddle_layers.training.results.records import CsvLog, read_records
from tests.each import each
from tests.training.helpers import SETTINGS, SOURCES, write

PACKAGE = Path(paddle_layers.__file__).parent
TURNS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
CONTROLS = [chr(code) for code in (*range(32), *range(127, 160))]
FORBIDDEN = {*CONTROLS, *TURNS, "\u2028", "\u2029", "\ud800", "\ufffe", "\uffff"}
HOSTILE = "a\x1b[31m\u202eb\x9bc\x00d\re\x7f\u2028"
"""What an attacker would write; no line break, which ends a text in a config."""

Run = Callable[..., Result]


def harmful(text: str) -> list[str]:
    """The characters of an output that a terminal may obey."""
    return sorted({character for character in text if character in FORBIDDEN - {"\n", "\t"}})


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in an empty folder; the output is harmless, and no error is the library's fault."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str) -> Result:
        result = CliRunner().invoke(commands, arguments)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert not harmful(result.stdout + result.stderr), arguments
        return result

    return invoke


# ---- the functions


def test_every_character_that_a_terminal_obeys_is_shown_by_its_number() -> None:
    for character in map(chr, range(0x110000)):
        obeyed = unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in FORBIDDEN
        assert bool(CONTROL.search(character)) == obeyed, hex(ord(character))
    assert printable("a\tb\nc\r\x1b\u202e") == "a\tb\nc\\x0d\\x1b\\u202e"
    assert printable_line("a\tb\nc") == "a\\x09b\\x0ac"
    assert printable("Größe/日本語 x.y [red] 👍") == "Größe/日本語 x.y [red] 👍"


def test_text_for_xml() -> None:
    for character in FORBIDDEN:
        ET.fromstring(f'<a b="{xml_text(character)}">{xml_text(character)}</a>')
    assert ET.fromstring(f"<a>{xml_text('<b> & c')}</a>").text == "<b> & c"


# ---- commands


@pytest.mark.parametrize("name", [name for name in MODULES if name not in ("lsp", "docs", "stubs", "new")])
def test_every_command_shows_its_arguments_unharmed(run: Run, name: str) -> None:
    argument = HOSTILE.replace("\x00", "")  # no argument of a process has it
    for arguments in ([argument], [f"--{argument}"], [argument, f"{argument}.textproto"], ["--plugins", argument]):
        run(name, *arguments)
        run(*arguments)


def test_the_check_notices_what_is_not_escaped(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(escaping, "printable", str)
    with pytest.raises(AssertionError):
        run("layers", HOSTILE)


def test_warnings_and_faults_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    app._show_warning(UserWarning(HOSTILE))
    app._show_fault(ValueError, ValueError(HOSTILE), None)
    shown = capsys.readouterr().err
    assert shown.count("\\x1b") == 2
    assert not harmful(shown)


def test_commands_print_through_one_place() -> None:
    """`fmt --stdout` gives the file itself."""
    found = {
        path.name for path in (PACKAGE / "cli").rglob("*.py") if re.search(r"click\.echo|\bprint\(", path.read_text())
    }
    assert found == {"terminal.py", "configs.py"}
    for path in (PACKAGE / "training").glob("*.py"):
        assert not re.search(r"\bprint\((?!printable\()", path.read_text()), path


NET = """\
name: "@net"
layer { name: "x@name" type: "data" data { shape: 4 } }
layer { name: "label" type: "data@type" data { data_type: INT@word size: 3 } } # @comment
layer { name: "y" type: "fc" input: "x@input" fc { size: 3 act: "relu@act" } output: "z@output" @field: 3
  param { of: "weight@of" share: "w@share" init { type: "constant@init" } } }
layer { name: "cost" type: "softmax_with_loss" input: "z" input: "label" @raw }
"""
PLACES = re.findall(r"@(\w+)", NET)
COMMANDS = (
    ("validate",),
    ("validate", "--format", "json"),
    ("validate", "--format", "github"),
    ("show",),
    ("show", "--plan"),
    ("fmt", "--check"),
    ("warm",),
)


def net_with(text: str, place: str) -> str:
    return re.sub(r"@(\w+):?", lambda match: text if match[1] == place else "", NET.replace("@field: 3", "@field"))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", [HOSTILE, "".join(f"\\x{ord(c):02x}" for c in "\x1b\r\n\x00"), r"\u202e\u2028\u009b"])
def test_configs(run: Run, tmp_path: Path, place: str, text: str) -> None:
    for name in ("net.textproto", "net\x1b\u202e.textproto"):
        (tmp_path / name).write_text(net_with(text, place), newline="")
        shown = {command: run(*command, name) for command in (COMMANDS if name.startswith("net.") else COMMANDS[:3])}
        json.loads(shown["validate", "--format", "json"].stdout)
    if place in ("name", "output", "share"):
        assert "error[E117]" in shown["validate",].stderr


def test_json_keeps_the_characters_in_escapes(run: Run, tmp_path: Path) -> None:
    (tmp_path / "net.textproto").write_text(net_with("\u202e\x9b", "type"))
    faults = json.loads(run("validate", "--format", "json", "net.textproto").stdout)
    assert any("data\u202e\x9b" in fault["message"] for fault in faults)


@each("character", sorted(FORBIDDEN - {"\ud800"}))
@each("quoted", [False, True])
def test_names_have_no_control_characters(character: str, quoted: bool) -> None:
    if quoted and character in '\n"':
        return
    code = character if quoted else f"\\u{ord(character):04x}"
    with pytest.raises(ConfigError) as caught:
        loads(f'layer {{ name: "x{code}" type: "data" data {{ shape: 4 }} }}')
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.line, fault.column) == ("E117", 1, 15)
    with pytest.raises(ConfigError):
        loads(json.dumps({"layer": [{"name": f"x{character}", "type": "data", "data": {"shape": 4}}]}))


@pytest.mark.parametrize("name", ["a b", "a/b", "a.b", "größe", "日本語", "[red]", 'a,"b"', "a\u200db", "👍", "<&>"])
def test_other_names_stay_legal_and_are_shown_and_drawn(run: Run, tmp_path: Path, name: str) -> None:
    quoted = json.dumps(name, ensure_ascii=False)
    text = f"name: {quoted} layer {{ name: {quoted} type: 'data' data {{ shape: 4 }} }}"
    (tmp_path / "net.textproto").write_text(text)
    assert run("show", "net.textproto").stdout.count(name) == 2
    run("show", "net.textproto", "--svg", "net.svg")
    words = [element.text for element in ET.parse(tmp_path / "net.svg").iter()]
    assert words.count(name) == 2


def test_the_caret_stands_under_what_is_wrong() -> None:
    with pytest.raises(ConfigError) as caught:
        loads('layer { name: "y" type: "f\x1b\u202e"\t\t input: "z\x9b" }')
    assert not harmful(str(caught.value))
    lines = pairwise(str(caught.value).split("\n"))
    marked = [line[caret.index("^") : len(caret)] for line, caret in lines if caret.startswith("      | ")]
    assert marked == [r'"f\x1b\u202e"', r'"z\x9b"']


def test_a_networks_name_stays_on_its_line_and_in_its_picture(run: Run, tmp_path: Path) -> None:
    title = '"a\\nb\\x1b[31m[red]:smile:\\x00\\u202e"'
    (tmp_path / "net.textproto").write_text(net_with("", "").replace('name: ""', f"name: {title}"))
    assert run("show", "net.textproto").stdout.startswith(r"a\x0ab\x1b[31m[red]:smile:\x00\u202e")
    run("show", "net.textproto", "--svg", "net.svg")
    assert next(ET.parse(tmp_path / "net.svg").iter("{http://www.w3.org/2000/svg}title")).text


# ---- training


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "150")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    lines = io.StringIO()
    shown = LineProgress(lines)
    shown.say(HOSTILE)
    shown.report(1, 2, {HOSTILE: 1.0})
    assert not harmful(lines.getvalue())
    terminal = Terminal()
    bar = Bar(terminal)
    bar.compiling(1, 3, "\x9b\u202e[bold]")
    bar.say("[red] \x9b\u202e :smile:")
    bar.step(1, 2, {"\x9b\u202e[blue]": 1.0}, 3)
    bar.close()
    text = terminal.getvalue()
    assert "[red] \\x9b\\u202e :smile:" in text
    assert "\\x9b\\u202e[blue] 1" in text
    assert not set(text) & {"\x9b", "\u202e"}


def test_the_log_takes_any_name(tmp_path: Path) -> None:
    names = ["a,b", 'c"d', " e", "größe", "f'g", ""]
    path = tmp_path / "log.csv"
    facts = {"epoch": 0, "phase": "train", "loss": 1.0, **dict.fromkeys(names, 0.5)}
    CsvLog(path, names).add({"step": 1, **facts})
    log = CsvLog(path, names, {"train": 1, "test": 1})
    log.add({"step": 2, **facts})
    assert [line["step"] for line in read_records(path)] == ["1", "2"]
    for name in names:
        assert log.series("train", name) == [(1, 0.5), (2, 0.5)]
    ET.fromstring(picture(HOSTILE, {name: {name: log.series("train", name)} for name in names}))


ODD = ["step", "loss", "phase", 'a,"b"', "step.accuracy", "[red]"]
ODD_NET = """
net {
  name: "small"
  layer { name: "x" type: "data" data { shape: [8] } }
  layer { name: "label" type: "data" data { data_type: INT size: 3 } }
  layer { name: "fc" type: "fc" input: "x" fc { size: 3 } }
  layer { name: "cost" type: "softmax_with_loss" input: "fc" input: "label" }
""" + "".join(f"  layer {{ name: {json.dumps(n)} type: 'accuracy' input: 'fc' input: 'label' }}\n" for n in ODD)


def test_a_training_with_statistics_that_are_called_like_columns(run: Run, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("".join(f"word{number}\x1b[31m\u202e\x9b\x00\n" for number in range(3)))
    said = 'callback { type: "print" print { values: "fc" best: 1 every: 5 dictionary: "words.txt" } }\n'
    settings = SETTINGS.replace("steps: 30", "steps: 10").replace("checkpoint { every: 10 }", "checkpoint { every: 5 }")
    write(tmp_path, ODD_NET + "}\n" + SOURCES + said + settings)
    result = run("train", "train.textproto", "--output", "out")
    assert result.exit_code == 0, result.output
    assert "\\x1b" in result.stderr
    write(tmp_path, ODD_NET + "}\n" + SOURCES + said + settings.replace("steps: 10", "steps: 20"))
    assert run("train", "train.textproto", "--output", "out", "--resume").exit_code == 0
    with (tmp_path / "out/log.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    short = {"step": "step.accuracy", "loss": "loss.accuracy", "phase": "phase.accuracy"}
    columns = [short.get(name, name) for name in ODD if name != "step.accuracy"] + ["step.accuracy.accuracy"]
    assert sorted(columns) == sorted(list(lines[0])[6:])
    assert [line["step"] for line in lines if line["phase"] == "train"] == ["5", "10", "15", "20"]
    assert all(0 <= float(line[column]) <= 1 for line in lines for column in columns)
    ET.parse(tmp_path / "out/curve.svg")

    predicted = run("predict", "train.textproto", "--weights", "out/weights.safetensors", "--dictionary", "words.txt")
    assert "\\x1b" in predicted.stdout


def test_names_in_data_and_weights(run: Run, tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    write(tmp_path, ODD_NET + "}\n" + SOURCES + SETTINGS)
    save_file({HOSTILE: np.zeros(3, np.float32)}, tmp_path / "bad.safetensors")
    assert "\\x1b" in run("train", "train.textproto", "--output", "out", "--weights", "bad.safetensors").stderr
    (tmp_path / "rows.csv").write_text(f"{HOSTILE.replace(chr(13), '')},label\n1,2\n")
    source = 'source { type: "csv" csv { file: "rows.csv" } }\n'
    write(tmp_path, ODD_NET + "}\n" + source + SETTINGS)
    assert run("train", "train.textproto", "--output", "other").exit_code == 1


def test_the_words_of_an_installed_plugin() -> None:
    assert plain(f"{HOSTILE}\n") == r"a\x1b[31m\u202eb\x9bc\x00d e\x7f"
