"""Statistics on random sequences of all lengths against their references, and where there is nothing to count."""

import math
from itertools import pairwise

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import DefinitionError, registries
from paddle_layers.layers.metrics.sums import f_measures
from paddle_layers.runtime.devices.cuda import simulated_device
from tests.references import load_references

pytestmark = pytest.mark.usefixtures("as_python")

REFERENCES = load_references()
AUC = """
layer { name: "x" type: "data" data { shape: 1 } }
layer { name: "label" type: "data" data { data_type: INT size: 2 } }
layer { name: "a" type: "auc" input: "x" input: "label" """


def random_starts(rng, most, count=200):
    return np.concatenate([[0], rng.integers(0, most + 1, count).cumsum()])


def statistics(net_text, *batches, device="cpu"):
    with pl.Net(pl.loads(net_text), device=device, dtype="float64") as net:
        for feeds in batches:
            net.forward(feeds)
        return net.statistics()


def statistic(net_text, *batches):
    (value,) = statistics(net_text, *batches).values()
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
    expected = REFERENCES["chunk"]({"x": x, "label": label, "x.starts": [starts]}, {}, attributes)["report"]
    assert 0.1 < expected["precision"] != expected["recall"] > 0.1
    found = statistics(text, {"x": pl.Sequences(x, starts), "label": pl.Sequences(label, starts)})
    assert list(found) == ["f.chunk.precision", "f.chunk.recall", "f.chunk.F1"]
    assert list(found.values()) == pytest.approx(list(expected.values()))


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
    expected = REFERENCES["ctc_edit_distance"](inputs, {}, {"blank": 1})["report"][""]
    found = statistics(text, {"x": pl.Sequences(x, rows), "label": pl.Sequences(label, labels)})
    assert found["e.ctc_edit_distance"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("scores", "labels", "area"),
    [([0.1, 0.2, 0.3], [0, 0, 1], 1.0), ([0.3, 0.2, 0.1], [0, 1, 1], 0.0), ([0.5, 0.5, 0.5], [0, 1, 1], 0.5)],
)
def test_auc_of_order_disorder_and_ties(scores, labels, area):
    assert statistic(AUC + "}", {"x": np.array(scores)[:, None], "label": np.array(labels)}) == area


def random_scores(rows):
    """Scores that tell the classes apart somewhat, many of them in the same bins; labels; batches of odd sizes."""
    rng = np.random.default_rng(5)
    label = rng.integers(0, 2, rows)
    score = rng.beta(2 + label, 40)
    cuts = [0, 1, 100, 101, 700, rows]
    return score, label, [{"x": score[a:b, None], "label": label[a:b]} for a, b in pairwise(cuts)]


@pytest.mark.parametrize(("bins", "bound"), [(16, 0.3), (4096, 0.001)])
def test_auc_of_a_pass_is_the_exact_one_but_for_pairs_in_one_bin(bins, bound):
    score, label, batches = random_scores(2000)
    differences = np.subtract.outer(score[label == 1], score[label == 0])
    exact = ((differences > 0) + (differences == 0) / 2).mean()
    place = (score * bins).astype(int)
    together = np.equal.outer(place[label == 1], place[label == 0]).mean()
    found = statistic(AUC + f"auc {{ bins: {bins} }} }}", *batches)
    assert 0 < abs(found - exact) <= together / 2 < bound


def test_auc_of_scores_that_are_no_probabilities_is_no_number():
    for wrong in (-0.1, -1e-6, 1.5):
        feeds = {"x": np.array([[0.2], [wrong], [0.9]]), "label": np.array([0, 1, 1])}
        assert math.isnan(statistic(AUC + "}", feeds))


def test_statistics_of_several_numbers_are_the_same_on_cuda():
    _, _, batches = random_scores(200)
    text = (
        AUC
        + """auc { bins: 64 } }
    layer { name: "p" type: "precision_recall" input: "x" input: "label" precision_recall { threshold: 0.05 } }
    """
    )
    cpu, cuda = (statistics(text, *batches, device=device) for device in ("cpu", simulated_device()))
    assert len(cpu) == 5
    assert cpu == cuda


@pytest.mark.parametrize("weighted", [False, True])
def test_means_over_the_classes_leave_out_what_is_not_defined(weighted):
    """Of four classes, 2 is never found and 3 neither found nor wanted."""
    guess, label = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 1, 1, 2, 0, 0])
    weight = np.array([1, 2, 1, 1, 3, 1]) if weighted else np.ones(6)
    text = """
    layer { name: "x" type: "data" data { shape: 4 } }
    layer { name: "label" type: "data" data { data_type: INT size: 4 } }
    layer { name: "w" type: "data" data { } }
    layer { name: "all" type: "precision_recall" input: "x" input: "label" input: "w" }
    layer { name: "one" type: "precision_recall" input: "x" input: "label" input: "w"
            precision_recall { positive_label: 1 } }
    """
    feeds = {"x": np.eye(4)[guess], "label": label, "w": weight[:, None]}
    found = statistics(text, *({name: rows[part] for name, rows in feeds.items()} for part in (slice(4), slice(4, 6))))
    counts = [
        [weight[(guess == k) & (label == k)].sum(), weight[guess == k].sum(), weight[label == k].sum()]
        for k in range(4)
    ]
    with np.errstate(invalid="ignore"):
        correct, guessed, wanted = np.transpose(counts)
        measures = np.array([correct / guessed, correct / wanted, 2 * correct / (guessed + wanted)])
    accuracy = weight[guess == label].sum() / weight.sum()
    names = ("precision", "recall", "F1", "accuracy")
    assert [found[f"all.precision_recall.{name}"] for name in names] == pytest.approx(
        [*np.nanmean(measures, axis=1), accuracy]
    )
    assert [found[f"one.precision_recall.{name}"] for name in names] == pytest.approx([*measures[:, 1], accuracy])


@pytest.mark.parametrize(
    "name", ["classification_error", "seq_classification_error", "pnpair", "rank_auc", "row_sum", "column_sum"]
)
def test_of_nothing_there_is_no_share(name):
    assert math.isnan(pl.registry[name].hooks["result"](0.0, 0.0))


def test_what_was_not_looked_for_has_no_recall():
    precision, recall, f1 = f_measures(correct=0, found=3, wanted=0)
    assert (precision, f1) == (0.0, 0.0)
    assert math.isnan(recall)


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
        ("column_sum", ("3",), {"column": 3}, "`column` is 3"),
    ],
)  # fmt: skip
def test_refusals_say_in_words_what_is_wrong(layer, inputs, attributes, words):
    definition = pl.registry[layer]
    with pytest.raises(pl.ShapeError) as caught:
        definition.infer([pl.Type.parse(text) for text in inputs], definition.bind(attributes))
    assert words in caught.value.message


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_errors_of_regression_are_those_of_all_rows_of_unequal_batches(dtype):
    """The oracle is the formula over all rows; the targets are far from zero, where squares lose digits."""
    text = """
    layer { name: "x" type: "data" data { shape: 2 } }
    layer { name: "target" type: "data" data { shape: 2 } }
    layer { name: "r" type: "regression_error" input: "x" input: "target" }
    """
    rng = np.random.default_rng(0)
    target = (2000 + rng.normal(0, [0.5, 20], (50, 2))).astype(dtype)
    x = (target + rng.normal(0, 0.3, (50, 2))).astype(dtype)
    with pl.Net(pl.loads(text), dtype=dtype) as net:
        for first, last in ((0, 1), (1, 33), (33, 50)):
            net.forward({"x": x[first:last], "target": target[first:last]})
        found = net.statistics()
    error = x.astype(float) - target
    r2 = 1 - (error**2).sum(axis=0) / ((target - target.mean(axis=0, dtype=float)) ** 2).sum(axis=0, dtype=float)
    expected = {"MAE": abs(error).mean(), "RMSE": math.sqrt((error**2).mean()), "R2": r2.mean()}
    assert 0.5 < r2[0] < 0.9 < r2[1]
    assert found == {f"r.regression_error.{name}": pytest.approx(value, rel=1e-6) for name, value in expected.items()}


def test_equal_targets_have_no_r2():
    text = """
    layer { name: "x" type: "data" data { } }
    layer { name: "r" type: "regression_error" input: "x" input: "x" }
    """
    found = statistics(text, {"x": np.full(300, 0.1)}, {"x": np.full(7, 0.1)})
    assert found["r.regression_error.MAE"] == found["r.regression_error.RMSE"] == 0
    assert math.isnan(found["r.regression_error.R2"])


def test_confusions_of_unequal_batches_add_up():
    text = """
    layer { name: "x" type: "data" data { shape: 3 } }
    layer { name: "label" type: "data" data { data_type: INT size: 3 } }
    layer { name: "scores" type: "power" input: "x" power { power: 0.5 } }
    layer { name: "c" type: "confusion_matrix" input: "scores" input: "label" }
    """
    rng = np.random.default_rng(0)
    label, said = rng.choice(3, 60, p=[0.2, 0.2, 0.6]), rng.integers(0, 3, 60)
    x = 1 + np.eye(3)[said]
    x[5] = -1  # has no root
    with pl.Net(pl.loads(text), dtype="float64") as net:
        for first, last in ((0, 2), (2, 45), (45, 60)):
            net.forward({"x": x[first:last], "label": label[first:last]})
        counted = {name: numbers for _, name, numbers in net.statistics_state()}
        found = net.statistics()
    expected = np.zeros((3, 3))
    for row in range(60):
        if row != 5:
            expected[label[row], said[row]] += 1
    assert counted["counts"] == expected.ravel().tolist()
    assert counted["wanted"] == np.bincount(label).tolist(), "a row found to be of no class is one of its class"
    recalls = expected.diagonal() / np.bincount(label)
    assert list(found.values()) == pytest.approx([expected.trace() / 60, recalls.mean()])


def test_every_number_but_a_mean_of_columns_says_which_values_are_better():
    silent = {d.name for d in registries["layer"].values() if d.stats and len(d.best) < max(len(d.results), 1)}
    assert silent - {"row_sum", "column_sum"} == set()
    assert registries["layer"]["regression_error"].best == {"MAE": "min", "RMSE": "min", "R2": "max"}


@pytest.mark.parametrize("best", ["most", ("max", "max")])
def test_what_is_better_is_said_of_each_number(best, monkeypatch):
    monkeypatch.setattr(registries["layer"], "_entries", {})

    @pl.layer("some_share")
    class SomeShare:
        """Some share."""

        x = pl.Input("N C", "rows")
        rows = pl.Stat("N", "rows")

    with pytest.raises(DefinitionError, match='best must be "min" or "max", or one of them per number'):
        pl.result(SomeShare, best=best)(lambda rows: rows)
