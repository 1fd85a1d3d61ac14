"""References of combinations: one row at a time."""

import numpy as np


def rows(formula, *names):
    """The reference of a formula of the named inputs' rows."""

    def reference(inputs, params, attributes):
        return {"y": np.stack([formula(*part) for part in zip(*(inputs[name] for name in names), strict=True)])}

    return reference


def cos_sim(inputs, params, attributes):
    a, b = inputs["a"], inputs["b"]
    y = np.zeros((len(a), b.shape[1] // a.shape[1]))
    for n, vectors in enumerate(b.reshape(len(a), -1, a.shape[1])):
        for k, vector in enumerate(vectors):
            lengths = np.linalg.norm(a[n]) * np.linalg.norm(vector)
            y[n, k] = attributes["scale"] * a[n] @ vector / lengths if lengths else 0.0
    return {"y": y}


REFERENCES = {
    "scaling": rows(lambda weight, x: weight * x, "weight", "x"),
    "interpolation": rows(lambda weight, a, b: b + weight * (a - b), "weight", "a", "b"),
    "linear_comb": rows(lambda w, vectors: w @ vectors.reshape(len(w), -1), "weights", "vectors"),
    "dot_prod": rows(lambda a, b: [a @ b], "a", "b"),
    "matmul": rows(lambda x, other: np.einsum("...mk,...kp->...mp", x, other), "x", "other"),
    "out_prod": rows(lambda a, b: np.outer(a, b).ravel(), "a", "b"),
    "cos_sim": cos_sim,
}
