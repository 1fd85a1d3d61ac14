"""References of interactions."""

from itertools import combinations

import numpy as np


def tensor(inputs, params, attributes):
    y = np.stack([[row_a @ form @ row_b for form in params["weight"]]
                  for row_a, row_b in zip(inputs["a"], inputs["b"], strict=True)])  # fmt: skip
    return {"y": y + params["bias"] if attributes["bias"] else y}


def factorization_machine(inputs, params, attributes):
    x, factors = inputs["x"], params["factors"]
    y = np.zeros((len(x), 1))
    for c, d in combinations(range(x.shape[1]), 2):
        y[:, 0] += factors[c] @ factors[d] * x[:, c] * x[:, d]
    return {"y": y}


REFERENCES = {"tensor": tensor, "factorization_machine": factorization_machine}
