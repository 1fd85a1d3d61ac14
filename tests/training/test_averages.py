"""Gradients of several batches in one step against the large batch; averages of the parameters against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime.memory.tensorfiles import read_tensors
from tests.training.helpers import NETWORK, SOURCES, train, write

pytestmark = pytest.mark.usefixtures("as_python")

PLAIN = NETWORK.replace(" drop_rate: 0.25", "")
COMMON = 'steps: 12 optimizer { type: "adam" learning_rate: 0.02 } log { every: 1 } dtype: "float64"\n'
TOLERANCE = {"float64": 1e-12, "float32": 1e-5}
"""Relative, of losses and weights after 12 steps."""


def weights_of(report):
    return read_tensors(report.weights)[0]


def compare(tmp_path, settings, large="batch_size: 8", small="batch_size: 2 accumulate: 4", net=PLAIN, **fields):
    """Train with large batches and with small ones."""
    path = write(tmp_path, net + SOURCES + settings + large, **fields)
    expected, losses, _ = train(path, output=tmp_path / "large")
    path.write_text(net + SOURCES + settings + small)
    found, others, _ = train(path, output=tmp_path / "small")
    tolerance = TOLERANCE["float64" if "float64" in settings else "float32"]
    assert list(losses.values()) == pytest.approx(list(others.values()), rel=tolerance)
    for name, values in weights_of(expected).items():
        np.testing.assert_allclose(weights_of(found)[name], values, rtol=tolerance, atol=tolerance, err_msg=name)
    return losses


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_small_batches_are_a_large_one(tmp_path, dtype):
    """There are 50 rows, so that an epoch ends in the middle of a step: its last step has the rows that are left."""
    clipped = COMMON.replace("float64", dtype) + "clip { norm: 0.5 }\n"
    compare(tmp_path, clipped)


def test_an_epoch_has_the_steps_of_large_batches(tmp_path):
    losses = compare(tmp_path, COMMON.replace("steps: 12", "epochs: 3"))
    assert len(losses) == 3 * 7


def test_rows_that_do_not_count_weigh_nothing(tmp_path):
    """Labels are ignored in some batches more than in others."""
    net = PLAIN.replace(
        'type: "softmax_with_loss"', 'type: "softmax_with_loss" softmax_with_loss { ignore_label: 2 }'
    ).replace('type: "accuracy"', 'type: "accuracy" accuracy { ignore_label: 2 }')
    compare(tmp_path, COMMON, net=net)


TABLE = """
net {
  name: "table"
  layer { name: "label" type: "data" data { data_type: INT size: 3 } }
  layer { name: "x" type: "data" data { shape: [8] } }
  layer { name: "row" type: "embedding" input: "label" embedding { size: 8 } }
  layer { name: "cost" type: "square_error" input: "row" input: "x" }
}
"""


def test_tables_with_gradients_by_rows(tmp_path):
    compare(tmp_path, COMMON + "clip { norm: 0.5 }\n", net=TABLE)


def test_to_resume_is_the_same_bits(tmp_path):
    settings = COMMON + "batch_size: 3 accumulate: 4 checkpoint { every: 5 } average { window: 0.4 }\n"
    path = write(tmp_path, NETWORK + SOURCES + settings)
    expected, losses, _ = train(path, output=tmp_path / "whole")
    train(path, output=tmp_path / "parts", stop_after=7)
    found, others, _ = train(path, output=tmp_path / "parts", resume=True)
    assert {step: losses[step] for step in others} == others
    for name, values in weights_of(expected).items():
        np.testing.assert_array_equal(weights_of(found)[name], values)
    path.write_text(path.read_text().replace("accumulate: 4", "accumulate: 2"))
    with pytest.raises(pl.training.TrainingError, match="accumulate changed from 4 to 2"):
        train(path, output=tmp_path / "parts", resume=True)


class Weights:
    """Notes the weights behind every step, and those with which the test is run."""

    def __init__(self):
        self.values, self.tested = [], []

    def on_step(self, run):
        self.values.append(run.net.parameters["fc2.weight"].value.copy())

    def on_test(self, run):
        self.tested.append(run.net.parameters["fc2.weight"].value.copy())


def averaged(tmp_path, average):
    """Weights behind each of 12 steps, those of the tests, those in the end."""
    settings = f"batch_size: 8\ntest {{ every: 4 }}\naverage {{ {average} }}\n"
    path, noted = write(tmp_path, PLAIN + SOURCES + COMMON + settings), Weights()
    report, _, _ = train(path, callbacks=[noted])
    return report, noted


def test_an_exponential_moving_average(tmp_path):
    report, noted = averaged(tmp_path, "decay: 0.5")
    with pl.Net(pl.load_training(tmp_path / "train.textproto").network, dtype="float64", seed=0) as net:
        average = net.parameters["fc2.weight"].value.copy()
    for step, value in enumerate(noted.values, 1):
        decay = min(0.5, (1 + step) / (10 + step))
        average = decay * average + (1 - decay) * value
        if step % 4 == 0:
            np.testing.assert_allclose(noted.tested[step // 4 - 1], average, rtol=1e-12)
    np.testing.assert_allclose(weights_of(report)["fc2.weight"], average, rtol=1e-12)
    evaluation = pl.evaluate(tmp_path / "train.textproto", weights=report.weights)
    assert evaluation.results["loss"] == pytest.approx(report.results["loss"], rel=1e-12)


def sliding(values, window, most):
    """Paddle's two sums, as a list of values each."""
    now, before = [], []
    for step, value in enumerate(values, 1):
        now.append(value)
        if len(now) >= min(most, np.ceil(window * step)):
            now, before = [], now
    return np.mean([*before, *now], axis=0)


@pytest.mark.parametrize(("window", "most"), [(0.5, 10000), (1.0, 3), (0.2, 100)])
def test_the_mean_over_a_window(tmp_path, window, most):
    report, noted = averaged(tmp_path, f"window: {window} max_window: {most}")
    for number, tested in enumerate(noted.tested, 1):
        np.testing.assert_allclose(tested, sliding(noted.values[: 4 * number], window, most), rtol=1e-12)
    np.testing.assert_allclose(weights_of(report)["fc2.weight"], noted.tested[-1], rtol=1e-15)
    assert not np.allclose(noted.tested[-1], noted.values[-1], rtol=1e-4)


def test_what_is_trained_is_not_the_average(tmp_path):
    path = write(tmp_path, PLAIN + SOURCES + COMMON + "batch_size: 8 test { every: 2 }\n")
    _, losses, _ = train(path, output=tmp_path / "without")
    path.write_text(path.read_text() + "average { decay: 0.9 }\n")
    _, others, _ = train(path, output=tmp_path / "with")
    assert losses == others
