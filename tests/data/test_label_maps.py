"""Labels with axes, one for each pixel: through configs, feeds, data, costs, statistics, predictions, evaluations."""

import io
import json

import numpy as np
import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.data.sinks.formats import CsvSink, JsonLinesSink
from paddle_layers.runtime import FeedError, Sequences

NETWORK = """
layer { name: "image" type: "data" data { shape: [2, 3, 4] } }
layer { name: "label" type: "data" data { data_type: INT shape: [3, 4] size: 3 } }
layer { name: "scores" type: "conv" input: "image" conv { num_filters: 3 filter_size: 1 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" softmax_with_loss { ignore_label: 255 } }
layer { name: "iou" type: "mean_iou" input: "scores" input: "label" mean_iou { ignore_label: 255 } }
"""
TRAINING = f"""
net {{ {NETWORK} }}
batch_size: 8
steps: 60
source {{ type: "npz" phase: "train" npz {{ file: "train.npz" }} }}
source {{ type: "npz" phase: "test" npz {{ file: "train.npz" }} }}
optimizer {{ type: "adam" learning_rate: 0.1 }}
output: "output"
"""
RNG = np.random.default_rng(0)


def draw(count):
    """Images whose first channel says which class a pixel has, some of which nobody knows."""
    label = RNG.integers(0, 3, (count, 3, 4))
    image = np.stack([label + 0.1 * RNG.standard_normal(label.shape), RNG.standard_normal(label.shape)], axis=1)
    label[RNG.random(label.shape) < 0.2] = 255
    return {"image": image.astype(np.float32), "label": label}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("label maps")
    (folder / "train.textproto").write_text(TRAINING)
    data = draw(16)
    np.savez(folder / "train.npz", **data)
    report = pl.train(folder / "train.textproto", output=folder / "output")
    return folder / "train.textproto", data, report


def test_a_type_of_ids_with_axes_is_read_as_it_is_written():
    for text in ("3x4 ids<21", "sequence of 5 ids<2", "ids<7"):
        assert str(pl.Type.parse(text)) == text
    assert pl.Type.from_message(pl.Type.parse("3x4 ids<21").to_message()) == pl.Type.ids(21, dims=(3, 4))


@pytest.mark.parametrize("settings", ["", "label_smoothing: 0.3", "normalization: BATCH_SIZE", "normalization: NONE"])
def test_pixels_are_as_pytorch_has_them(settings):
    torch = pytest.importorskip("torch")
    rest = NETWORK.replace("ignore_label: 255 }", f"ignore_label: 255 {settings} }}", 1)
    data = draw(5)
    with pl.Net(pl.loads(rest), dtype="float64", seed=1) as net:
        net.forward(data)
        net.backward()
        image = torch.tensor(data["image"], dtype=torch.float64)
        weight = torch.tensor(net.parameters["scores.weight"].value, requires_grad=True)
        bias = torch.tensor(net.parameters["scores.bias"].value)
        smoothing = 0.3 if "smoothing" in settings else 0.0
        loss = torch.nn.functional.cross_entropy(
            torch.nn.functional.conv2d(image, weight.reshape(3, 2, 1, 1), bias),
            torch.tensor(data["label"]),
            ignore_index=255,
            label_smoothing=smoothing,
            reduction="sum" if "normalization" in settings else "mean",
        )
        loss = loss / 5 if "BATCH_SIZE" in settings else loss
        loss.backward()
        assert net.loss == pytest.approx(loss.item(), rel=1e-12)
        found = net.parameters["scores.weight"].gradient
        np.testing.assert_allclose(found, weight.grad.numpy().reshape(found.shape), rtol=1e-10)


def test_weights_of_classes_are_those_of_every_pixel():
    torch = pytest.importorskip("torch")
    weights = [0.5, 2.0, 1.0]
    text = (
        NETWORK.replace('input: "label" softmax', 'input: "label" input: "weight" softmax')
        .replace(
            'layer { name: "cost"',
            f'layer {{ name: "weight" type: "class_weight" input: "label" class_weight {{ weights: {weights} }} }}'
            'layer { name: "cost"',
        )
        .replace("ignore_label: 255 }", "normalization: NONE }", 1)
    )
    data = draw(4)
    data["label"][data["label"] == 255] = 0
    with pl.Net(pl.loads(text), dtype="float64", keep=["scores"]) as net:
        net.forward(data)
        scores, label = torch.tensor(net.value("scores")), torch.tensor(data["label"])
        wanted = torch.nn.functional.cross_entropy(
            scores, label, weight=torch.tensor(weights).double(), reduction="sum"
        )
        assert net.loss == pytest.approx(wanted.item(), rel=1e-12)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (np.zeros((5, 12), int), "feed array.reshape(-1, 3, 4)"),
        (
            np.zeros((5, 1, 3, 4), int),
            "has shape (5, 1, 3, 4); expected (rows, 3, 4); feed array.reshape(-1, 3, 4)",
        ),
        (np.eye(3, dtype=int)[np.zeros((5, 3, 4), int)].transpose(0, 3, 1, 2), "feed array.argmax(1)"),
        (np.zeros((5, 3, 4)), "feed array.astype(int)"),
        (np.full((5, 3, 4), 3), "contains id 3 in row 0, at index (0, 0, 0); valid ids are 0 to 2"),
    ],
)
def test_a_feed_that_does_not_fit_is_told_what_to_write(label, message):
    with pl.Net(pl.loads(NETWORK)) as net, pytest.raises(FeedError) as error:
        net.forward({"image": draw(5)["image"], "label": label})
    assert message in str(error.value)


def test_labels_of_pixels_for_a_layer_of_single_labels_are_told_of_the_shape():
    text = NETWORK.replace("shape: [3, 4] ", "").replace("3, 4]", "1, 1]").replace("ignore_label: 255", "")
    with pl.Net(pl.loads(text)) as net, pytest.raises(FeedError, match=r"declare `shape: \[3, 4\]`"):
        net.forward({"image": np.zeros((5, 2, 1, 1)), "label": np.zeros((5, 3, 4), int)})


def test_places_that_the_scores_do_not_have_are_a_mistake_of_the_config():
    with pytest.raises(pl.ConfigError) as error:
        pl.loads(NETWORK.replace("shape: [3, 4] ", "shape: [6, 8] "))
    assert "is 3x3x4, but input `label` has axes 6x8: expected C before these axes" in str(error.value)


def test_images_of_another_size_take_their_labels_along():
    data = {"image": np.zeros((2, 2, 5, 6)), "label": np.ones((2, 5, 6), int)}
    with pl.Net(pl.loads(NETWORK)) as net:
        assert net.forward(data)["cost"].shape == (2, 5, 6)


def test_labels_with_axes_lie_in_sequences_and_go_through_recurrent_groups():
    text = """
    layer { name: "x" type: "data" data { data_type: INT shape: [2] size: 5 seq_nested_level: 1 } }
    layer { name: "group" type: "recurrent_group" input: "x"
      step { layer { name: "now" type: "class_weight" input: "x" class_weight { weights: [0, 1, 2, 3, 4] } }
             output: "now" } }
    """
    rows = np.array([[0, 1], [2, 3], [4, 4], [1, 0]])
    with pl.Net(pl.loads(text)) as net:
        found = net.forward({"x": Sequences(rows, np.array([0, 1, 4]))})
    np.testing.assert_array_equal(next(iter(found.values())).data, rows)


def test_a_network_learns_from_labels_in_files(trained):
    _, _, report = trained
    assert report.results["iou.mean_iou"] > 0.9


def test_predictions_have_a_class_for_each_pixel(trained):
    training, data, report = trained
    found = pl.predict(training, {"image": data["image"]}, weights=report.weights)
    assert found.values["scores"].shape == (16, 3, 3, 4)
    np.testing.assert_allclose(found.values["scores"].sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(found.classes["scores"], found.values["scores"].argmax(axis=1))
    table, lines = io.StringIO(), io.StringIO()
    CsvSink(table).write(found)
    JsonLinesSink(lines).write(found)
    cells = table.getvalue().splitlines()[1].split(",")
    assert cells[1].split() == list(map(str, found.classes["scores"][0].ravel()))
    assert len(cells) == 2 + 3 * 3 * 4
    assert json.loads(lines.getvalue().splitlines()[0])["scores.class"] == found.classes["scores"][0].tolist()


def test_an_evaluation_has_the_overlap_of_each_class(trained):
    training, data, report = trained
    found = pl.evaluate(training, data, weights=report.weights)
    (confusion,) = found.confusions
    counted = data["label"] != 255
    assert confusion.wanted.sum() == counted.sum()
    guess = pl.predict(training, data, weights=report.weights).classes["scores"]
    for number, measures in enumerate(confusion.classes()):
        both = ((guess == number) & (data["label"] == number) & counted).sum()
        either = (((guess == number) | (data["label"] == number)) & counted).sum()
        assert measures.iou == pytest.approx(both / either)
    assert found.results["iou.mean_iou"] == pytest.approx(np.mean([one.iou for one in confusion.classes()]))
    shown = CliRunner().invoke(commands, ["evaluate", str(training), "--weights", str(report.weights)])
    assert "IoU" in shown.output


def test_data_that_do_not_fit_are_told_what_to_write():
    training = pl.make_training(
        pl.loads(NETWORK.replace("ignore_label: 255", "")),
        optimizer={"type": "sgd", "learning_rate": 0.1},
        batch_size=4,
        steps=1,
    )
    data = draw(4)
    with pytest.raises(
        pl.ConfigError, match=r"field `label` is 255 at \d, \d, but the data layer `label` expects 0 to 2"
    ):
        pl.train(training, datasets={"train": data})
    with pytest.raises(
        pl.ConfigError, match=r"shape 6x4, but the data layer `label` expects 3x4 ids<3; set `shape: \[6, 4\]`"
    ):
        pl.train(training, datasets={"train": {**data, "label": np.zeros((4, 6, 4), int)}})
