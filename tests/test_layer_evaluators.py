"""Statistics on random sequences of all lengths against their references, and where there is nothing to count."""

import math

import numpy as np
import pytest
from references import load_references

import paddle_layers as pl
from paddle_layers.layers.evaluators import f_measure

REFERENCES = load_references()


def random_starts(rng, most, count=200):
    return np.concatenate([[0], rng.integers(0, most + 1, count).cumsum()])


def statistic(net_text, feeds):
    with pl.Net(pl.loads(net_text), dtype="float64") as net:
        net.forward(feeds)
        (value,) = net.statistics().values()
    return value


@pytest.mark.parametrize("excluded", [None, [0]])
@pytest.mark.parametrize(("scheme", "numbers"), [("PLAIN", 3), ("IOB", 5), ("IOE", 5), ("IOBES", 9)])
def test_chunks_of_many_sequences(scheme, numbers, excluded):
    rng = np.random.default_rng(numbers)
    starts = random_starts(rng, 5)
    label = rng.integers(0, numbers, starts[-1])
    x = np.where(rng.random(len(label)) < 0.7, label, rng.integers(0, numbers, len(label)))
    setting = "" if excluded is None else f"excluded_chunk_types: {excluded}"
    text = f"""
    layer {{ name: "x" type: "data" data {{ data_type: INT size: {numbers} seq_nested_level: 1 }} }}
    layer {{ name: "label" type: "data" data {{ data_type: INT size: {numbers} seq_nested_level: 1 }} }}
    layer {{ name: "f" type: "chunk" input: "x" input: "label"
             chunk {{ num_chunk_types: 2 scheme: {scheme} {setting} }} }}
    """
    attributes = {"scheme": scheme, "num_chunk_types": 2, "excluded_chunk_types": excluded}
    sums = REFERENCES["chunk"]({"x": x, "label": label, "x.starts": [starts]}, {}, attributes)
    assert 20 < sums["correct"] < min(sums["found"], sums["wanted"])
    found = statistic(text, {"x": pl.Sequences(x, starts), "label": pl.Sequences(label, starts)})
    assert found == pytest.approx(f_measure("F1", **sums))


def test_edits_of_many_sequences():
    rng = np.random.default_rng(3)
    rows, labels = random_starts(rng, 7), random_starts(rng, 5)
    x, label = rng.standard_normal((rows[-1], 4)), rng.integers(0, 4, labels[-1])
    text = """
    layer { name: "x" type: "data" data { shape: 4 seq_nested_level: 1 } }
    layer { name: "label" type: "data" data { data_type: INT size: 4 seq_nested_level: 1 } }
    layer { name: "e" type: "ctc_edit_distance" input: "x" input: "label" ctc_edit_distance { blank: 1 } }
    """
    inputs = {"x": x, "label": label, "x.starts": [rows], "label.starts": [labels]}
    counts = REFERENCES["ctc_edit_distance"](inputs, {}, {"blank": 1})
    found = statistic(text, {"x": pl.Sequences(x, rows), "label": pl.Sequences(label, labels)})
    assert found == pytest.approx(sum(counts["edits"]) / sum(counts["labels"]))


@pytest.mark.parametrize(
    ("scores", "labels", "area"),
    [([0.1, 0.2, 0.3], [0, 0, 1], 1.0), ([0.3, 0.2, 0.1], [0, 1, 1], 0.0), ([0.5, 0.5, 0.5], [0, 1, 1], 0.5)],
)
def test_auc_of_order_disorder_and_ties(scores, labels, area):
    text = """
    layer { name: "x" type: "data" data { shape: 1 } }
    layer { name: "label" type: "data" data { data_type: INT size: 2 } }
    layer { name: "a" type: "auc" input: "x" input: "label" }
    """
    assert statistic(text, {"x": np.array(scores)[:, None], "label": np.array(labels)}) == area


@pytest.mark.parametrize("name", ["auc", "classification_error", "seq_classification_error", "pnpair", "row_sum"])
def test_of_nothing_there_is_no_share(name):
    assert math.isnan(pl.registry[name].hooks["result"](0.0, 0.0))


def test_what_was_not_looked_for_has_no_recall():
    assert math.isnan(f_measure("RECALL", correct=0, found=3, wanted=0))
    assert f_measure("PRECISION", correct=0, found=3, wanted=0) == 0.0
    assert f_measure("F1", correct=1, found=3, wanted=1) == 0.5


@pytest.mark.parametrize(
    ("layer", "inputs", "attributes", "words"),
    [
        ("chunk", ("sequence of ids<4", "sequence of ids<5"), {"num_chunk_types": 2}, "take 5 numbers"),
        (
            "chunk", ("sequence of ids<3", "sequence of ids<3"), {"num_chunk_types": 1, "excluded_chunk_types": [1]},
            "there is no type 1",
        ),
        ("precision_recall", ("1", "ids<2"), {"positive_label": 2}, "is 2 of 2 classes"),
        ("auc", ("1", "ids<3"), {}, "there are 3 labels"),
    ],
)  # fmt: skip
def test_refusals_say_in_words_what_is_wrong(layer, inputs, attributes, words):
    definition = pl.registry[layer]
    with pytest.raises(pl.ShapeError) as caught:
        definition.infer([pl.Type.parse(text) for text in inputs], definition.bind(attributes))
    assert words in caught.value.message
