"""The Wasserstein loss against the linear program that it comes near to."""

import numpy as np
import pytest
from scipy.optimize import linprog

import paddle_layers as pl
from paddle_layers.testing.cases.trial import as_python

DISTANCES = [0.0, 1.0, 3.0, 1.0, 0.0, 2.0, 3.0, 2.0, 0.0]


def network(settings: str) -> str:
    return f"""
    layer {{ name: "x" type: "data" data {{ shape: 3 }} }}
    layer {{ name: "target" type: "data" data {{ shape: 3 }} }}
    layer {{ name: "cost" type: "wasserstein_loss" input: "x" input: "target" wasserstein_loss {{ {settings} }} }}
    """


def exact(x: np.ndarray, target: np.ndarray) -> float:
    """The cheapest plan with these sums."""
    sums = np.vstack([np.kron(np.eye(3), np.ones(3)), np.kron(np.ones(3), np.eye(3))])
    return float(linprog(DISTANCES, A_eq=sums, b_eq=[*x, *target]).fun)


def test_a_sharp_plan_costs_what_the_linear_program_costs():
    rng = np.random.default_rng(3)
    x, target = rng.dirichlet(np.ones(3), 6), rng.dirichlet(np.ones(3), 6)

    def run() -> np.ndarray:
        text = network(f"distances: {DISTANCES} sharpness: 60 iterations: 2000")
        with pl.Net(pl.loads(text), dtype="float64") as net:
            return net.forward({"x": x, "target": target})["cost"]

    wanted = [exact(*pair) for pair in zip(x, target, strict=True)]
    np.testing.assert_allclose(as_python(run), wanted, atol=2e-3)


def test_distances_are_from_each_class_to_each():
    with pytest.raises(pl.ConfigError, match="there are 2 distances, but 3 times 3 from class to class"):
        pl.loads(network("distances: [0, 1] sharpness: 1"))
