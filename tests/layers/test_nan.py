"""NaN where `check_layer` cannot look: in ids and statistics, which are never NaN themselves, and in layers that draw.

A data layer refuses NaN; it comes from a network that diverges, and has to stay visible.
"""

from unittest import mock

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.testing.cases.case import LAYER, network_text
from paddle_layers.testing.cases.trial import as_python

NAN = np.nan
SCORES = [[3, 1, 2], [3, NAN, 2], [NAN, 1, 0], [0, 9, 1]]
LABELS = [0, 0, 0, 1]
"""Two rows are right. The second one has the best number for its label, beside a score that is no number."""


def run(name, settings, *arrays, phase="train"):
    """Outputs and statistics of a layer, by the part of their names behind the layer's."""
    types = [
        pl.Type.ids(int(rows.max()) + 1, *rows.shape[1:]) if rows.dtype == int else pl.Type.dense(*rows.shape[1:])
        for rows in arrays
    ]
    network = pl.loads(network_text(pl.registry[name], types, settings))
    with (
        pl.Net(network, dtype="float64") as net,
        mock.patch("paddle_layers.runtime.batch.feeding.finite", np.ndarray.astype),
    ):
        values = as_python(lambda: net.forward({f"in{k}": rows for k, rows in enumerate(arrays)}, phase=phase))
        return values | {key.removeprefix(f"{LAYER}."): value for key, value in net.statistics().items()}


STATISTICS = [
    ("accuracy", {}, SCORES, LABELS, {"accuracy": 1 / 2}),
    ("classification_error", {}, SCORES, LABELS, {"classification_error": 1 / 2}),
    ("classification_error", {}, [[NAN], [0.9], [0.1]], [0, 1, 0], {"classification_error": 1 / 3}),
    ("binary_accuracy", {}, [[NAN, 1.0], [1.0, NAN]], [[0.0, 1.0], [1.0, 1.0]], {"binary_accuracy": 1 / 2}),
    (
        "precision_recall", {}, SCORES, LABELS,
        {"precision_recall.precision": 1, "precision_recall.recall": 2 / 3, "precision_recall.F1": 3 / 4},
    ),
    ("precision_recall", {"positive_label": 1}, [[NAN], [0.9]], [1, 1], {"precision_recall.recall": 1 / 2}),
    ("mean_iou", {}, SCORES, LABELS, {"mean_iou.mean_iou": 2 / 3}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings", "x", "label", "expected"), STATISTICS)
def test_a_score_that_is_no_number_is_never_right(name, settings, x, label, expected):
    found = run(name, settings, np.array(x, float), np.array(label))
    assert {key: found[key] for key in expected} == pytest.approx(expected)


def test_the_id_of_the_best_score_is_that_of_the_first_nan():
    assert run("maxid", {}, np.array([[1, NAN, 3], [NAN, 5, NAN], [2, 2, 1]]))[LAYER].tolist() == [1, 0, 0]


@pytest.mark.parametrize("phase", ["train", "test"])
def test_a_window_with_nan_gives_nan_where_an_element_is_drawn(phase):
    images = np.arange(16.0).reshape(1, 1, 4, 4)
    images[0, 0, 0, 1] = NAN
    pooled = run("stochastic_pool", {"pool_size": 2, "stride": 2}, images, phase=phase)[LAYER]
    assert np.isnan(pooled).ravel().tolist() == [True, False, False, False]
