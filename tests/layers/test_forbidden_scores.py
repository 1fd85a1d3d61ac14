"""Scores that forbid a class, a transition or an alignment, -1e4 to minus infinity, and very large ones."""

import itertools
from unittest import mock

import numpy as np
import pytest

import paddle_layers as pl
from tests.references.crf import crf_marginals, labellings
from tests.references.ctc import ctc_marginals

pytestmark = pytest.mark.usefixtures("as_python")

ROWS, CLASSES = 4, 3
FORBIDDEN = [-1e4, -1e9, -np.inf]
CHAIN = """
layer { name: "x" type: "data" data { shape: 3 seq_nested_level: 1 } }
layer { name: "label" type: "data" data { data_type: INT size: 3 seq_nested_level: 1 } }
layer { name: "cost" type: "crf" input: "x" propagate_down: true input: "label" propagate_down: false
        param { of: "transitions" share: "steps" } }
layer { name: "decoded" type: "crf_decoding" input: "x" output: "path" output: "error"
        param { of: "transitions" share: "steps" } }
"""
ALIGNMENT = """
layer {{ name: "x" type: "data" data {{ shape: 3 seq_nested_level: 1 }} }}
layer {{ name: "label" type: "data" data {{ data_type: INT size: 3 seq_nested_level: 1 }} }}
layer {{ name: "cost" type: "ctc" input: "x" propagate_down: true input: "label" propagate_down: false
         ctc {{ max_labels: 3 blank: {blank} }} }}
"""


def feed_infinities():
    """Feeds refuse infinities; here they stand for scores that a layer computes."""
    return mock.patch("paddle_layers.runtime.batch.feeding.finite", lambda array, dtype: array.astype(dtype))


def chain_cases():
    """Places to forbid, as (classes of rows, entries of transitions): each alone, several, all but one labelling."""
    every = [(2 + i, c) for i in range(CLASSES) for c in range(CLASSES)]
    yield from ([((), (place,)) for place in [*itertools.product((0, 1), range(CLASSES)), *every]])
    yield from ([(((t, c),), ()) for t in range(ROWS) for c in range(CLASSES)])
    yield (), ((1, 0), (2, 0), (4, 0), (0, 2), (3, 2))
    yield ((1, 0), (2, 0), (2, 1)), ((1, 0), (2, 1))
    yield tuple((t, c) for t in range(ROWS) for c in (0, 1)), ()  # the labelling 2, 2, 2, 2 alone
    yield (), (*((0, c) for c in (0, 2)), *((2 + i, c) for i, c in itertools.product(range(3), repeat=2) if c != 1 - i))
    yield tuple((2, c) for c in range(CLASSES)), ()  # a whole row: every labelling has one such score
    yield (), tuple(every)
    yield (), tuple((1, c) for c in range(CLASSES))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_chain_with_forbidden_scores_has_the_marginals_of_enumeration(dtype):
    """Labels are the best labelling, which avoids forbidden scores where it can, and the worst one."""
    rng = np.random.default_rng(0)
    with pl.Net(pl.loads(CHAIN), dtype=dtype) as net, feed_infinities():
        for (in_rows, in_transitions), score in itertools.product(chain_cases(), FORBIDDEN):
            x = rng.normal(size=(ROWS, CLASSES)).astype(dtype)
            transitions = rng.normal(size=(CLASSES + 2, CLASSES)).astype(dtype)
            for place in in_rows:
                x[place] = score
            for place in in_transitions:
                transitions[place] = score
            check_chain(net, x, transitions, f"{score} in {in_rows}, {in_transitions}")


def check_chain(net, x, transitions, where):
    exact, exact_transitions = x.astype(np.longdouble), transitions.astype(np.longdouble)
    scores = dict(labellings(exact, exact_transitions))
    best, worst = max(scores, key=scores.get), min(scores, key=scores.get)
    if scores[best] == -np.inf:
        return
    net.parameters["cost.transitions"].value = transitions
    rounding = 3e-6 if x.dtype == np.float32 else 1e-10
    for label in (best, worst):
        labels = np.array(label)
        found = net.forward({"x": pl.Sequences(x, [0, ROWS]), "label": pl.Sequences(labels, [0, ROWS])})
        net.backward(gradients={"cost": np.ones(1)})
        cost, dx, dtransitions = crf_marginals(exact, label, exact_transitions)
        np.testing.assert_allclose(found["cost"], float(cost), rtol=rounding, atol=rounding, err_msg=where)
        np.testing.assert_allclose(net.gradient("x"), dx, atol=rounding, err_msg=where)
        gradient = net.parameters["cost.transitions"].gradient
        np.testing.assert_allclose(gradient, dtransitions, atol=rounding, err_msg=where)
        assert scores[tuple(found["path"].data)] >= scores[best] - rounding * max(1, abs(scores[best])), where


@pytest.mark.parametrize("blank", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ctc_with_forbidden_scores_has_the_marginals_of_enumeration(dtype, blank):
    """Each class of each row alone, and pairs of them; an impossible alignment costs infinity, too few rows nothing."""
    rng = np.random.default_rng(blank)
    places = list(itertools.product(range(ROWS), range(CLASSES)))
    several = [[(t, rng.integers(CLASSES)) for t in rng.choice(ROWS, 3, replace=False)] for _ in range(6)]
    first, second = (c for c in range(CLASSES) if c != blank)
    with pl.Net(pl.loads(ALIGNMENT.format(blank=blank)), dtype=dtype) as net, feed_infinities():
        for forbidden, score in itertools.product([*([place] for place in places), *several], FORBIDDEN):
            for label in ([], [first], [first, second], [second, second], [second, first, second]):
                x = rng.normal(size=(ROWS, CLASSES)).astype(dtype)
                for place in forbidden:
                    x[place] = score
                check_alignment(net, x, label, blank, dtype)
        check_alignment(net, np.full((ROWS, CLASSES), 0.5, dtype), [first] * 3, blank, dtype)


def check_alignment(net, x, label, blank, dtype):
    ids = pl.Sequences(np.array(label, np.int64), [0, len(label)])
    cost = net.forward({"x": pl.Sequences(x, [0, ROWS]), "label": ids})["cost"][0]
    net.backward(gradients={"cost": np.ones(1)})
    wanted, dx = ctc_marginals(x.astype("f8"), label, blank)
    rounding = 2e-6 if dtype == "float32" else 1e-10
    np.testing.assert_allclose(cost, float(wanted), rtol=rounding, atol=rounding, err_msg=f"{x}, labels {label}")
    if abs(wanted) < 1e3:  # above, every path has a forbidden score, whose digits float32 has not
        np.testing.assert_allclose(net.gradient("x"), 0.0 if dx is None else dx, atol=rounding, err_msg=f"{x}, {label}")


SCORES = [
    ("softmax_with_loss", "data_type: INT size: {classes}", [1, 0]),
    ("infogain_loss", "data_type: INT size: {classes}", [1, 0]),
    ("softlabel_softmax_cost", "shape: {classes}", [[0.3, 0.7, 0.0], [1.0, 0.0, 0.0]]),
    ("softmax", None, None),
    ("log_softmax", None, None),
    ("reduction", None, None),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("score", [-1e9, -np.inf])
@pytest.mark.parametrize(("layer", "label", "labels"), SCORES)
def test_a_class_that_scores_minus_infinity_is_as_if_it_were_absent(layer, label, labels, score, dtype):
    """Values and gradients of the other classes are the same, and the gradient of the class is 0."""
    x = np.array([[0.5, -1.0, score], [2.0, 0.25, score]])
    with feed_infinities():
        y, dx = scored(layer, label, labels, x, dtype)
        expected, expected_dx = scored(layer, label, labels, x[:, :2], dtype)
    np.testing.assert_allclose(y, expected, rtol=1e-6)
    np.testing.assert_allclose(dx[:, :2], expected_dx, rtol=1e-6)
    np.testing.assert_array_equal(dx[:, 2], 0)


@pytest.mark.parametrize("place", range(CLASSES))
@pytest.mark.parametrize(("layer", "label", "labels"), SCORES)
def test_scores_whose_exponential_overflows(layer, label, labels, place):
    """What matters are the differences of scores, wherever the largest of them is."""
    x = np.array([[0.5, -1.0, 0.0], [2.0, 0.25, 1.0]])
    x[:, place] = 1e3
    y, dx = scored(layer, label, labels, x, "float64")
    expected, expected_dx = scored(layer, label, labels, x - 1e3, "float64")
    assert np.isfinite(y).all()
    np.testing.assert_allclose(y, expected + (1e3 if layer == "reduction" else 0), rtol=1e-9)
    np.testing.assert_allclose(dx, expected_dx, rtol=1e-9, atol=1e-12)


def scored(layer, label, labels, x, dtype):
    """The layer's values of the first two classes, and its gradient."""
    classes = x.shape[1]
    text = f'layer {{ name: "x" type: "data" data {{ shape: {classes} }} }}'
    feeds = {"x": x}
    if label is not None:
        text += f'layer {{ name: "label" type: "data" data {{ {label.format(classes=classes)} }} }}'
        feeds["label"] = np.array(labels) if np.ndim(labels) == 1 else np.array(labels)[:, :classes]
    inputs = 'input: "x" propagate_down: true ' + ('input: "label" propagate_down: false' if label else "")
    settings = "reduction { operation: LOG_SUM_EXP }" if layer == "reduction" else ""
    text += f'layer {{ name: "y" type: "{layer}" {inputs} {settings} }}'
    with pl.Net(pl.loads(text), dtype=dtype) as net:
        y = net.forward(feeds)["y"]
        slope = np.array([[0.5, -2.0, 0.0], [1.0, 0.75, 0.0]])
        net.backward(gradients={"y": slope[:, : y.shape[1]] if y.ndim == 2 else slope[:, 0]})
        return y.T[:2].T, net.gradient("x")
