"""The commands: results on stdout, messages on stderr, exit status 0, 1 or 2, no traceback for a user's mistake."""

from __future__ import annotations

import csv
import importlib
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import paddle_layers as pl
from paddle_layers.cli.app import GROUPS, MODULES, USER_ERRORS, commands
from paddle_layers.cli.files import replace_file
from paddle_layers.config import ConfigWarning
from paddle_layers.define.machine import as_bytes
from paddle_layers.define.output_folders import Folder
from paddle_layers.runtime.devices import open_device
from paddle_layers.runtime.devices.cpu import peaks, pool
from paddle_layers.runtime.profile import step
from tests.benchmarks.networks import residual

NET = """\
name: "small"
layer { name: "x" type: "data" data { shape: 4 } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "y" type: "fc" input: "x" fc { size: 3 act: "relu" } }
layer { name: "cost" type: "softmax_with_loss" input: "y" input: "label" }
"""

PLUGIN = '''
import paddle_layers as pl

@pl.layer("triple")
class Triple:
    """Three times."""
    examples = (pl.Example(x="3"),)
    x = pl.Input("...", "values")
    y = pl.Output("...", "three times `x`")

@pl.each(Triple.y)
def triple_y(i, x):
    return 3.0 * x[i]

@pl.gradient(Triple.x)
def triple_dx(i, dy):
    return 3.0 * dy[i]
'''

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in a folder with `net.textproto`; an error that is no user's fault fails the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pl.registry, "_entries", {name: pl.registry[name] for name in pl.registry})
    (tmp_path / "net.textproto").write_text(NET)

    def invoke(*arguments: str, status: int = 0) -> Result:
        result = CliRunner().invoke(commands, arguments)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code == status, result.output
        return result

    return invoke


def test_help_names_every_command(run: Run) -> None:
    text = run("--help").stdout
    assert all(f"\n  {name} " in text for name in MODULES)
    assert all(f"\n{title}:\n" in text for title in GROUPS)
    # Sentences that do not fit into a line are wrapped.
    assert "..." not in text.replace("[ARGS]...", "") + run("schema", "--help").stdout.replace("[ARGS]...", "")


@pytest.mark.parametrize("name", MODULES)
def test_every_command_has_help_and_takes_plugins(run: Run, name: str) -> None:
    assert "--plugins" in run(name, "--help").stdout


def test_wrong_usage_is_status_2(run: Run) -> None:
    assert "did you mean `validate`" in run("validat", status=2).stderr
    run("validate", status=2)
    run("validate", "net.textproto", "--format", "xml", status=2)
    run("fmt", "--check", "--stdout", "net.textproto", status=2)
    run("train", "train.textproto", "--resume", "--overwrite", status=2)


# ---- validate, explain, fmt


def test_too_little_memory_is_no_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 3. TiB")

    monkeypatch.setattr("paddle_layers.training.train", none)
    done = run("train", "train.textproto", status=1)
    assert done.stderr == "out of memory: Unable to allocate 3. TiB\n"


def test_validate_says_what_it_has(run: Run) -> None:
    assert run("validate", "net.textproto").stdout == "net.textproto: valid, a network of 4 layers\n"


def test_validate_reports_all_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.textproto").write_text(NET.replace("size: 3 act", "sise: 3 act"))
    (tmp_path / "b.textproto").write_text(NET.replace('"relu"', '"relo"'))
    result = run("validate", "a.textproto", "net.textproto", "b.textproto", "missing.textproto", status=1)
    assert result.stdout == "net.textproto: valid, a network of 4 layers\n"
    lines = [line for line in result.stderr.splitlines() if ": error[" in line]
    assert [line.split(":")[0] for line in lines] == ["a.textproto", "b.textproto", "missing.textproto"]


def test_validate_json(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.textproto").write_text(NET.replace('"relu"', '"relo"'))
    (fault,) = json.loads(run("validate", "--format", "json", "a.textproto", status=1).stdout)
    assert (fault["file"], fault["line"], fault["severity"]) == ("a.textproto", 4, "error")
    assert {"column", "end_column", "code", "message", "help", "notes"} <= set(fault)
    assert json.loads(run("validate", "--format", "json", "net.textproto").stdout) == []


def test_warnings_are_shown_and_the_file_is_valid(run: Run, tmp_path: Path) -> None:
    """By `validate` as diagnostics, by commands that use the file on stderr, from Python as a warning."""
    odd = NET.replace('name: "cost"', 'name: "idle" type: "fc" input: "x" fc { size: 3 } }\nlayer { name: "cost"')
    (tmp_path / "odd.textproto").write_text(odd)
    result = run("validate", "odd.textproto")
    assert result.stdout == "odd.textproto: valid, a network of 5 layers\n"
    assert re.match(r"odd.textproto:\d+:15: warning\[W004\]: no loss depends on layer `idle`", result.stderr)
    (fault,) = json.loads(run("validate", "--format", "json", "odd.textproto").stdout)
    assert (fault["code"], fault["severity"]) == ("W004", "warning")
    assert run("validate", "--format", "github", "odd.textproto").stdout.startswith("::warning file=odd.textproto")
    command = [sys.executable, "-m", "paddle_layers", "show", "odd.textproto"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, result.stderr)
    with pytest.warns(ConfigWarning, match="W004") as caught:
        pl.load(tmp_path / "odd.textproto")
    assert [one.code for one in caught[0].message.diagnostics] == ["W004"]


def test_validate_github(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.textproto").write_text(NET.replace('"relu"', '"relo"'))
    assert run("validate", "--format", "github", "a.textproto", status=1).stdout.startswith(
        "::error file=a.textproto,line=4"
    )
    assert run("validate", "--format", "github", "net.textproto").stdout == ""


def test_a_file_that_is_no_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bytes.textproto").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in run("validate", "bytes.textproto", status=1).stderr
    assert "folder" in run("validate", str(tmp_path), status=1).stderr


def test_explain(run: Run) -> None:
    codes = run("explain").stdout.split()
    assert "E101" in codes
    assert "Wrong:" in run("explain", "e101").stdout
    assert "unknown code `E1O1`" in run("explain", "E1O1", status=1).stderr


def test_fmt(run: Run, tmp_path: Path) -> None:
    untidy = NET.replace("layer { name", "layer  {  name") + "# end\n"
    file = tmp_path / "net.textproto"
    file.write_text(untidy)
    shown = run("fmt", "--stdout", "net.textproto").stdout
    assert file.read_text() == untidy
    run("fmt", "--check", "net.textproto", status=1)
    run("fmt", "net.textproto")
    assert file.read_text() == shown
    assert "# end" in shown
    run("fmt", "--check", "net.textproto")


def test_fmt_of_a_faulty_file_changes_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "net.textproto").write_text("layer { name: ")
    assert "error[" in run("fmt", "net.textproto", status=1).stderr
    assert (tmp_path / "net.textproto").read_text() == "layer { name: "


def test_replacing_a_text_keeps_its_mode_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    file.chmod(0o600)
    modes: list[int] = []
    rename = Folder.replace

    def replace(folder: Folder, name: str, new: str) -> None:
        modes.append((tmp_path / name).stat().st_mode & 0o777)
        rename(folder, name, new)

    monkeypatch.setattr(Folder, "replace", replace)
    replace_file(file, b"new")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o600)
    assert modes == [0o600], "others can never read it"
    assert list(tmp_path.iterdir()) == [file]


# ---- show, layers, docs, plugins


def test_show(run: Run) -> None:
    lines = run("show", "net.textproto").stdout.splitlines()
    assert lines[0].strip() == "small"
    (row,) = (line.split() for line in lines if line.startswith("y "))
    assert row[:6] == ["y", "fc", "+", "relu", "x", "3"]
    assert "15" in row
    assert lines[-1].startswith("total, batch size 64")


def test_show_has_the_memory_of_the_device_that_is_asked_for(run: Run, tmp_path: Path) -> None:
    (tmp_path / "image.textproto").write_text(residual(8, 8, 8).text(loss=True))
    shown = {device: run("show", "image.textproto", "--device", device).stdout for device in ("cpu", "cuda")}
    assert shown["cpu"] == run("show", "image.textproto").stdout != shown["cuda"]


def test_show_lists_what_is_inside_of_a_layer_below_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "lstm.textproto").write_text(
        'layer { name: "x" type: "data" data { shape: 5 seq_nested_level: 1 } }'
        'layer { name: "y" type: "simple_lstm" input: "x" simple_lstm { size: 2 } }'
    )
    lines = run("show", "lstm.textproto").stdout.splitlines()
    places = [line.split()[0] for line in lines]
    at = places.index("y")
    assert places[at : at + 3] == ["y", "gates", "lstm"]
    assert lines[at + 1].startswith("  gates")
    assert "40" in lines[at + 1].split()


@pytest.mark.parametrize("name", ["net.png", "net.json", "net"])
def test_a_picture_is_svg(run: Run, tmp_path: Path, name: str) -> None:
    result = run("show", "net.textproto", "--svg", name, status=2)
    assert f"{name}: unsupported extension; expected .svg" in result.stderr
    assert not (tmp_path / name).exists()


def test_show_svg(run: Run, tmp_path: Path) -> None:
    result = run("show", "net.textproto", "--svg", "net.svg")
    assert result.stdout == ""
    texts = [text.text for text in ET.parse(tmp_path / "net.svg").iter("{http://www.w3.org/2000/svg}text")]
    assert {"x", "y", "cost", "fc + relu", "15 parameters"} <= set(texts)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measurements that take no time."""
    monkeypatch.setattr(step, "SECONDS", 0.01)
    monkeypatch.setattr(peaks, "SECONDS", 0.01)
    monkeypatch.setattr(peaks, "NUMBERS", 1 << 16)
    monkeypatch.setattr(pool._Limit, "threads", None)


@pytest.mark.usefixtures("short")
def test_show_time(run: Run, tmp_path: Path) -> None:
    result = run("show", "--time", "net.textproto", "--batch-size", "3", "--threads", "1", "--svg", "net.svg")
    lines = result.stdout.splitlines()
    assert lines[0] == "phase train, batch size 3, float32, 1 thread"
    assert re.fullmatch(r"measured peak: \d+ GFLOP/s, [\d.]+ GB/s memory bandwidth", lines[1])
    assert [line.split()[0] for line in lines[4:8]] == ["y", "backward", "cost", "backward"]
    assert "whole step" in result.stdout
    shares = [float(share) for line in lines[-3:] for share in re.findall(r"([\d.]+) %", line)[:1]]
    assert shares[2] == 100
    assert shares[0] + shares[1] == pytest.approx(100, abs=0.2)
    drawn = ET.parse(tmp_path / "net.svg").iter("{http://www.w3.org/2000/svg}text")
    times = [text.text or "" for text in drawn if (text.text or "").startswith("forward ")]
    assert len(times) == 2
    assert all(re.fullmatch(r"forward [\d.e+]+ [mu]?s, backward [\d.e+]+ [mu]?s", text) for text in times)
    assert "backward" not in run("show", "--time", "net.textproto", "--phase", "test").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "--threads", "1", "net.textproto"], "--threads requires --time"),
        (["show", "--time", "--plan", "net.textproto"], "mutually exclusive"),
        (["show", "--time", "--html", "net.html", "net.textproto"], "mutually exclusive"),
        (["show", "--time", "--device", "cuda", "net.textproto"], "--time profiles the CPU"),
        (["train", "--threads", "100000", "net.textproto"], "available to this process"),
        (["predict", "--threads", "0", "net.textproto"], "--threads"),
    ],
)
def test_options_that_do_not_go_together(
    run: Run, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool._Limit, "threads", None)  # what `--threads` sets stays in a process
    assert message in " ".join(run(*arguments, status=2).stderr.split())


def test_show_selects_a_phase(run: Run, tmp_path: Path) -> None:
    (tmp_path / "net.textproto").write_text(
        NET + 'layer { name: "hits" type: "accuracy" input: "y" input: "label" include { phase: "test" } }\n'
    )
    assert "hits" in run("show", "net.textproto", "--phase", "test").stdout
    assert "hits" not in run("show", "net.textproto", "--phase", "train").stdout


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (150 << 20, "150 MiB"), (3 << 40, "3.0 TiB")]
)
def test_memory_in_words(size: int, text: str) -> None:
    assert as_bytes(size) == text


def test_layers(run: Run) -> None:
    text = run("layers").stdout
    assert all(f"\n  {name} " in text for name in pl.registry)
    assert run("layers", "sgd").stdout.startswith("# sgd\n")
    assert "did you mean `relu`" in run("layers", "relo", status=1).stderr


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("value_printer_evaluator", "Paddle's `value_printer` is the callback `print` here"),
        ("sum_evaluator", "Paddle's `sum` is called `row_sum` here"),
        ("acuracy", "did you mean `accuracy`?"),
    ],
)
def test_layers_of_a_name_elsewhere_says_what_it_is_here(run: Run, name: str, hint: str) -> None:
    assert f"unknown layer `{name}`; {hint}" in run("layers", name, status=1).stderr


def test_layers_searches_for_what_is_no_name(run: Run) -> None:
    found = run("layers", "InnerProduct")
    assert found.stdout.startswith("# fc\n")
    assert found.stderr == "`InnerProduct` is the layer `fc`.\n"
    assert {"  batch_norm (layer) ", "  layer_norm (layer) "} <= {
        line[:21] for line in run("layers", "norm").stdout.splitlines()
    }
    assert "unknown layer `frobnicate`" in run("layers", "frobnicate", status=1).stderr


def test_docs(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands on a page, and that there are all, is in test_pages.py and test_refresh.py."""
    monkeypatch.setattr("paddle_layers.codegen.reference.page", lambda definition, **_: f"# {definition.name}\n")
    assert "; open pages/index.md" in run("docs", "pages").stdout
    assert (tmp_path / "pages" / "layers" / "fc.md").is_file()
    assert "net.textproto" in run("docs", "net.textproto/pages", status=1).stderr


def test_a_site_says_what_it_needs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("site", "sphinx_extension"):
        monkeypatch.delitem(sys.modules, f"paddle_layers.codegen.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "sphinx", None)
    assert "pip install 'paddle-layers[docs]'" in run("docs", "site", "--html", status=1).stderr


def test_schema_json(run: Run, tmp_path: Path) -> None:
    shown = run("schema", "json", "schemas").stdout.split()
    assert shown == ["schemas/network.schema.json", "schemas/training.schema.json"]
    assert json.loads((tmp_path / shown[0]).read_text())["title"] == "paddle_layers network"


def test_stubs(run: Run, tmp_path: Path) -> None:
    assert run("stubs").stdout.split() == ["typings/paddle_layers/nn.pyi", "typings/paddle_layers/__init__.pyi"]
    assert "def fc(" in (tmp_path / "typings/paddle_layers/nn.pyi").read_text()


def test_plugins(run: Run) -> None:
    run("plugins")


def test_a_plugin_file_is_loaded_first(run: Run, tmp_path: Path) -> None:
    (tmp_path / "triple.py").write_text(PLUGIN)
    (tmp_path / "net.textproto").write_text(NET.replace('"relu"', '"triple"'))
    run("validate", "net.textproto", status=1)
    run("validate", "--plugins", "triple.py", "net.textproto")
    assert run("check", "--plugins", "triple.py", "triple").stdout.startswith("triple: passed")


def test_a_faulty_plugin_is_named_with_its_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "triple.py").write_text(PLUGIN.replace("def triple_dx(i, dy)", "def triple_dx(i, dz)"))
    stderr = run("validate", "--plugins", "triple.py", "net.textproto", status=1).stderr
    assert "triple.py:15:" in stderr
    assert "dz" in stderr
    assert "missing.py" in run("layers", "--plugins", "missing.py", status=1).stderr


def test_check_says_what_is_wrong(run: Run, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(
        PLUGIN.replace("return 3.0 * dy[i]", "return 2.0 * dy[i]").replace("triple", "wrong")
    )
    result = run("check", "--plugins", "wrong.py", "wrong", "relu", status=1)
    assert "wrong: failed" in result.stderr
    assert "1 of 2 layers failed" in result.stderr
    assert "relu: passed" in result.stdout
    assert "did you mean `relu`" in run("check", "rellu", status=1).stderr
    assert "`adam` is of kind optimizer" in run("check", "adam", "--property", "gradients", status=2).stderr
    result = run("check", "flatten", "--property", "tuned kernels", "--fast")
    assert result.stdout == "flatten: skipped (no check for --property)\n"


# ---- train, predict, warm


@pytest.fixture
def project(run: Run, tmp_path: Path) -> Path:
    run("new", "first")
    file = tmp_path / "first" / "train.textproto"
    file.write_text(file.read_text().replace("epochs: 60", "epochs: 2"))
    return tmp_path / "first"


def test_train_then_predict(run: Run, project: Path) -> None:
    result = run("train", "first/train.textproto", "--output", "out")
    assert "Weights: out/weights.safetensors" in result.stdout
    assert "step" in result.stderr
    assert "step" not in result.stdout
    again = run("train", "first/train.textproto", "--output", "out")
    assert "out contains a finished run of this training; writing to out-2" in again.stderr
    assert "Weights: out-2/weights.safetensors" in again.stdout
    run("train", "first/train.textproto", "--output", "out", "--overwrite", "--seed", "3")

    predict = ("predict", "first/train.textproto", "--weights", "out/weights.safetensors")
    rows = list(csv.reader(run(*predict, "first/test.csv").stdout.splitlines()))
    assert rows[0] == ["row", "scores.class", "scores.0", "scores.1", "scores.2"]
    assert len(rows) == 121
    assert all(abs(sum(map(float, row[2:])) - 1) < 1e-4 for row in rows[1:])
    assert rows == list(csv.reader(run(*predict, "first/test.npz").stdout.splitlines()))
    assert rows == list(csv.reader(run(*predict).stdout.splitlines()))


def test_predict_needs_no_label(run: Run, project: Path, tmp_path: Path) -> None:
    run("train", "first/train.textproto", "--output", "out")
    lines = (project / "test.csv").read_text().splitlines()
    (tmp_path / "bare.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")
    predict = ("predict", "first/train.textproto", "--weights", "out/weights.safetensors")
    assert run(*predict, "bare.csv").stdout == run(*predict, "first/test.csv").stdout


def test_predict_into_a_file_overwrites_nothing(run: Run, project: Path, tmp_path: Path) -> None:
    run("train", "first/train.textproto", "--output", "out")
    predict = ("predict", "first/train.textproto", "--weights", "out/weights.safetensors", "--output", "table.csv")
    run(*predict)
    table = (tmp_path / "table.csv").read_text()
    assert "table.csv" in run(*predict, status=1).stderr
    assert (tmp_path / "table.csv").read_text() == table


def test_predict_without_weights_or_data(run: Run, project: Path, tmp_path: Path) -> None:
    assert "weights" in run("predict", "first/train.textproto", status=1).stderr
    run("train", "first/train.textproto", "--output", "out")
    predict = ("predict", "first/train.textproto", "--weights", "out/weights.safetensors")
    assert "missing.csv" in run(*predict, "missing.csv", status=1).stderr
    (tmp_path / "data.txt").write_text("1\n")
    assert "data.txt" in run(*predict, "data.txt", status=1).stderr


def test_an_unknown_device(run: Run, project: Path) -> None:
    shown = run("train", "first/train.textproto", "--output", "out", "--device", "tpu", status=2).stderr
    assert "'tpu' is not one of 'cpu', 'cuda', 'auto'" in shown


def test_a_card_that_is_not_there(run: Run, project: Path) -> None:
    if open_device("auto").name == "cuda":
        pytest.skip("there is a card")
    shown = run("train", "first/train.textproto", "--output", "out", "--device", "cuda", status=1).stderr
    assert 'the device "cuda" needs an NVIDIA GPU' in shown
    assert not Path("out/weights.safetensors").exists()


def test_every_user_error_exists() -> None:
    for module, name in USER_ERRORS:
        assert issubclass(getattr(importlib.import_module(module), name), Exception)


def test_warm(run: Run) -> None:
    assert run("warm", "net.textproto").stdout == "net.textproto: kernels compiled\n"


# ---- as a process


@pytest.mark.slow
def test_warm_compiles_what_train_needs(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDLE_LAYERS_CACHE", "kernels")

    def stderr(*command: str) -> str:
        words = [sys.executable, "-m", "paddle_layers", *command, "first/train.textproto"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stderr

    assert "compiling" in stderr("warm")
    kernels = sorted(Path("kernels/cpu").rglob("*.nbc"))
    assert kernels
    stderr("train")
    assert sorted(Path("kernels/cpu").rglob("*.nbc")) == kernels


@pytest.mark.parametrize(
    ("option", "written"),
    [
        ("--lr", "`optimizer { learning_rate: ... }`"),
        ("--epochs", "`epochs: ...`"),
        ("--batch-size", "`batch_size: ...`"),
    ],
)
def test_an_option_that_is_a_field_of_the_training_file(option: str, written: str) -> None:
    done = CliRunner().invoke(commands, ["train", "train.textproto", option, "3"])
    assert done.exit_code == 2
    assert f"no such option `{option}`; set {written} in the training file" in done.output
    assert "the training file" not in CliRunner().invoke(commands, ["train", "t.textproto", "--nonsense", "3"]).output


def test_devices_of_the_option_are_those_of_the_runtime():
    from paddle_layers.cli import options
    from paddle_layers.runtime import devices

    assert tuple(devices.DEVICES) == options.DEVICES


@pytest.mark.parametrize("command", ["convert", "export", "import", "weights", "train"])
def test_force_is_called_overwrite(command: str) -> None:
    done = CliRunner().invoke(commands, [command, "--force"])
    assert done.exit_code == 2
    assert "no such option `--force`; write `--overwrite` to replace existing files" in done.output
