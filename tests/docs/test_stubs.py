"""Stubs of the helpers: never stale, and checkers find typical mistakes with them, in plugins' layers too."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from paddle_layers.codegen.stubs import stub_text, write_stubs

import paddle_layers as pl
from paddle_layers import nn
from paddle_layers.config.building.builder import HEADERS
from tests.each import each

PACKAGE = Path(pl.__file__).parent
OURS = [layer for layer in pl.registry.values() if layer.package == "paddle_layers"]

PLUGIN = '''
import paddle_layers as pl

@pl.layer("double")
class Double:
    """Twice every value. \\\\ and \\"\\"\\" end nothing."""

    x = pl.Input("...", "values")
    y = pl.Output("...", "same shape")
    how = pl.Choice("which way", options={"ADD": "x + x", "TIMES": "2 * x"}, default="ADD")
    examples = (pl.Example(x="5"),)

@pl.each(Double.y)
def double_y(i, x):
    return x[i] + x[i]

@pl.gradient(Double.x)
def double_dx(i, dy):
    return dy[i] + dy[i]
'''

USE = """
import paddle_layers as pl
from paddle_layers import nn

image = nn.data(shape=[1, 28, 28], name="image")
label = nn.data(data_type="INT", size=10, name="label")
conv = nn.conv(image, num_filters=20, filter_size=5, act="relu", param={"of": "weight", "lr_mult": 2})
pool = nn.pool(conv, pool_size=2, stride=2, pool_type="MAX")
scores = nn.fc(pool, size=10)
joined = nn.fc([scores, scores], size=3)
shifted = 2 * scores[:, 1:3] + 1.5
parts = nn.slice(image, sizes=[1]) if False else nn.split(image, copies=2)
cost = nn.softmax_with_loss(scores, label, name="cost")
twice = nn.double(scores, how="TIMES")
network: pl.Network = pl.Network(outputs=[cost, twice])
with pl.Net(network, device="cpu", seed=1) as net:
    net.forward({})["cost"]

nn.conv(image, num_filter=20, filter_size=5)  # wrong: misspelt attribute
nn.conv(image, filter_size=5)  # wrong: required attribute
nn.conv(image, num_filters="20", filter_size=5)  # wrong: text for a number
nn.conv(image, num_filters=2.5, filter_size=5)  # wrong: real for a whole number
nn.conv(image, 20, filter_size=5)  # wrong: attribute by place
nn.conv(filter_size=5, num_filters=20)  # wrong: no input
nn.conv(image, image, num_filters=20, filter_size=5)  # wrong: an input too many
nn.conv("image", num_filters=20, filter_size=5)  # wrong: a name for a value
nn.conv(image, num_filters=20, filter_size=[5, 5])  # wrong: list for a number
nn.conv(image, num_filters=None, filter_size=5)  # wrong: nothing for a required attribute
nn.conv(image, num_filters=20, filter_size=5, act=max)  # wrong: a function for a name
nn.convolution(image, num_filters=20)  # wrong: no such layer
nn.pool(conv, pool_size=2, pool_type="AVG")  # wrong: no such choice
nn.data(shape=28)  # wrong: number for a list
nn.data(shape="1x28x28")  # wrong: text for a list of numbers
nn.dropout(scores, drop_rate="0.5")  # wrong: text for a real
nn.fc(scores, size=10, name=3)  # wrong: name of a layer
nn.fc(scores, size=10, loss_weight="1")  # wrong: text for a weight
nn.fc(scores, size=10, bias="no")  # wrong: text for a truth value
nn.relu(parts)  # wrong: several outputs for one input
nn.softmax_with_loss(scores)  # wrong: the label is missing
nn.double(scores, how="PLUS")  # wrong: a plugin's choice
nn.double(scores, hwo="ADD")  # wrong: a plugin's attribute
nn.relu(scores) + "1"  # wrong: text for a number
"""
WRONG = {number for number, line in enumerate(USE.splitlines(), 1) if "# wrong" in line}


def test_the_committed_stub_is_not_stale() -> None:
    text = (PACKAGE / "nn.pyi").read_text(encoding="utf-8")
    assert text == stub_text(OURS), "run `python -m codegen.refresh`"


@each("layer", OURS, ids=lambda layer: layer.name)
def test_stub_and_signature_agree(layer: pl.Any) -> None:
    scope: dict[str, object] = {}
    exec(stub_text([layer]), scope)
    stub = inspect.signature(scope[layer.name])  # type: ignore[arg-type]
    real = inspect.signature(getattr(nn, layer.name))
    assert [(p.name, p.kind) for p in stub.parameters.values()] == [(p.name, p.kind) for p in real.parameters.values()]
    for name, parameter in real.parameters.items():
        if stub.parameters[name].default is not ... and name not in HEADERS:
            assert stub.parameters[name].default == parameter.default, name


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with stubs of all helpers and of a plugin, and the package where a checker finds it."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "plugin.py").write_text(PLUGIN)
    (folder / "use.py").write_text(USE)
    (folder / "site").mkdir()
    (folder / "site" / "paddle_layers").symlink_to(PACKAGE)
    pl.load_plugin(folder / "plugin.py")
    try:
        write_stubs(folder / "typings")
    finally:
        pl.registry.remove("double")
    return folder


@pytest.mark.slow
def test_mypy_finds_the_mistakes(project: Path) -> None:
    options = ["--follow-imports=silent", "--no-error-summary", "--cache-dir", str(project / "cache")]
    command = [sys.executable, "-m", "mypy", *options, "use.py"]
    path = os.pathsep.join(str(project / name) for name in ("typings", "site"))
    done = subprocess.run(
        command, cwd=project, env=os.environ | {"MYPYPATH": path}, capture_output=True, text=True, check=False
    )
    found = {int(line) for line in re.findall(r"^use\.py:(\d+): error", done.stdout, re.MULTILINE)}
    assert found == WRONG, done.stdout + done.stderr


@pytest.mark.slow
def test_pyright_finds_the_mistakes(project: Path) -> None:
    (project / "pyrightconfig.json").write_text(json.dumps({"extraPaths": ["site"], "include": ["use.py"]}))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "use.py"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    faults = [d for d in json.loads(done.stdout)["generalDiagnostics"] if d["severity"] == "error"]
    assert {d["range"]["start"]["line"] + 1 for d in faults} == WRONG, faults
