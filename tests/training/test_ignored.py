"""Labels that a loss leaves out may lie outside the range of the label's ids; others may not."""

import io

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.data import Dataset
from paddle_layers.training.progress import LineProgress

TEXT = """
net {
  name: "ignoring"
  layer { name: "x" type: "data" data { shape: [4] } }
  layer { name: "label" type: "data" data { data_type: INT size: 3 } }
  layer { name: "scores" type: "fc" input: "x" fc { size: 3 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" softmax_with_loss { SETTING } }
}
source { type: "npz" phase: "train" npz { file: "none.npz" } }
batch_size: 8 steps: 3
optimizer { type: "sgd" learning_rate: 0.1 }
"""
X = np.random.default_rng(0).normal(size=(8, 4))


def train(folder, label, setting="ignore_label: -1"):
    path = folder / "train.textproto"
    path.write_text(TEXT.replace("SETTING", setting))
    data = Dataset({"x": X[: len(label)], "label": np.array(label)})
    return pl.train(
        path, output=folder / "out", datasets={"train": data}, progress=LineProgress(io.StringIO()), overwrite=True
    )


@pytest.mark.parametrize("ignored", [-1, 255])
def test_ignored_rows_change_nothing(tmp_path, ignored):
    setting = f"ignore_label: {ignored}"
    weights = [train(tmp_path, label, setting).weights.read_bytes() for label in ([0, 1, 2, ignored], [0, 1, 2])]
    assert weights[0] == weights[1]


@pytest.mark.parametrize(
    ("label", "setting", "message"),
    [
        ([0, 1, -2, -1], "ignore_label: -1", "row 2: field `label` is -2"),
        ([0, 1, 3], "ignore_label: -1", "row 2: field `label` is 3"),
        ([0, -1, 1], "", "row 1: field `label` is -1"),
    ],
)
def test_other_labels_out_of_range_are_refused(tmp_path, label, setting, message):
    with pytest.raises(pl.ConfigError) as caught:
        train(tmp_path, label, setting)
    assert message in str(caught.value)


WEIGHED = TEXT.replace('input: "label" softmax', 'input: "label" input: "weight" softmax').replace(
    '  layer { name: "scores"',
    '  layer { name: "weight" type: "class_weight" input: "label" class_weight { weights: [1, 2, 3] } }\n'
    '  layer { name: "scores"',
)


def test_the_layer_that_does_not_ignore_a_label_is_named(tmp_path, monkeypatch):
    """Of data of a training, and of feeds."""
    monkeypatch.setitem(globals(), "TEXT", WEIGHED)
    named = "another layer ignores it, but `weight` (class_weight) does not: set `ignore_label: -1` there, too"
    with pytest.raises(pl.ConfigError) as caught:
        train(tmp_path, [0, -1, 1])
    assert f"expects 0 to 2; {named}" in str(caught.value)
    network = pl.load_training(tmp_path / "train.textproto", sources_needed=False).network
    with (
        pl.Net(network) as net,
        pytest.raises(ValueError, match="contains id -1 in row 1; valid ids are 0 to 2") as refused,
    ):
        net.forward({"x": X[:3], "label": np.array([0, -1, 1])})
    assert str(refused.value).endswith(named)
