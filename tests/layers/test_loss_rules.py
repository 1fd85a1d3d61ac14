"""What costs promise beyond their formula: digits of long sequences, lists without an order, refusals in words."""

import numpy as np
import pytest

import paddle_layers as pl

pytestmark = pytest.mark.usefixtures("as_python")

ROWS, CLASSES = 3000, 5
CHAIN = """
layer { name: "x" type: "data" data { shape: 5 seq_nested_level: 1 } }
layer { name: "label" type: "data" data { data_type: INT size: 5 seq_nested_level: 1 } }
layer {
  name: "cost" type: "crf" input: "x" propagate_down: true input: "label" propagate_down: false
  param { of: "transitions" share: "steps" }
}
layer {
  name: "found" type: "crf_decoding" input: "x" input: "label" output: "path" output: "error"
  param { of: "transitions" share: "steps" }
}
"""


def chain(dtype):
    rng = np.random.default_rng(0)
    x = (10 * rng.standard_normal((ROWS, CLASSES)) + 5).astype(np.float32)
    label = rng.integers(0, CLASSES, ROWS)
    steps = rng.standard_normal((CLASSES + 2, CLASSES)).astype(np.float32)
    with pl.Net(pl.loads(CHAIN), dtype=dtype) as net:
        (transitions,) = net.parameters.values()
        transitions.value = steps
        outputs = net.forward({"x": pl.Sequences(x, [0, ROWS]), "label": pl.Sequences(label, [0, ROWS])})
        net.backward()
        return outputs, net.gradient("x"), transitions.gradient


@pytest.mark.slow
def test_a_long_sequence_loses_no_digits_in_float32():
    outputs, dx, dtransitions = chain("float32")
    exact, exact_dx, exact_dtransitions = chain("float64")
    np.testing.assert_allclose(outputs["cost"], exact["cost"], rtol=2e-6)  # a sum of 3,000 terms
    np.testing.assert_allclose(dx, exact_dx, atol=2e-5)
    np.testing.assert_allclose(dtransitions, exact_dtransitions, rtol=1e-4, atol=1e-2)
    np.testing.assert_array_equal(outputs["path"].data, exact["path"].data)


def test_a_labelling_that_is_found_costs_least():
    outputs, *_ = chain("float64")
    x, label = np.arange(10.0).reshape(2, 5) % 7, np.array([1, 3])
    assert 0 < outputs["error"].data.mean() < 1
    with pl.Net(pl.loads(CHAIN), dtype="float64") as net:
        feeds = {"x": pl.Sequences(x, [0, 2]), "label": pl.Sequences(label, [0, 2])}
        first = net.forward(feeds)
        best = net.forward({**feeds, "label": pl.Sequences(first["path"].data, [0, 2])})
    assert best["error"].data.sum() == 0
    assert best["cost"] < first["cost"]


def test_the_better_order_costs_less_and_has_the_higher_gain():
    text = """
    layer { name: "x" type: "data" data { seq_nested_level: 1 } }
    layer { name: "relevance" type: "data" data { seq_nested_level: 1 } }
    layer { name: "cost" type: "lambda_cost" input: "x" input: "relevance" output: "cost" output: "ndcg" }
    """
    starts = [0, 3, 6, 8, 8]  # the best order, the worst one, nothing relevant, nothing at all
    scores, relevance = [3, 2, 1, 1, 2, 3, 5, 4], [2, 1, 0, 2, 1, 0, 0, 0]
    with pl.Net(pl.loads(text)) as net:
        found = net.forward({"x": pl.Sequences(scores, starts), "relevance": pl.Sequences(relevance, starts)})
    assert 0 < found["cost"][0] < found["cost"][1]
    assert found["ndcg"][0] == pytest.approx(1)
    assert found["ndcg"][1] == pytest.approx((1 / np.log2(3) + 3 / np.log2(4)) / (3 + 1 / np.log2(3)))
    np.testing.assert_array_equal(found["cost"][2:], 0)
    np.testing.assert_array_equal(found["ndcg"][2:], 1)


CHAIN_OF_3 = "sequence of 3"
REFUSALS = [
    ("crf", (CHAIN_OF_3, "sequence of ids<4"), {}, 1, "the label has 4 classes, but there are 3 scores"),
    ("crf_decoding", (CHAIN_OF_3, "sequence of ids<4"), {}, 1, "the label has 4 classes, but there are 3 scores"),
    ("ctc", (CHAIN_OF_3, "sequence of ids<4"), {"max_labels": 2}, 1, "the label has 4 classes, but there are 3 scores"),
    ("ctc", (CHAIN_OF_3, "sequence of ids<3"), {"max_labels": 2, "blank": 3}, None, "the blank is class 3, but 3 cla"),
    ("hinge_loss", ("3", "ids<4"), {}, 1, "the label has 4 classes, but there are 3 scores"),
    ("infogain_loss", ("3", "ids<4"), {}, 1, "the label has 4 classes, but there are 3 scores"),
    ("huber_classification", ("1", "ids<3"), {}, 1, "a binary target has the ids 0 and 1, got 3 ids"),
    ("rank_cost", ("1", "1", "ids<3"), {}, 2, "a binary target has the ids 0 and 1, got 3 ids"),
    ("contrastive_loss", ("4", "4", "ids<3"), {}, 2, "a binary target has the ids 0 and 1, got 3 ids"),
    ("multi_binary_label_cross_entropy", ("3", "sparse ids 4"), {}, 1, "there are 4 labels, but 3 classes have a prob"),
]


@pytest.mark.parametrize(("layer", "inputs", "settings", "place", "words"), REFUSALS)
def test_refusals_say_in_words_what_is_wrong(layer, inputs, settings, place, words):
    definition = pl.registry[layer]
    with pytest.raises(pl.ShapeError, match=words) as caught:
        definition.infer([pl.Type.parse(text) for text in inputs], definition.bind(settings))
    assert caught.value.input == place
