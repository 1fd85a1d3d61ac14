"""ctc against torch: cost and gradient of sequences of many lengths, in one batch."""

import numpy as np
import pytest

import paddle_layers as pl

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.usefixtures("as_python")

CLASSES = 5
TEXT = """
layer {{ name: "x" type: "data" data {{ shape: 5 seq_nested_level: 1 }} }}
layer {{ name: "label" type: "data" data {{ data_type: INT size: 5 seq_nested_level: 1 }} }}
layer {{
  name: "cost" type: "ctc" input: "x" propagate_down: true input: "label" propagate_down: false
  ctc {{ max_labels: 8 {settings} }}
}}
"""


def sequences(rows, counts):
    return pl.Sequences(rows, np.cumsum([0, *counts]))


def ours(x, labels, rows, counts, settings, slope):
    with pl.Net(pl.loads(TEXT.format(settings=settings)), dtype="float64") as net:
        cost = net.forward({"x": sequences(x, rows), "label": sequences(labels, counts)})["cost"]
        net.backward(gradients={"cost": slope})
        return cost, net.gradient("x")


def theirs(x, labels, rows, counts, blank, slope):
    given = torch.tensor(x, requires_grad=True)
    padded = torch.nn.utils.rnn.pad_sequence(torch.split(given, rows)).log_softmax(2)
    sizes = (torch.tensor(numbers) for numbers in (rows, counts))
    cost = torch.nn.functional.ctc_loss(
        padded, torch.tensor(labels), *sizes, blank=blank, reduction="none", zero_infinity=True
    )
    cost.backward(torch.tensor(slope))
    return cost.detach().numpy(), given.grad.numpy()


@pytest.mark.parametrize("blank", [0, 2, 4])
def test_cost_and_gradient(blank):
    rng = np.random.default_rng(blank)
    rows, counts = [1, 16, 12, 30, 5, 4, 17, 1], [1, 8, 3, 8, 0, 4, 6, 2]  # the last one has too few rows
    x = 3 * rng.standard_normal((sum(rows), CLASSES))
    labels = rng.choice([k for k in range(CLASSES) if k != blank], sum(counts))
    slope = rng.standard_normal(len(rows))
    cost, dx = ours(x, labels, rows, counts, f"blank: {blank}", slope)
    expected, gradient = theirs(x, labels, rows, counts, blank, slope)
    assert expected[7] == 0
    assert (expected[:5] > 0).all()
    np.testing.assert_allclose(cost, expected, atol=1e-11)
    np.testing.assert_allclose(dx, gradient, atol=1e-11)


def test_norm_by_times_divides_cost_and_gradient_by_the_rows():
    rng = np.random.default_rng(7)
    rows, counts = [4, 10], [2, 3]
    x, labels = rng.standard_normal((14, CLASSES)), rng.integers(1, CLASSES, 5)
    cost, dx = ours(x, labels, rows, counts, "norm_by_times: true", np.ones(2))
    expected, gradient = theirs(x, labels, rows, counts, 0, 1 / np.array(rows))
    np.testing.assert_allclose(cost, expected / rows, atol=1e-12)
    np.testing.assert_allclose(dx, gradient, atol=1e-12)


def test_blanks_among_the_labels_are_left_out():
    rng = np.random.default_rng(8)
    x = rng.standard_normal((9, CLASSES))
    with_blanks = ours(x, np.array([0, 1, 0, 0, 1, 3, 0]), [9], [7], "", np.ones(1))
    without = ours(x, np.array([1, 1, 3]), [9], [3], "", np.ones(1))
    for found, expected in zip(with_blanks, without, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_more_labels_than_there_is_memory_for_cost_nan():
    x, labels = np.zeros((20, CLASSES)), np.tile([1, 2], 5)
    cost, dx = ours(x, labels, [11, 9], [9, 1], "", np.ones(2))
    assert np.isnan(cost[0])
    assert np.isfinite(cost[1])
    assert np.isnan(dx[:11]).any()
    assert np.isfinite(dx[11:]).all()
