"""What is odd about a config, and can be meant: where a program is told so."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config import loads_training

HEADS = """
layer { name: "x" type: "data" data { shape: 4 } }
layer { name: "label" type: "data" data { data_type: INT size: 4 } }
"""
ODD = (
    HEADS
    + """
layer { name: "y" type: "softmax" input: "x" }
layer { name: "cost" type: "softmax_with_loss" input: "y" input: "label" }
"""
)


def test_a_warning_points_at_the_line_that_asks(tmp_path):
    (tmp_path / "net.textproto").write_text(ODD)
    for call in (lambda: pl.loads(ODD), lambda: pl.load(tmp_path / "net.textproto")):
        with pytest.warns(pl.ConfigWarning, match="softmax is applied twice") as told:
            call()
        assert Path(told[0].filename) == Path(__file__)


def test_trainings_made_in_python_are_warned_of_like_files():
    text = ODD.replace('"softmax" input: "x"', '"fc" input: "x" fc { size: 4 }')
    sources = [{"type": "digits", "phase": phase, "digits": {"part": phase}} for phase in ("train", "test")]
    with pytest.warns(pl.ConfigWarning, match="`early_stop` acts after each test, but the only test is at the end"):
        pl.make_training(
            pl.loads(text),
            optimizer={"type": "sgd", "learning_rate": 0.1},
            steps=1,
            source=sources,
            callback={"type": "early_stop"},
        )


def test_many_costs_are_looked_at_in_linear_time():
    heads = (
        f'layer {{ name: "h{n}" type: "fc" input: "x" fc {{ size: 4 }} }}\n'
        f'layer {{ name: "c{n}" type: "softmax_with_loss" input: "h{n}" input: "label" }}\n'
        for n in range(20_000)
    )
    assert len(pl.loads(HEADS + "".join(heads))) == 40_002  # half a minute, when each was looked for among all


def test_images_that_lie_on_their_side_have_their_channels_first():
    network = pl.loads(
        'layer { name: "x" type: "data" data { shape: [8, 8, 16] } }\n'
        'layer { name: "y" type: "conv" input: "x" conv { num_filters: 2 filter_size: 3 } }'
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pl.Net(network).forward({"x": np.zeros((1, 8, 16, 8))})["y"].shape == (1, 2, 14, 6)


@pytest.mark.parametrize("around", ["{}", 'layer {{ name: "g" type: "recurrent_group" input: "x" step {{ {} }} }}'])
def test_a_parameter_that_exceeds_the_memory_is_reported_wherever_it_is(around, monkeypatch):
    monkeypatch.setattr("paddle_layers.config.wiring.lint.memory_bytes", lambda: 63)
    layers = 'layer { name: "y" type: "fc" input: "x" fc { size: 4 bias: false } }'
    text = HEADS.replace("shape: 4", f"shape: 4 seq_nested_level: {int('step' in around)}")
    with pytest.warns(pl.ConfigWarning, match=r"parameter `(g\.)?y.weight` \(4 x 4\) needs 64 B"):
        pl.loads(text + around.format(layers + (' output: "y"' if "step" in around else "")))


SCALE = 'transform { type: "scale" input: "x" scale { factor: 0.1 } }'


@pytest.mark.parametrize("test", ['type: "digits" digits { part: "test" }', 'type: "npz" npz { file: "test.npz" }'])
@pytest.mark.parametrize("scales", [(SCALE, ""), ("", SCALE)])
def test_training_and_test_data_are_scaled_alike(test, scales):
    layers = ODD.replace('"softmax" input: "x"', '"fc" input: "x" fc { size: 4 }')
    sources = 'source {{ type: "digits" digits {{ part: "train" }} {} }} source {{ phase: "test" {} {} }}'
    rest = 'optimizer { type: "sgd" learning_rate: 0.1 } steps: 1'
    text = f"net {{ {layers} }} {sources.format(scales[0], test, scales[1])} {rest}"
    with pytest.warns(pl.ConfigWarning, match="scaled alike, with `factor: 1` where they are"):
        loads_training(text)
    first, second = (scale or SCALE.replace("0.1", "1") for scale in scales)
    loads_training(f"net {{ {layers} }} {sources.format(first, test, second)} {rest}")  # warnings are errors
