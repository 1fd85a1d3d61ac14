"""Dropout: the share, the scale, and masks that depend on seed, step and position only."""

import numpy as np
import pytest

import paddle_layers as pl

ROWS, COLUMNS = 64, 100
TEXT = """
layer {{ name: "x" type: "data" data {{ shape: [{columns}] }} }}
layer {{ name: "y" type: "dropout" input: "x" dropout {{ {settings} }} }}
"""


def network(settings):
    return pl.loads(TEXT.format(columns=COLUMNS, settings=settings))


def run(settings, seed=0, phase="train", step=0, rows=ROWS):
    with pl.Net(network(settings), dtype="float64", seed=seed) as net:
        return net.forward({"x": np.ones((rows, COLUMNS))}, phase=phase, step=step)["y"].copy()


@pytest.mark.parametrize(("scale_in", "kept"), [("TRAIN", 1.25), ("TEST", 1.0), ("NEVER", 1.0)])
def test_the_share_is_dropped_and_the_rest_has_its_scale(scale_in, kept):
    y = run(f"drop_rate: 0.2 scale_in: {scale_in}")
    assert set(np.unique(y)) == {0.0, kept}
    assert np.mean(y == 0) == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize(("scale_in", "value"), [("TRAIN", 1.0), ("TEST", 0.8), ("NEVER", 1.0)])
def test_nothing_is_dropped_in_the_test_phase(scale_in, value):
    assert np.all(run(f"drop_rate: 0.2 scale_in: {scale_in}", phase="test") == value)


def test_a_rate_of_zero_changes_nothing():
    assert np.all(run("drop_rate: 0") == 1)


def test_masks_repeat_for_a_seed_and_step_and_differ_otherwise():
    first = run("", seed=3, step=5)
    assert np.array_equal(first, run("", seed=3, step=5))
    assert np.array_equal(first[:10], run("", seed=3, step=5, rows=10))
    for other in (run("", seed=4, step=5), run("", seed=3, step=6)):
        assert np.mean((first == 0) & (other == 0)) == pytest.approx(0.25, abs=0.03)


def test_the_gradient_has_the_mask_of_the_values():
    text = TEXT.format(columns=COLUMNS, settings="drop_rate: 0.3").replace(
        'input: "x" dropout', 'input: "shifted" dropout'
    )
    text += 'layer { name: "shifted" type: "shift" input: "x" }'
    with pl.Net(pl.loads(text), dtype="float64", seed=1) as net:
        y = net.forward({"x": np.ones((1, COLUMNS))}, phase="train", step=2)["y"].copy()
        net.backward(gradients={"y": np.ones((1, COLUMNS))})
        assert np.array_equal(net.parameters["shifted.offset"].gradient, y[0])


@pytest.mark.parametrize("act", ["linear", "relu"])
def test_kept_zeros_have_gradients(act):
    """Half of the kept values are zeros of either sign, behind an activation that may lie in the same memory."""
    text = f"""
    layer {{ name: "x" type: "data" data {{ shape: [{COLUMNS}] }} }}
    layer {{ name: "shifted" type: "shift" input: "x" }}
    layer {{ name: "y" type: "addto" input: "shifted" addto {{ act: "{act}" drop_rate: 0.3 }} }}
    """
    x = np.resize([0.0, -0.0, 1.0, 2.0], (1, COLUMNS))
    with pl.Net(pl.loads(text), dtype="float64", seed=1) as net:
        kept = net.forward({"x": np.ones((1, COLUMNS))}, phase="train", step=2)["y"].copy() != 0
        net.forward({"x": x}, phase="train", step=2)
        net.backward(gradients={"y": np.ones((1, COLUMNS))})
        passed = x[0] > 0 if act == "relu" else True
        np.testing.assert_allclose(net.parameters["shifted.offset"].gradient, (kept[0] & passed) / 0.7)
