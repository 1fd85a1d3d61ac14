"""Layers from LayerDef messages: like any other with functions, without them checked and documented."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format
from paddle_layers.codegen.json_schema import json_schema
from paddle_layers.codegen.pages import page
from paddle_layers.codegen.stubs import stub_text

import paddle_layers as pl
from paddle_layers import require
from paddle_layers.cli.app import commands
from paddle_layers.define import LayerDefinition
from paddle_layers.schema import layer_def_pb2 as pb

pytestmark = pytest.mark.usefixtures("as_python")

CUBE = """
type: "test_cube"
description: "The cube of every value, times a learned number for each column and a factor."
inputs { name: "x" axes: "N C" description: "rows" }
outputs { name: "y" axes: "N C" description: "as many numbers as in `x`" }
parameter_attr { name: "gain" axes: "C" description: "a factor of the column" initializer: "one" }
layer_attr {
  name: "scale" type: FLOAT description: "factor of every output"
  default_value { f_value: 0.1 } min_value { i_value: 0 } min_exclusive: true
}
examples { inputs { name: "x" type: "4" } }
examples { inputs { name: "x" type: "1" } attributes { name: "scale" value { d_value: 2 } } }
elsewhere { system: "Elsewhere" name: "Cube" }
family: "cubes"
"""
NETWORK = """
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "cube" type: "test_cube" input: "x" test_cube { scale: 0.5 } param { of: "gain" lr_mult: 2 } }
layer { name: "target" type: "data" data { shape: 3 } }
layer { name: "cost" type: "square_error" input: "cube" input: "target" }
"""


def message(text: str) -> pb.LayerDef:
    return text_format.Parse(text, pb.LayerDef())


def declared(text: str = CUBE, **temporaries: pl.Temp) -> type[Any]:
    return pl.register_layer(message(text), **temporaries)


def cube_with_functions() -> LayerDefinition:
    cube = declared()

    @pl.each(cube.y)
    def cube_y(n, c, x, gain, scale):
        return x[n, c] ** 3 * gain[c] * scale

    @pl.gradient(cube.x)
    def cube_dx(n, c, dy, x, gain, scale):
        return dy[n, c] * 3.0 * x[n, c] ** 2 * gain[c] * scale

    @pl.gradient(cube.gain)
    def cube_dgain(c, dy, x, scale, N):
        total = 0.0
        for n in range(N):
            total += dy[n, c] * x[n, c] ** 3 * scale
        return total

    found: LayerDefinition = pl.registry["test_cube"]
    return found


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten behind it."""
    monkeypatch.setattr(pl.registry, "_entries", {name: pl.registry[name] for name in pl.registry})


# ---- with functions


def test_it_passes_the_conformance_kit() -> None:
    cube_with_functions()
    report = pl.testing.check_layer("test_cube", compiled=False, configs=6)
    assert {"gradients", "inference", "documentation", "definition"} <= set(report.checked)


def test_it_is_described_in_every_form() -> None:
    cube = cube_with_functions()
    assert "min_value" in str(cube.definition)
    assert cube.definition.facts.can_do_bp
    text = page(cube)
    assert "a factor of the column" in text
    assert "Family: Cubes." in text
    assert "y_{" in text, "the formula"
    assert "def test_cube(" in stub_text([cube])
    block = json_schema("network")["$defs"]["layer.test_cube"]["properties"]["scale"]
    assert (block["exclusiveMinimum"], block["default"]) == (0, 0.1)


def test_a_network_with_it_learns() -> None:
    cube_with_functions()
    from paddle_layers import nn

    rng = np.random.default_rng(0)
    x = rng.uniform(0.5, 1.5, (32, 3)).astype(np.float32)
    feeds = {"x": x, "target": x**3 * np.float32([1.0, 2.0, 3.0])}
    inputs = nn.data(shape=[3], name="x"), nn.data(shape=[3], name="target")
    cost = nn.square_error(nn.test_cube(inputs[0], scale=0.5, name="cube"), inputs[1], name="cost")
    with pl.Net(pl.Network(outputs=[cost])) as net:
        losses = []
        for _ in range(60):
            net.forward(feeds, phase="train")
            net.backward()
            losses.append(net.loss)
            gain = net.parameters["cube.gain"]
            gain.value[...] -= 0.3 * gain.gradient
        assert losses[-1] < 0.01 * losses[0]
        np.testing.assert_allclose(gain.value, [2.0, 4.0, 6.0], rtol=0.02)


def test_train_runs_it_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cube_with_functions()
    monkeypatch.chdir(tmp_path)
    Path("net.textproto").write_text(NETWORK)
    x = np.random.default_rng(0).uniform(0.5, 1.5, (64, 3)).astype(np.float32)
    np.savez("rows.npz", x=x, target=2 * x**3)
    Path("train.textproto").write_text(
        'network: "net.textproto" epochs: 20 batch_size: 16 output: "out" log { every: 1 }\n'
        'source { phase: "train" type: "npz" npz { file: "rows.npz" } }\n'
        'optimizer { type: "sgd" learning_rate: 0.1 }\n'
    )
    report = pl.train("train.textproto")
    losses = [float(line["loss"]) for line in csv.DictReader(report.log.read_text().splitlines())]
    assert losses[-1] < 0.01 * losses[0]


def test_temporaries_and_sizes_of_its_own() -> None:
    halves = declared(
        """
        type: "test_halves" description: "Sums of pairs of columns, less the mean of the row."
        inputs { name: "x" axes: "N C" description: "rows" derivative: false }
        outputs { name: "y" axes: "N K" description: "sums" }
        examples { inputs { name: "x" type: "6" } }
        """,
        mean=pl.Temp("N", "mean of the row"),
    )

    @pl.infer(halves)
    def halves_sizes(C):
        require(C % 2 == 0, "x", f"{C} columns cannot be paired")
        return {"K": C // 2}

    @pl.each(halves.mean)
    def halves_mean(n, x, C):
        total = 0.0
        for c in range(C):
            total += x[n, c]
        return total / C

    @pl.each(halves.y)
    def halves_y(n, k, x, mean):
        return x[n, 2 * k] + x[n, 2 * k + 1] - mean[n]

    layer: LayerDefinition = pl.registry["test_halves"]
    found = layer.output_types([pb.LayerOutputDef(size=6, dims=[6])])
    assert [(one.name, one.size) for one in found] == [("y", 3)]
    assert [rule.message for rule in layer.definition.rules] == ["{C} columns cannot be paired"]
    with pytest.raises(pl.ShapeError, match="5 columns cannot be paired"):
        layer.output_types([pb.LayerOutputDef(size=5, dims=[5])])


def test_other_fields_than_temporaries_stand_in_the_message() -> None:
    with pytest.raises(pl.DefinitionError, match="`z` must be Temp, Numbers or Entries"):
        pl.register_layer(message(CUBE), z=pl.Input("N", "more"))  # type: ignore[arg-type]
    with pytest.raises(pl.DefinitionError, match="duplicate field `x`"):
        declared(x=pl.Temp("N", "more"))
    with pytest.raises(TypeError, match="takes a LayerDef message, found str"):
        pl.register_layer(CUBE)  # type: ignore[arg-type]


def test_output_types_may_depend_on_attributes() -> None:
    cast = declared(
        """
        type: "test_cast" description: "Ids, or numbers."
        inputs { name: "x" axes: "N C" description: "rows" }
        outputs { name: "y" axes: "N C" description: "ids or numbers" }
        layer_attr { name: "ids" type: INT description: "how many ids; 0 gives numbers" default_value { i_value: 0 } }
        examples { inputs { name: "x" type: "6" } }
        """
    )

    @pl.output_types(cast)
    def cast_types(x, ids):
        return [pl.Type.ids(ids) if ids else x]

    layer: LayerDefinition = pl.registry["test_cast"]
    given = [pb.LayerOutputDef(size=6, dims=[6])]
    assert layer.output_types(given)[0].type == pb.DENSE
    assert (layer.output_types(given, ids=9)[0].type, layer.output_types(given, ids=9)[0].size) == (pb.INT, 9)


@pytest.mark.parametrize(
    ("count", "reason"), [(0, "must return a list of Type"), (2, "returns 2 types for 1 declared")]
)
def test_a_wrong_answer_of_output_types_is_its_authors_fault(count: int, reason: str) -> None:
    cube = declared()

    @pl.output_types(cube)
    def cube_types(x):
        return [x] * count or x

    with pytest.raises(pl.DefinitionError, match=reason):
        pl.registry["test_cube"].complete()


# ---- without functions


def test_without_functions_it_is_checked_and_documented() -> None:
    declared()
    layer: LayerDefinition = pl.registry["test_cube"]
    assert pl.loads(NETWORK)["cube"].outputs[0].dims == [3]
    with pytest.raises(pl.ConfigError, match="must be > 0"):
        pl.loads(NETWORK.replace("0.5", "-0.5"))
    report = pl.testing.check_layer("test_cube")
    assert (report.checked["inference"] > 50, report.ran) == (True, False)
    assert "it has no functions" in str(report)
    text = page(layer)
    assert "It has no functions" in text
    assert "Devices" not in text
    assert not layer.definition.facts.devices


def test_a_net_without_functions_is_refused_before_it_has_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    declared()
    network = pl.loads(NETWORK)
    from paddle_layers.runtime.memory.parameters import ParameterSet

    monkeypatch.setattr(ParameterSet, "allocate", lambda *_: pytest.fail("memory was allocated"))
    with pytest.raises(pl.DefinitionError, match=r"`test_cube`: has no functions.*@each\(TestCube.y\)"):
        pl.Net(network)


@pytest.mark.parametrize(
    ("command", "status"), [(["validate"], 0), (["show"], 0), (["show", "--plan"], 1), (["warm"], 1)], ids=str
)
def test_commands(command: list[str], status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    declared()
    file = tmp_path / "net.textproto"
    file.write_text(NETWORK)
    with pytest.raises(SystemExit) as stop:
        commands([*command, str(file)])
    assert stop.value.code == status
    assert ("has no functions" in capsys.readouterr().err) == bool(status)


def test_functions_may_come_after_it_was_looked_at() -> None:
    cube = declared()
    layer: LayerDefinition = pl.registry["test_cube"]
    assert not layer.definition.facts.can_do_bp

    @pl.each(cube.y)
    def cube_y(n, c, x, gain, scale):
        return x[n, c] ** 3 * gain[c] * scale

    assert [function.name for function in layer.facts.forward] == ["cube_y"]
    assert [function.name for function in layer.facts.backward] == ["test_cube_dx", "test_cube_dgain"]
    assert layer.definition.facts.can_do_bp


def test_half_of_the_functions_are_not_enough() -> None:
    cube = declared()

    @pl.gradient(cube.x)
    def cube_dx(n, c, dy):
        return dy[n, c]

    with pytest.raises(pl.DefinitionError, match="no function computes `y`"):
        pl.registry["test_cube"].complete()
