"""In the test phase convolutions do the norm, the bias and the activation behind them to their sums."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.kernels.tuned import tuned_at_every_size
from paddle_layers.runtime.devices.cpu.table import always_cut
from paddle_layers.runtime.passes import without
from paddle_layers.runtime.plan.dry_run import explain_plan
from tests.selection import COMPILER, RUNTIME, files_of, later_unless_changed, with_marks

CONVS = ("conv", "conv3d", "conv_trans", "batch_norm")
NETWORK = pl.loads("""
    layer { name: "image" type: "data" data { shape: [3, 15, 15] } }
    layer { name: "first" type: "conv" input: "image" conv { num_filters: 48 filter_size: 3 stride: 2 bias: false } }
    layer { name: "norm1" type: "batch_norm" input: "first" batch_norm { act: "relu" } }
    layer { name: "each" type: "conv" input: "norm1"
            conv { num_filters: 48 filter_size: 3 padding: 1 groups: 48 bias: false } }
    layer { name: "norm2" type: "batch_norm" input: "each" batch_norm { act: "relu6" } }
    layer { name: "mixed" type: "conv" input: "norm2" conv { num_filters: 40 filter_size: 1 bias: false } }
    layer { name: "norm3" type: "batch_norm" input: "mixed" batch_norm { } }
    layer { name: "groups" type: "conv" input: "norm3"
            conv { num_filters: 18 filter_size: 3 groups: 2 dilation: 2 act: "relu6" } }
    layer { name: "wide" type: "conv" input: "image" conv { num_filters: 17 filter_size: 1 act: "relu" } }
    layer { name: "tiles" type: "conv" input: "wide" conv { num_filters: 64 filter_size: 3 padding: 2 act: "relu" } }
    layer { name: "leaky" type: "conv" input: "groups" conv { num_filters: 4 filter_size: 1 }
            activation { type: "relu" relu { negative_slope: 0.1 } } }
    layer { name: "all" type: "fc" input: "tiles" input: "leaky" fc { size: 7 } }
""")
RARE = later_unless_changed(
    __file__, *COMPILER, str(RUNTIME / "passes" / "epilogues.py"), *(f for name in CONVS for f in files_of(name))
)
LAYERS = ["norm1", "norm2", "norm3", "groups", "wide", "tiles", "leaky"]


def filled(net: pl.Net) -> pl.Net:
    """The net with parameters and running statistics of which none is what it is at first."""
    rng = np.random.default_rng(1)
    for parameter in (*net.parameters.values(), *net.states.values()):
        shape = parameter.value.shape
        parameter.value = rng.uniform(0.5, 1.5, shape) if len(shape) == 1 else rng.standard_normal(shape) / 4
    return net


def values(net: pl.Net, image: np.ndarray, *names: str) -> list[np.ndarray]:
    net.forward({"image": image}, phase="test")
    return [np.array(net.value(name)) for name in names]


def kernels(phase: str = "test", device: str = "cpu") -> dict[str, str]:
    """The last launch of each layer, and what computes it."""
    with tuned_at_every_size():
        found = explain_plan(NETWORK, phase, 1, "float32", device)
    return {launch.layer: launch.kernel for launch in found.launches if not launch.backward}


def test_what_follows_a_convolution_is_its_own() -> None:
    norm, bias = "batch_norm_y + batch_norm_bias", "conv_bias"
    assert kernels() == {
        "first": f"correlate_packed + {norm} + relu_y, tuned",
        "norm1": "batch_norm_moments, once",
        "each": f"conv_y + {norm} + relu6_y, tuned",
        "norm2": "batch_norm_moments, once",
        "mixed": f"pointwise_conv_small + {norm}, tuned",
        "norm3": "batch_norm_moments, once",
        "groups": f"conv_y + {bias} + relu6_y, tuned",
        "wide": f"conv_y + {bias} + relu_y, tuned",
        "tiles": f"winograd_conv + {bias} + relu_y, tuned",
        "leaky": f"{bias} + relu_y",  # no limit
        "all": "fc_bias",
    }
    others = [("train", "cpu", ()), ("test", "cuda", ())]
    for phase, device, left_out in (
        *others,
        *(("test", "cpu", (name,)) for name in ("epilogues", "parameter-only caching")),
    ):
        with without(*left_out):
            assert not any(" + " in name and "tuned" in name for name in kernels(phase, device).values())


@pytest.mark.parametrize(
    ("rows", "dtype", "near"),
    [
        pytest.param(1, "float32", 2e-6, marks=RARE),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in ((3, "float32", 2e-6), (1, "float64", 1e-14))),
    ],
)
def test_the_results_stay_the_same(rows: int, dtype: str, near: float) -> None:
    image = 4 * np.random.default_rng(0).standard_normal((rows, 3, 15, 15))
    results = []
    for left_out in ((), ("epilogues",)):
        with tuned_at_every_size(), without(*left_out), pl.Net(NETWORK, dtype=dtype, keep=LAYERS) as net:
            results.append(values(filled(net), image, *LAYERS))
            net.parameters["norm1.gain"].value = 3 * net.parameters["norm1.gain"].value
            results[-1] += values(net, image, *LAYERS)
    for one, two in zip(*results, strict=True):
        assert (two != 0).mean() > 0.2
        assert abs(one - two).max() <= near * abs(two).max()


@pytest.mark.slow
def test_results_do_not_depend_on_how_launches_are_cut() -> None:
    image = np.random.default_rng(0).standard_normal((2, 3, 15, 15))
    results = []
    for how in ("pieces", "backwards"):
        with tuned_at_every_size(), always_cut(how), pl.Net(NETWORK) as net:
            results.append(filled(net).forward({"image": image}, phase="test")["all"])
    np.testing.assert_array_equal(*results)


@with_marks(RARE)
def test_nan_stays_and_what_is_kept_is_made() -> None:
    image = np.random.default_rng(0).standard_normal((1, 3, 15, 15))
    results = []
    for left_out in ((), ("epilogues",)):
        with tuned_at_every_size(), without(*left_out), pl.Net(NETWORK, keep=["first", "norm1", "mixed"]) as net:
            filled(net).parameters["first.weight"].value[:2, 0, 0, 0] = np.nan, np.inf
            results.append(values(net, image, "first", "norm1", "mixed"))
    assert np.isnan(results[0][1]).any()
    for one, two in zip(*results, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-5)


def test_strips_of_pixels_are_ended_each() -> None:
    text = """layer { name: "image" type: "data" data { shape: [5, 37, 31] } }
        layer { name: "y" type: "conv" input: "image" conv { num_filters: 17 filter_size: 1 act: "relu" } }"""
    image = np.random.default_rng(0).standard_normal((1, 5, 37, 31))
    with tuned_at_every_size(), pl.Net(pl.loads(text), dtype="float64") as net:
        (found,) = values(filled(net), image, "y")
        weight, bias = net.parameters["y.weight"].value, net.parameters["y.bias"].value
    expected = np.einsum("kc,nchw->nkhw", weight.reshape(17, 5), image) + bias.reshape(17, 1, 1)
    np.testing.assert_allclose(found, np.maximum(expected, 0), atol=1e-12)


@with_marks(RARE)
def test_volumes_and_transposed_convolutions_are_ended_too() -> None:
    text = """layer { name: "volume" type: "data" data { shape: [4, 5, 7, 6] } }
        layer { name: "direct" type: "conv3d" input: "volume"
                conv3d { num_filters: 17 filter_size: 3 stride: 2 padding: 1 groups: 1 act: "relu" } }
        layer { name: "image" type: "data" data { shape: [32, 16, 15] } }
        layer { name: "tiles" type: "conv_trans" input: "image"
                conv_trans { num_filters: 36 filter_size: 3 padding: 1 act: "relu" } }"""
    rng = np.random.default_rng(0)
    feeds = {"volume": rng.standard_normal((2, 4, 5, 7, 6)), "image": rng.standard_normal((2, 32, 16, 15))}
    network, results = pl.loads(text), []
    for left_out in ((), ("epilogues",)):
        with (
            tuned_at_every_size(),
            without(*left_out),
            pl.Net(network, dtype="float64", keep=["direct", "tiles"]) as net,
        ):
            filled(net).forward(feeds, phase="test")
            results.append([np.array(net.value(name)) for name in ("direct", "tiles")])
    with tuned_at_every_size():
        kernels = {
            launch.layer: launch.kernel for launch in explain_plan(network, "test", 2, "float64", "cpu").launches
        }
    assert kernels["direct"] == "conv3d_y + conv3d_bias + relu_y, tuned"
    assert kernels["tiles"] == "winograd_conv + conv_trans_bias + relu_y, tuned"
    for one, two in zip(*results, strict=True):
        assert 0.2 < (two != 0).mean() < 0.9
        np.testing.assert_allclose(one, two, atol=1e-13 * abs(two).max())
