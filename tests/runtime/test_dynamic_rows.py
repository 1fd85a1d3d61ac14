"""Rows whose number follows from values that the network computes."""

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime import FeedError, Sequences
from paddle_layers.runtime.devices.cuda import simulated_device

pytestmark = pytest.mark.usefixtures("as_python")

BEST_PARTS = """
layer { name: "x" type: "data" data { shape: 2 seq_nested_level: 2 } }
layer { name: "part" type: "seq_avg_pool" input: "x" seq_avg_pool { level: SUBSEQUENCE } }
layer { name: "score" type: "fc" input: "part" fc { size: 1 } }
layer { name: "best" type: "kmax_seq_score" input: "score" kmax_seq_score { beam_size: 2 } }
layer { name: "taken" type: "sub_nested_seq" input: "x" input: "best" }
layer { name: "sums" type: "seq_avg_pool" input: "taken" seq_avg_pool { strategy: SUM } }
layer { name: "cost" type: "sum_cost" input: "sums" }
"""
RUNS = """
layer { name: "x" type: "data" data { shape: 1 seq_nested_level: 1 } }
layer { name: "first" type: "data" data { shape: 3 } }
layer { name: "moved" type: "slope_intercept" input: "first" slope_intercept { intercept: 1 } }
layer { name: "norm" type: "batch_norm" input: "x" }
layer { name: "runs" type: "seq_slice" input: "norm" input: "moved" }
layer { name: "twice" type: "seq_concat" input: "runs" input: "runs" }
"""


def nested(*sequences):
    return [[np.array(part, float).reshape(-1, 2) for part in sequence] for sequence in sequences]


def test_the_best_parts_are_found_in_the_middle_of_the_pass():
    x = nested([[[1, 1]], [[3, 3], [5, 5]], [[2, 2]]], [[[7, 7]]])
    with pl.Net(pl.loads(BEST_PARTS), keep=["taken", "best"]) as net:
        net.parameters["score.weight"].value = np.ones((2, 1))
        net.forward({"x": x})
        assert net.value("best").tolist() == [[1, 2], [0, -1]]
        taken = net.value("taken")
        assert taken.data.tolist() == [[3, 3], [5, 5], [2, 2], [7, 7]]
        assert (taken.starts.tolist(), taken.sub_starts.tolist()) == ([0, 2, 3], [0, 2, 3, 4])


def runs(net, x, first, **options):
    lengths = [len(sequence) for sequence in x]
    fed = Sequences(np.concatenate(x)[:, None], np.cumsum([0, *lengths]))
    return net.forward({"x": fed, "first": np.array(first, float) - 1}, **options)


def test_a_simulated_card_does_the_same():
    rng = np.random.default_rng(0)
    x = nested(*([rng.normal(size=(rows, 2)) for rows in counts] for counts in ((2, 1, 3), (1,), (4, 2))))
    found = {}
    for name, device in {"cpu": "cpu", "cuda": simulated_device()}.items():
        with pl.Net(pl.loads(BEST_PARTS), device=device, keep=["taken"]) as net:
            outputs = net.forward({"x": x})
            net.backward()
            found[name] = [outputs["cost"], net.value("taken").data, net.loss]
    for one, two in zip(*found.values(), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5)


def test_what_is_not_finite_is_found_behind_rows_made_in_the_pass():
    text = (
        RUNS
        + """
layer { name: "log" type: "fc" input: "runs" fc { size: 1 } }
"""
    )
    with pl.Net(pl.loads(text)) as net:
        runs(net, [np.arange(6.0)], [[1, 2, 3]])
        assert net.find_non_finite() is None
        net.parameters["log.weight"].value = np.array([[np.inf]])
        runs(net, [np.arange(6.0)], [[1, 2, 3]])
        assert net.find_non_finite() == "log"


def test_larger_buffers_are_made_between_passes_and_states_move_once():
    x, few, many = [np.arange(6.0), np.arange(4.0)], [[5, -1, 0], [-1, 0, 0]], [[0, 0, 0], [0, 1, 0]]
    with pl.Net(pl.loads(RUNS)) as net, pl.Net(pl.loads(RUNS)) as other:
        runs(net, x, few)
        outputs = runs(net, x, many)
        assert len(outputs["twice"].data) == 2 * (3 * 6 + 4 + 3 + 4)
        for _ in range(2):
            runs(other, x, few)
        for name, state in net.states.items():
            np.testing.assert_array_equal(state.value, other.states[name].value)
        plan = net.plan("train")
        runs(net, x, many)
        assert net.plan("train") is plan


def test_a_backward_pass_after_rows_have_changed_is_that_of_a_new_net():
    x = [np.arange(6.0), np.arange(4.0)]
    found = []
    for firsts in ([[[0, 2, 4], [1, 1, -1]]], [[[5, -1, 0], [0, 0, 0]], [[0, 2, 4], [1, 1, -1]]]):
        with pl.Net(pl.loads(RUNS), dtype="float64") as net:
            for first in firsts:
                rows = len(runs(net, x, first)["twice"].data)
            net.backward({"twice": np.linspace(0, 1, rows)[:, None]})
            found.append(net.parameters["norm.gain"].gradient.copy())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("first", "words"),
    [
        (
            [[0, 9, 0], [0, 0, 0]],
            "`first` contains index 9 for sequence 0; valid indices are 0 to 5, or -1 for no",
        ),
        ([[0, 0, 0], [0.5, 0, 0]], "`first` contains index 0.5 for sequence 1"),
        ([[0, 0, 0], [0, -2, 0]], "`first` contains index -2 for sequence 1"),
    ],
)
def test_a_place_that_is_not_there_is_an_error_in_words(first, words):
    with pl.Net(pl.loads(RUNS)) as net:
        with pytest.raises(FeedError) as caught:
            runs(net, [np.arange(6.0), np.arange(4.0)], first)
        assert str(caught.value).startswith("layer `runs`: " + words)
        assert len(runs(net, [np.arange(2.0)], [[0, 1, -1]])["twice"].data) == 6


def test_an_empty_sequence_has_no_places():
    text = RUNS.replace('input: "moved"', 'input: "first"')
    with pl.Net(pl.loads(text)) as net, pytest.raises(FeedError, match=r"the sequence is empty; use -1 for no index"):
        runs(net, [np.arange(2.0), np.arange(0.0)], [[1, 1, 1], [1, 1, 1]])


def test_rows_that_are_combined_have_to_agree():
    text = (
        RUNS
        + """
layer { name: "others" type: "seq_slice" input: "x" input: "first" }
layer { name: "sum" type: "addto" input: "runs" input: "others" }
"""
    )
    with pl.Net(pl.loads(text)) as net, pytest.raises(FeedError, match="layer `sum` requires equal"):
        runs(net, [np.arange(6.0)], [[1, 2, 1]])


GROUP = """
layer { name: "x" type: "data" data { shape: 2 seq_nested_level: 1 } }
layer { name: "first" type: "data" data { shape: 3 } }
layer { name: "same" type: "linear" input: "first" }
layer { name: "runs" type: "seq_slice" input: "x" input: "FIRST" }
layer { name: "g" type: "recurrent_group" input: "runs" step {
  layer { name: "old" type: "memory" memory { of: "new" size: 2 } }
  layer { name: "last" type: "seq_last" input: "runs" }
  layer { name: "new" type: "fc" input: "last" input: "old" fc { size: 2 act: "tanh" } }
  output: "new"
} }
layer { name: "end" type: "seq_last" input: "g" }
layer { name: "cost" type: "sum_cost" input: "end" }
"""


def test_a_recurrent_group_takes_steps_over_rows_made_in_the_pass():
    x = Sequences(np.random.default_rng(0).normal(size=(7, 2)), np.array([0, 4, 7]))
    found = []
    for name in ("first", "same"):  # known before the pass, and in it
        with pl.Net(pl.loads(GROUP.replace("FIRST", name)), dtype="float64") as net:
            for first in ([[0, 2, -1], [1, -1, 0]], [[0, 0, 3], [0, 1, 2]], [[-1, 0, 0], [1, 0, -1]]):
                cost = net.forward({"x": x, "first": np.array(first, float)})["cost"]
                net.backward()
                found.append([cost, *(parameter.gradient.copy() for parameter in net.parameters.values())])
    for early, late in zip(found[:3], found[3:], strict=True):
        for one, two in zip(early, late, strict=True):  # kernels for late rows are chosen without knowing how many
            np.testing.assert_allclose(one, two, rtol=1e-12)


@pytest.mark.parametrize(
    ("layer", "level", "fed", "message"),
    [
        ("resize", 0, np.ones((3, 2)), "`y`: the batch has 3 rows of 2, whose 6 numbers `size`, 4, does not divide"),
        (
            "seq_reshape",
            1,
            [np.ones((2, 2)), np.ones((0, 2)), np.ones((5, 2))],
            "`y`: sequence 2 has 5 rows of 2, whose 10 numbers `size`, 4, does not divide",
        ),
    ],
)
def test_rows_that_a_width_does_not_divide_are_refused(layer, level, fed, message):
    text = f"""
    layer {{ name: "x" type: "data" data {{ shape: 2 seq_nested_level: {level} }} }}
    layer {{ name: "y" type: "{layer}" input: "x" {layer} {{ size: 4 }} }}
    """
    with pl.Net(pl.loads(text)) as net, pytest.raises(FeedError, match=message):
        net.forward({"x": fed})


STEP = """
layer { name: "x" type: "data" data { shape: 2 seq_nested_level: 2 } }
layer { name: "g" type: "recurrent_group" input: "x" step {
  layer { name: "old" type: "memory" memory { of: "new" size: 2 } }
  layer { name: "head" type: "seq_first" input: "x" }
  layer { name: "best" type: "maxid" input: "DECIDES" }
  layer { name: "runs" type: "sub_seq" input: "x" input: "best" input: "best" }
  layer { name: "sum" type: "seq_avg_pool" input: "runs" seq_avg_pool { level: SEQUENCE strategy: SUM } }
  layer { name: "new" type: "addto" input: "sum" input: "old" }
  output: "new"
} }
"""


def test_rows_of_steps_that_do_not_wait_for_each_other_are_made_at_once():
    x = nested([[[0, 1], [2, 4]], [[3, 1], [9, 5]], [[4, 5], [7, 8], [1, 1]]], [[[0, 7]]])
    with pl.Net(pl.loads(STEP.replace("DECIDES", "head"))) as net:
        for _ in range(2):
            assert net.forward({"x": x})["g"].data.tolist() == [[2, 4], [2, 4], [9, 12], [0, 0]]


def test_rows_that_depend_on_the_step_before_are_refused():
    text = STEP.replace("DECIDES", "old")
    with pytest.raises(
        pl.ShapeError, match=r"layer `g\.runs`: its row count depends on values computed by previous steps"
    ):
        pl.Net(pl.loads(text)).forward({"x": nested([[[1, 1]]])})
