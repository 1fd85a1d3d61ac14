"""Costs of rows against torch: cost and gradients, for values on every piece of every formula."""

import numpy as np
import pytest

import paddle_layers as pl

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.usefixtures("as_python")
functional = torch.nn.functional

ROWS, CLASSES = 40, 3
RNG = np.random.default_rng(0)
SCORES = 2 * RNG.standard_normal((ROWS, CLASSES))
OTHERS = 2 * RNG.standard_normal((ROWS, CLASSES))
CHANCES = RNG.uniform(0.01, 0.99, (ROWS, CLASSES))
SHARES = RNG.dirichlet(np.ones(CLASSES), ROWS)
LABELS = RNG.integers(0, CLASSES, ROWS)
ANSWERS = RNG.integers(0, 2, ROWS)


def signs(label):
    return 2.0 * functional.one_hot(label, CLASSES) - 1.0


def hinge(x, label, power=1):
    lost = functional.hinge_embedding_loss(signs(label) * x, -torch.ones_like(x), margin=1.0, reduction="none")
    return lost**power


def contrast(a, b, alike, legacy=False):
    distance = functional.pairwise_distance(a, b, eps=0.0)
    if legacy:
        return torch.where(alike == 1, distance**2, torch.relu(3 - distance**2)) / 2
    return torch.where(alike == 1, distance**2, torch.relu(3 - distance) ** 2) / 2


def by_class(x, target):
    return functional.cross_entropy(x, target, reduction="none")


def elementwise(cost, **settings):
    return lambda x, target: cost(x, target, reduction="none", **settings)


CASES = {
    "huber": ("huber_regression", "delta: 0.7", (SCORES, OTHERS), elementwise(functional.huber_loss, delta=0.7)),
    "smooth_l1": ("smooth_l1", "beta: 0.7", (SCORES, OTHERS), elementwise(functional.smooth_l1_loss, beta=0.7)),
    "hinge L1": ("hinge_loss", "", (SCORES, LABELS), hinge),
    "hinge L2": ("hinge_loss", "norm: L2", (SCORES, LABELS), lambda x, label: hinge(x, label, 2)),
    "contrastive": ("contrastive_loss", "margin: 3", (SCORES, OTHERS, ANSWERS), contrast),
    "contrastive, legacy": (
        "contrastive_loss", "margin: 3 legacy_version: true", (SCORES, OTHERS, ANSWERS),
        lambda a, b, alike: contrast(a, b, alike, legacy=True),
    ),
    "soft labels, scores": ("softlabel_softmax_cost", "", (SCORES, SHARES), by_class),
    "soft labels": ("soft_cross_entropy", "", (CHANCES, SHARES), lambda x, target: -target * x.log()),
    "infogain": ("infogain_loss", "", (SCORES, LABELS), by_class),
    "binary": (
        "soft_binary_cross_entropy", "", (CHANCES, SHARES), elementwise(functional.binary_cross_entropy)
    ),
    "rank": (
        "rank_cost", "", (SCORES[:, 0], OTHERS[:, 0], SHARES[:, 0]),
        lambda left, right, label: functional.binary_cross_entropy_with_logits(left - right, label, reduction="none"),
    ),
}  # fmt: skip


def network(layer, settings, arrays, count):
    data, reads = "", ""
    for place, array in enumerate(arrays):
        kind = (
            f"data_type: INT size: {array.max() + 1}" if array.dtype.kind == "i" else f"shape: {list(array.shape[1:])}"
        )
        data += f'layer {{ name: "in{place}" type: "data" data {{ {kind} }} }}\n'
        reads += f'input: "in{place}" propagate_down: {str(place < count).lower()} '
    return data + f'layer {{ name: "cost" type: "{layer}" {reads} {layer} {{ {settings} }} }}'


@pytest.mark.parametrize("name", CASES)
def test_cost_and_gradient(name):
    layer, settings, arrays, cost = CASES[name]
    slope = np.random.default_rng(1).standard_normal(ROWS)
    count = len(pl.registry[layer].facts.differentiable)  # these are the first inputs
    with pl.Net(pl.loads(network(layer, settings, arrays, count)), dtype="float64") as net:
        found = net.forward({f"in{place}": array for place, array in enumerate(arrays)})["cost"]
        net.backward(gradients={"cost": slope})
        gradients = [net.gradient(f"in{place}") for place in range(count)]
    tensors = [torch.tensor(array, requires_grad=place < count) for place, array in enumerate(arrays)]
    expected = cost(*tensors).reshape(ROWS, -1).sum(dim=1)
    expected.backward(torch.tensor(slope))
    np.testing.assert_allclose(found, expected.detach().numpy(), atol=1e-12)
    for gradient, tensor in zip(gradients, tensors[:count], strict=True):
        np.testing.assert_allclose(gradient, tensor.grad.numpy(), atol=1e-12)
