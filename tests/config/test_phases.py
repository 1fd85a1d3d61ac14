"""Phases, levels and stages; shared parameters; layers in any order."""

import pytest

import paddle_layers as pl

TEXT = """
layer { name: "x" type: "data" data { shape: 4 } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "y" type: "fc" input: "x" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "y" input: "label" exclude { stage: "deploy" } }
layer { name: "accuracy" type: "accuracy" input: "y" input: "label" include { phase: "test" not_stage: "deploy" } }
layer { name: "probabilities" type: "softmax" input: "y"
        include { stage: "deploy" } include { min_level: 2 max_level: 3 } }
"""


@pytest.mark.parametrize(
    ("phase", "level", "stages", "names"),
    [
        ("train", 0, (), {"cost"}),
        ("test", 0, (), {"cost", "accuracy"}),
        ("test", 0, ("deploy",), {"probabilities"}),
        ("train", 2, (), {"cost", "probabilities"}),
        ("train", 4, (), {"cost"}),
    ],
)
def test_a_state_chooses_layers(phase, level, stages, names):
    chosen = pl.loads(TEXT).select(phase, level, stages)
    assert {node.name for node in chosen.nodes} == {"x", "label", "y", *names}


def test_phases_share_parameters_and_types_are_checked_in_each():
    text = """
    layer { name: "a" type: "data" data { shape: 4 } include { phase: "train" } }
    layer { name: "a" type: "data" data { shape: 5 } include { phase: "test" } }
    layer { name: "y" type: "fc" input: "a" fc { size: 3 } }
    """
    network = pl.loads(text)
    assert network.select("train")["y"].input_types[0].dims == (4,)
    assert network.select("test")["y"].input_types[0].dims == (5,)
    with pytest.raises(pl.ShapeError, match=r"`y.weight` requires shape \(5, 3\), but `y.weight` has \(4, 3\)"):
        pl.Net(network)


def test_a_name_twice_in_one_phase_is_refused():
    text = TEXT + 'layer { name: "y" type: "relu" input: "x" include { phase: "test" } }'
    with pytest.raises(pl.ConfigError) as caught:
        pl.loads(text)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E201"
    assert diagnostic.notes[0].message == "first defined here"


def test_layers_may_stand_in_any_order():
    lines = TEXT.strip().replace("\n        ", " ").splitlines()
    there, back = pl.loads("\n".join(lines)), pl.loads("\n".join(reversed(lines)))
    for network in (there, back):
        names = [node.name for node in network.nodes]
        for node in network.nodes:
            assert all(names.index(other) < names.index(node.name) for other in node.inputs)
    assert {n.name: n.output_types for n in there.nodes} == {n.name: n.output_types for n in back.nodes}


def test_a_crash_in_a_plugins_function_is_the_plugins_fault(tmp_path):
    plugin = tmp_path / "crash.py"
    plugin.write_text(
        "from paddle_layers.define import *\n"
        '@layer("test_crash")\n'
        "class Crash:\n"
        '    """Crashes for wide rows."""\n\n'
        '    x = Input("N C", "rows", derivative=False)\n'
        '    y = Output("N K", "rows")\n'
        '    examples = (Example(x="3"),)\n\n'
        "@infer(Crash)\n"
        "def crash_sizes(C):\n"
        "    return {'K': 12 // (4 - C)}\n\n"
        "@each(Crash.y)\n"
        "def crash_y(n, k, x):\n"
        "    return x[n, 0]\n"
    )
    text = 'layer { name: "x" type: "data" data { shape: 4 } }\nlayer { name: "y" type: "test_crash" input: "x" }\n'
    try:
        (tmp_path / "net.textproto").write_text(text)
        with pytest.raises(pl.ConfigError) as caught:
            pl.load(tmp_path / "net.textproto", plugins=[plugin])
        (diagnostic,) = caught.value.diagnostics
        assert (diagnostic.code, diagnostic.line) == ("E401", 2)
        assert "ZeroDivisionError" in diagnostic.message
        assert f"{plugin}:12" in diagnostic.help
    finally:
        pl.registry.remove("test_crash")
