"""The source of made-up rows."""

from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.data import DataError
from paddle_layers.define import registries

TRAINING = """
net {
  layer { name: "words" type: "data" data { data_type: INT size: 30 seq_nested_level: 1 } }
  layer { name: "label" type: "data" data { data_type: INT size: 4 } }
  layer { name: "vectors" type: "embedding" input: "words" embedding { size: 3 } }
  layer { name: "mean" type: "seq_avg_pool" input: "vectors" }
  layer { name: "scores" type: "fc" input: "mean" fc { size: 4 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
}
steps: 2
batch_size: 5
source { type: "synthetic" synthetic { fields: "words: sequence of ids<30" fields: "label: ids<4" rows: 7 length: 3 } }
optimizer { type: "sgd" learning_rate: 0.1 }
output: "out"
"""


def opened(*fields: str, **attributes: object) -> pl.data.Dataset:
    return registries["source"]["synthetic"].create({"fields": fields, **attributes}).open(Path())


def test_fields_have_their_types():
    data = opened("image: 3x4", "label: ids<5", "words: sequence of ids<9", "one: scalar", rows=200, length=6)
    fields = data.fields
    assert fields["image"].shape == (200, 3, 4)
    assert fields["one"].shape == (200,)
    assert set(np.asarray(fields["label"])) == set(range(5))
    assert set(np.diff(fields["words"].starts)) == set(range(1, 7))


@pytest.mark.parametrize(("filler", "mean", "spread"), [("GAUSSIAN", 0, 1), ("UNIFORM", 0.5, 12**-0.5), ("ZERO", 0, 0)])
def test_fillers(filler, mean, spread):
    numbers = np.asarray(opened("x: 50", rows=2000, filler=filler).fields["x"])
    assert abs(numbers.mean() - mean) < 0.02
    assert abs(numbers.std() - spread) < 0.02


def test_a_seed_makes_the_same_rows():
    one, same, other = (np.asarray(opened("x: 3", rows=4, seed=seed).fields["x"]) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("image 3x4", "write its name and type"),
        ("image: 3 by 4", "invalid field"),
        ("x: sparse 6", "type sparse 6 of `x` is not supported; supported are dense values"),
        ("x: 100000x100000", "is too large with 1,024 rows"),
    ],
)
def test_what_is_no_field_is_refused(field, message):
    with pytest.raises(DataError, match=message):
        opened(field)


def test_a_network_trains_on_them(tmp_path):
    path = tmp_path / "t.textproto"
    path.write_text(TRAINING, encoding="utf-8")
    assert pl.train(path, output=tmp_path / "out").weights.is_file()
