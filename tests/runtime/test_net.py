"""Net: gradients of whole networks, what is not computed, memory, planning anew, weights."""

import copy
import logging
import tracemalloc

import numpy as np
import pytest
import scipy.sparse

import paddle_layers as pl
from paddle_layers.config.parameters import learning_names
from paddle_layers.define import registries
from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.kernels.primitives.microkernels import rounded
from paddle_layers.kernels.primitives.packed_panels import tail_numbers
from paddle_layers.runtime import FeedError, Sequences, WeightsError
from paddle_layers.runtime.batch.feeding import finite
from paddle_layers.runtime.optimise.updater import Updater

DATA = """
layer { name: "x" type: "data" data { shape: [2, 6, 6] } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
"""
COST = 'layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }'
FAN_OUT = (
    DATA
    + """
layer { name: "c" type: "conv" input: "x" conv { num_filters: 3 filter_size: 3 padding: 1 act: "tanh" } }
layer { name: "b" type: "batch_norm" input: "c" }
layer { name: "sum" type: "addto" input: "c" input: "b" input: "c" }
layer { name: "p" type: "pool" input: "sum" pool { pool_type: AVERAGE pool_size: 2 stride: 2 } }
layer { name: "scores" type: "fc" input: "p" input: "c" fc { size: 3 drop_rate: 0.2 } }
"""
    + COST
)


def batch(rows=5, seed=0):
    rng = np.random.default_rng(seed)
    return {"x": rng.standard_normal((rows, 2, 6, 6)), "label": rng.integers(0, 3, rows)}


def differences(net, feeds, values):
    """Central differences of the loss by every element."""
    result = np.empty_like(values)
    for place in np.ndindex(values.shape):
        kept = values[place]
        losses = []
        for value in (kept + 1e-5, kept - 1e-5):
            values[place] = value
            net.forward(feeds, step=0)
            losses.append(net.loss)
        values[place] = kept
        result[place] = (losses[0] - losses[1]) / 2e-5
    return result


def test_values_used_several_times_collect_all_gradients():
    feeds = batch()
    with pl.Net(pl.loads(FAN_OUT), dtype="float64", seed=1) as net:
        net.forward(feeds, step=0)
        net.backward()
        gradients = {name: p.gradient.copy() for name, p in net.parameters.items()}
        assert set(gradients) == {
            "c.weight",
            "c.bias",
            "b.gain",
            "b.bias",
            "scores.weight_0",
            "scores.weight_1",
            "scores.bias",
        }
        for name, gradient in gradients.items():
            numeric = differences(net, feeds, net.parameters[name].value)
            np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-9, err_msg=name)


def launches(text, **changes):
    with pl.Net(pl.loads(text, **changes)) as net:
        net.forward({"x": batch()["x"], "label": batch()["label"]})
        return [(launch.op, launch.name) for launch in net.plan("train").launches], net


def test_no_gradient_that_nobody_needs():
    ran, net = launches(FAN_OUT)
    assert ("c", "conv_dx") not in ran, "the data need no gradient"
    assert ("c", "conv_dweight") in ran
    frozen = FAN_OUT.replace(
        'act: "tanh" }', 'act: "tanh" } param { of: "weight" frozen: true } param { of: "bias" frozen: true }'
    )
    ran, net = launches(frozen)
    assert not any(op.startswith("c") and "d" in name.partition("_")[2][:1] for op, name in ran)
    assert net.network is not None


def test_frozen_parameters_have_no_gradient_and_blocked_inputs_pass_none():
    text = FAN_OUT.replace('input: "p" input: "c"', 'input: "p" input: "c" propagate_down: [true, false]')
    ran, _ = launches(text)
    assert ran.count(("scores", "fc_dx")) == 1
    text = FAN_OUT.replace('act: "tanh" }', 'act: "tanh" } param { of: "weight" frozen: true }')
    with pl.Net(pl.loads(text)) as net:
        assert net.parameters["c.weight"].gradient is None
        assert not net.parameters["c.weight"].trained


def test_shared_parameters_add_their_gradients():
    text = """
    layer { name: "x" type: "data" data { shape: [4] } }
    layer { name: "a" type: "fc" input: "x" fc { size: 4 act: "tanh" } param { of: "weight" share: "w" } }
    layer { name: "b" type: "fc" input: "a" fc { size: 4 } param { of: "weight" share: "w" } }
    layer { name: "t" type: "data" data { shape: [4] } }
    layer { name: "cost" type: "square_error" input: "b" input: "t" }
    """
    rng = np.random.default_rng(0)
    feeds = {"x": rng.standard_normal((3, 4)), "t": rng.standard_normal((3, 4))}
    with pl.Net(pl.loads(text), dtype="float64") as net:
        assert [name for name in net.parameters if "weight" in name] == ["a.weight"]
        net.forward(feeds)
        net.backward()
        gradient = net.parameters["a.weight"].gradient.copy()
        numeric = differences(net, feeds, net.parameters["a.weight"].value)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-9)


def test_the_settings_of_a_shared_parameter_may_be_in_any_of_its_layers():
    text = """
    layer { name: "x" type: "data" data { shape: 4 } }
    layer { name: "a" type: "fc" input: "x" fc { size: 4 } param { of: "weight" share: "w" } }
    layer { name: "b" type: "fc" input: "a" fc { size: 4 }
            param { of: "weight" share: "w" frozen: true init { type: "constant" constant { value: 3 } } } }
    """
    with pl.Net(network := pl.loads(text)) as net:
        weight = net.parameters["a.weight"]
        assert (weight.value == 3).all()
        assert not weight.trained
        assert learning_names(network) == ["a.bias", "b.bias"]


def test_loss_weights_add_up_and_seed_the_gradients():
    text = (FAN_OUT + COST.replace('"cost"', '"second"')).replace(
        'input: "label" }', 'input: "label" loss_weight: 0.5 }'
    )
    feeds = batch()
    with pl.Net(pl.loads(FAN_OUT), dtype="float64") as one, pl.Net(pl.loads(text), dtype="float64") as two:
        for net in (one, two):
            net.forward(feeds, step=0)
            net.backward()
        assert two.loss == pytest.approx(one.loss, rel=1e-14)
        np.testing.assert_allclose(two.arena.gradients.read(), one.arena.gradients.read(), rtol=1e-12)


def test_memory_is_shared_and_inference_takes_less():
    text = 'layer { name: "x" type: "data" data { shape: [1000] } }\n' + "\n".join(
        f'layer {{ name: "{b}" type: "fc" input: "{a}" fc {{ size: 1000 act: "relu" }} }}'
        for a, b in zip("xabcdefg", "abcdefgh", strict=True)
    )
    with pl.Net(pl.loads(text)) as net:
        feeds = {"x": np.zeros((10, 1000), np.float32)}
        net.forward(feeds, phase="test")
        net.forward(feeds)
        net.backward(gradients={"h": np.ones((10, 1000))})
        value, packed = 10 * 1000 * 4, 4 * (8 * 1000 * rounded(1000) + MAX_CHUNKS * tail_numbers())
        assert net.memory("test") <= 4.1 * value + packed, "eight layers need the feed, the output and two values"
        relu = [launch for launch in net.plan("train").launches if launch.name.endswith("relu_y")]
        assert len(relu) == 8
        for launch in relu:
            assert launch.reads[0].storage is launch.writes[0].storage, "relu works in place"


def test_last_batch_may_be_short_and_capacity_grows():
    with pl.Net(pl.loads(FAN_OUT), dtype="float64") as net:
        whole = net.forward(batch(8), phase="test")["cost"]
        for rows in (3, 8, 20, 1):
            found = net.forward(batch(rows), phase="test")["cost"]
            assert found.shape == (rows,)
        again = net.forward(batch(8), phase="test")["cost"]
    np.testing.assert_array_equal(whole, again)


def test_gradients_of_outputs_may_be_given():
    with pl.Net(pl.loads(FAN_OUT), dtype="float64") as net:
        feeds = batch()
        net.forward(feeds, step=0)
        net.backward()
        by_loss = net.arena.gradients.read().copy()
        scores = pl.Net(pl.loads(FAN_OUT), dtype="float64", keep=["scores"])
        scores.forward(feeds, step=0)
        probabilities = np.exp(scores.value("scores"))
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        dy = (probabilities - np.eye(3)[feeds["label"]]) / 5
        net.backward(gradients={"scores": dy})
        np.testing.assert_allclose(net.arena.gradients.read(), by_loss, rtol=1e-9, atol=1e-12)
        with pytest.raises(FeedError, match=r"has shape \(5, 4\); expected \(5, 3\)"):
            net.backward(gradients={"scores": np.zeros((5, 4))})


def test_another_spatial_size_is_planned_anew_or_refused(caplog):
    text = (
        DATA
        + """
    layer { name: "c" type: "conv" input: "x" conv { num_filters: 3 filter_size: 3 } }
    layer { name: "p" type: "pool" input: "c" pool { global_pooling: true } }
    layer { name: "scores" type: "fc" input: "p" fc { size: 3 } }
    """
        + COST
    )
    feeds = {"x": np.ones((2, 2, 9, 7)), "label": np.zeros(2, int)}
    with caplog.at_level(logging.INFO, "paddle_layers"), pl.Net(pl.loads(text)) as net:
        net.forward(batch())
        net.forward(feeds)
        net.backward()
        assert [record.getMessage() for record in caplog.records] == ["rebuilt the plan: `x` is 2x9x7"]
        with pytest.raises(FeedError, match="does not fit into 2 rows"):
            net.forward({"x": np.ones((2, 2, 2, 7)), "label": np.zeros(2, int)})
    with (
        pl.Net(pl.loads(FAN_OUT)) as net,
        pytest.raises(FeedError, match=r"`scores\.weight_0` requires shape"),
    ):
        net.forward(feeds)


def test_random_layers_depend_on_seed_and_step_only():
    feeds = batch()
    found = []
    for seed, step in ((1, 3), (1, 3), (1, 4), (2, 3)):
        with pl.Net(pl.loads(FAN_OUT), seed=seed) as net:
            net.parameters["scores.weight_1"].value[...] = 1
            net.forward(feeds, step=step)
            found.append(net.loss)
    assert found[0] == found[1]
    assert len(set(found)) == 3


def test_a_pass_of_the_test_phase_samples_by_its_step():
    text = 'layer { name: "p" type: "data" data { shape: 4 } } layer { name: "s" type: "sampling_id" input: "p" }'
    with pl.Net(pl.loads(text)) as net:
        feeds = {"p": np.full((50, 4), 0.25)}
        first, again, other = (net.forward(feeds, "test", step=step)["s"] for step in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_states_move_while_training_only():
    with pl.Net(pl.loads(FAN_OUT)) as net:
        before = net.states["b.running_mean"].value.copy()
        net.forward(batch(), phase="test")
        np.testing.assert_array_equal(net.states["b.running_mean"].value, before)
        net.forward(batch())
        assert (net.states["b.running_mean"].value != before).all()


def test_weights_survive_the_disk(tmp_path):
    path = str(tmp_path / "w.safetensors")
    with pl.Net(pl.loads(FAN_OUT), seed=1) as one, pl.Net(pl.loads(FAN_OUT), seed=2) as two:
        one.forward(batch())
        one.save(path)
        report = two.load(path)
        assert not report.missing
        assert not report.unexpected
        np.testing.assert_array_equal(
            one.forward(batch(), phase="test")["cost"], two.forward(batch(), phase="test")["cost"]
        )
    other = (
        'layer { name: "x" type: "data" data { shape: [4] } } layer { name: "z" type: "fc" input: "x" fc { size: 2 } }'
    )
    with pl.Net(pl.loads(other)) as net, pytest.raises(WeightsError, match="does not match the network"):
        net.load(path)
    wider = FAN_OUT.replace("num_filters: 3", "num_filters: 4")
    with pl.Net(pl.loads(wider)) as net:
        before = net.parameters["scores.bias"].value.copy()
        with pytest.raises(WeightsError, match=r"`c\.weight` is \(4x2x3x3\), but \(3x2x3x3\) in the file"):
            net.load(path)
        np.testing.assert_array_equal(net.parameters["scores.bias"].value, before)


def test_the_first_layer_that_is_not_finite_is_named():
    with pl.Net(pl.loads(FAN_OUT)) as net:
        net.forward(batch())
        assert net.find_non_finite() is None
        net.parameters["b.gain"].value[0] = np.inf
        net.forward(batch())
        assert net.find_non_finite() == "b"


WRONG_FEEDS = {
    "a name that is none": ({"y": 1}, "unknown data layer `y`"),
    "a feed that is missing": ({"label": None}, "missing feed for data layer `label`"),
    "another rank": ({"x": np.ones((5, 72))}, r"expected \(rows, 2, 6, 6\)"),
    "images as height, width, channels": (
        {"x": np.ones((5, 6, 6, 2))},
        r"rows of 6x6x2, .* takes 2x6x6 \(channels first\); feed array.transpose\(0, 3, 1, 2\)",
    ),
    "texts": ({"x": np.full((5, 2, 6, 6), "a")}, "expected a real dtype"),
    "masked elements": ({"x": np.ma.masked_less(np.arange(360.0).reshape(5, 2, 6, 6), 3)}, r"array.filled\(value\)"),
    "masked elements in a list": (
        {"x": [np.ma.masked_less(np.arange(72.0).reshape(2, 6, 6), 3)] * 5},
        "has masked elements",
    ),
    "NaN": ({"x": np.full((5, 2, 6, 6), np.nan)}, "contains nan in row 0"),
    "fractions as ids": ({"label": np.ones(5)}, "ids must be integers"),
    "infinity": ({"x": np.full((5, 2, 6, 6), np.inf)}, "contains inf in row 0"),
    "a number too large": (
        {"x": np.full((5, 2, 6, 6), 1e300)},
        r"feed `x` contains 1e\+300 at index \(0, 0, 0, 0\), which is too large for float32",
    ),
    "an id out of range": ({"label": np.array([0, 1, 2, 3, 0])}, "contains id 3 in row 3; valid ids are 0 to 2"),
    "a negative id": ({"label": np.array([0, 1, 2, -1, 0])}, "contains id -1 in row 3"),
    "another number of rows": ({"label": np.zeros(4, int)}, "has 4 samples, but `x` has 5"),
}


@pytest.mark.parametrize("fault", WRONG_FEEDS)
def test_wrong_feeds_are_refused_before_anything_runs(fault):
    changes, message = WRONG_FEEDS[fault]
    feeds = {name: value for name, value in {**batch(), **changes}.items() if value is not None}
    with pl.Net(pl.loads(FAN_OUT)) as net, pytest.raises(FeedError, match=message):
        net.forward(feeds)


@pytest.mark.parametrize(
    ("keep", "error", "message"),
    [
        (["nope"], ValueError, "keep: no layer has an output 'nope'$"),
        (["score"], ValueError, "; did you mean `scores`"),
        ("scores", TypeError, r"must be a list of names, not 'scores': write keep=\['scores'\]"),
        ([3], ValueError, "keep: no layer has an output 3"),
        (3, TypeError, "a list of names, not 3"),
    ],
)
def test_only_values_that_there_are_can_be_kept(keep, error, message):
    with pytest.raises(error, match=message):
        pl.Net(pl.loads(FAN_OUT), keep=keep)


def test_a_setting_that_float32_cannot_hold_is_refused():
    text = """
layer { name: "x" type: "data" data { shape: [2] } }
layer { name: "y" type: "slope_intercept" input: "x" slope_intercept { slope: 1e300 } }
"""
    with pytest.raises(pl.ShapeError, match=r"layer `y`: `slope` is 1e\+300, which is too large for float32"):
        pl.Net(pl.loads(text))
    with pl.Net(pl.loads(text), dtype="float64") as net:
        np.testing.assert_array_equal(net.forward({"x": np.ones((1, 2))})["y"], [[1e300, 1e300]])


def test_ignored_labels_may_lie_outside():
    text = FAN_OUT.replace('input: "label" }', 'input: "label" softmax_with_loss { ignore_label: -1 } }')
    feeds = {**batch(), "label": np.array([0, -1, 2, -1, 0])}
    with pl.Net(pl.loads(text)) as net:
        cost = net.forward(feeds)["cost"]
        assert (cost[[1, 3]] == 0).all()


def test_sequences_come_back_as_sequences():
    text = """
    layer { name: "w" type: "data" data { data_type: INT size: 9 seq_nested_level: 2 } }
    layer { name: "e" type: "embedding" input: "w" embedding { size: 3 } }
    layer { name: "m" type: "seq_avg_pool" input: "e" seq_avg_pool { level: SUBSEQUENCE } }
    """
    nested = [[[1, 2], []], [[3, 4, 5]], []]
    with pl.Net(pl.loads(text), keep=["e"]) as net:
        found = net.forward({"w": nested})["m"]
        assert isinstance(found, Sequences)
        assert found.starts.tolist() == [0, 2, 3, 3]
        rows = net.value("e")
        assert rows.sub_starts.tolist() == [0, 2, 2, 5]
        np.testing.assert_allclose(found.data[0], rows.data[:2].mean(axis=0), rtol=1e-6)
        assert (found.data[1] == 0).all()
    with pl.Net(pl.loads(text)) as net, pytest.raises(FeedError, match="rows of each sub-sequence"):
        net.forward({"w": [[1, 2]]})


def test_a_net_without_parameters_is_saved_and_loaded(tmp_path):
    network = pl.loads("""
layer { name: "x" type: "data" data { shape: [4] } }
layer { name: "y" type: "relu" input: "x" relu { } }
""")
    with pl.Net(network) as net:
        net.save(str(tmp_path / "empty.safetensors"))
        assert net.load(str(tmp_path / "empty.safetensors")).loaded == ()


def test_a_sparse_input_may_come_before_dense_ones():
    with pl.Net(
        pl.loads("""
layer { name: "a" type: "data" data { data_type: SPARSE_INT size: 4 } }
layer { name: "b" type: "data" data { shape: [3] } }
layer { name: "y" type: "fc" input: "a" input: "b" fc { size: 2 bias: false } }
""")
    ) as net:
        b = np.array([[1.0, 2.0, 3.0]])
        weights = [net.parameters[f"y.weight_{item}"].value for item in (0, 1)]
        found = net.forward({"a": [[0, 2]], "b": b})["y"]
        np.testing.assert_allclose(found, weights[0][[0, 2]].sum(axis=0) + b @ weights[1], rtol=1e-5)


def test_backward_may_be_asked_for_again():
    """Each time as after the forward pass, of the loss or with given gradients; running states move once."""
    text = """
layer { name: "x" type: "data" data { shape: [3] } }
layer { name: "label" type: "data" data { data_type: INT size: 2 } }
layer { name: "norm" type: "batch_norm" input: "x" batch_norm { act: "relu" } }
layer { name: "scores" type: "fc" input: "norm" fc { size: 2 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
"""
    rng = np.random.default_rng(0)
    feeds = {"x": rng.normal(size=(5, 3)), "label": rng.integers(0, 2, 5)}
    with pl.Net(pl.loads(text), dtype="float64") as net:
        net.forward(feeds)
        mean = net.states["norm.running_mean"].value.copy()
        net.backward()
        first = net.arena.gradients.read().copy()
        net.backward()
        np.testing.assert_array_equal(net.arena.gradients.read(), first)
        net.backward(gradients={"cost": np.full(5, 2.0)})
        np.testing.assert_allclose(net.arena.gradients.read(), 10 * first, rtol=1e-12)
        net.backward()
        np.testing.assert_array_equal(net.arena.gradients.read(), first)
        np.testing.assert_array_equal(net.states["norm.running_mean"].value, mean)


def test_arrays_may_be_reused_after_the_forward_pass():
    """Ids and sparse rows are read by the backward pass, and all feeds by another one."""
    text = """
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "ids" type: "data" data { data_type: INT size: 4 } }
layer { name: "tags" type: "data" data { data_type: SPARSE size: 3 } }
layer { name: "row" type: "embedding" input: "ids" embedding { size: 3 } }
layer { name: "y" type: "fc" input: "x" input: "row" input: "tags" fc { size: 2 } }
"""
    rng = np.random.default_rng(0)
    given = {"x": rng.normal(size=(2, 3)), "ids": np.array([1, 3]), "tags": scipy.sparse.csr_matrix(np.eye(3)[:2])}
    found = []
    for reused in (False, True):
        with pl.Net(pl.loads(text), dtype="float64") as net:
            feeds = copy.deepcopy(given)
            net.forward(feeds)
            if reused:
                feeds["x"][:], feeds["ids"][:], feeds["tags"].data[:] = 0, 0, 0
            for _ in range(2):
                net.backward({"y": np.ones((2, 2))})
                found.append([np.array(parameter.gradient) for parameter in net.parameters.values()])
    for gradients in found[1:]:
        for gradient, expected in zip(gradients, found[0], strict=True):
            np.testing.assert_array_equal(gradient, expected)


def test_a_batch_without_rows_has_a_loss_of_zero():
    text = """
layer { name: "x" type: "data" data { shape: [3] seq_nested_level: 1 } }
layer { name: "y" type: "data" data { shape: [2] seq_nested_level: 1 } }
layer { name: "scores" type: "fc" input: "x" fc { size: 2 } }
layer { name: "cost" type: "square_error" input: "scores" input: "y" }
"""
    empty = np.array([0, 0])
    with pl.Net(pl.loads(text)) as net:
        net.forward({"x": pl.Sequences(np.zeros((0, 3)), empty), "y": pl.Sequences(np.zeros((0, 2)), empty)})
        net.backward()
        assert net.loss == 0
        assert not net.arena.gradients.read().any()


def test_numbers_that_float32_cannot_hold_are_refused_and_nothing_is_changed(tmp_path):
    text = (
        'layer { name: "x" type: "data" data { shape: [2] } } layer { name: "y" type: "fc" input: "x" fc { size: 1 } }'
    )
    path = str(tmp_path / "w.safetensors")
    with pl.Net(pl.loads(text), dtype="float64") as net:
        net.parameters["y.bias"].value = 1e300
        net.save(path)
    with pl.Net(pl.loads(text)) as net:
        before = {name: parameter.value.copy() for name, parameter in net.parameters.items()}
        with pytest.raises(
            WeightsError, match=r"`y.bias` contains 1e\+300 at index \(0,\), which is too large for float32"
        ):
            net.load(path)
        with pytest.raises(
            ValueError, match=r"`y.weight` contains -1e\+39 at index \(0, 0\), which is too large for float32"
        ):
            net.parameters["y.weight"].value = -1e39
        net.forward({"x": np.ones((1, 2))})
        with pytest.raises(
            FeedError, match=r"the gradient of `y` contains 1e\+39 at index \(0, 0\), which is too large"
        ):
            net.backward(gradients={"y": np.full((1, 1), 1e39)})
        for name, values in before.items():
            np.testing.assert_array_equal(net.parameters[name].value, values)


def test_rows_of_no_numbers_are_refused_and_change_nothing():
    with pl.Net(pl.loads('layer { name: "x" type: "data" data { shape: 3 } }')) as net:
        with pytest.raises(pl.runtime.FeedError, match=r"has shape \(2, 0\); expected \(rows, 3\)"):
            net.forward({"x": np.zeros((2, 0))})
        assert net.forward({"x": [[1, 2, 3]]})["x"].tolist() == [[1, 2, 3]]


def test_a_list_of_rows_of_another_size_is_taken_as_an_array_is():
    with pl.Net(pl.loads('layer { name: "x" type: "data" data { shape: 3 seq_nested_level: 1 } }')) as net:
        for rows in ([[], np.ones((2, 5))], Sequences(np.ones((2, 5)), np.array([0, 0, 2]))):
            net.forward({"x": Sequences(np.ones((2, 3)), np.array([0, 2]))})
            assert net.forward({"x": rows})["x"].data.tolist() == np.ones((2, 5)).tolist()


def test_a_step_makes_no_arrays_but_its_outputs() -> None:
    """What a step needs beside them is a few objects, whatever the sizes of the batch and of the layers are."""
    rows, width = 256, 1024
    net = pl.Net(
        pl.loads(
            f'layer {{ name: "x" type: "data" data {{ shape: {width} }} }}'
            'layer { name: "label" type: "data" data { data_type: INT size: 3 } }'
            f'layer {{ name: "hidden" type: "fc" input: "x" fc {{ size: {width} act: "relu" }} }}'
            'layer { name: "scores" type: "fc" input: "hidden" fc { size: 3 } }'
            'layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }'
        )
    )
    feeds = {"x": np.ones((rows, width), np.float32), "label": np.zeros(rows, np.int64)}
    sgd = registries["optimizer"]["sgd"]
    updater = Updater(sgd, sgd.bind({"momentum": 0.9}), net)
    tracemalloc.start()
    try:
        for step in range(3):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            net.forward(feeds)
            net.backward()
            updater.step(1e-3, step + 1)
            most = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert most < 48 * 1024 < feeds["x"].size / 4  # NumPy before 2 sums through a buffer of 32 KiB


def test_large_numbers_are_numbers() -> None:
    """Their sum need not be one."""
    most = np.finfo(np.float32).max
    assert finite(np.full(4, most, np.float32), "float32").tolist() == [most] * 4
    for bad in ([np.inf, -np.inf], [1.0, np.nan], [1e300]):
        with pytest.raises(FeedError):
            finite(np.array(bad), "float32")
