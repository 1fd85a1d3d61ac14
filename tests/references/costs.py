"""Costs of rows, from their formulas. A missing optional input is None or absent."""

import numpy as np


def rows_of(x):
    return x.reshape(len(x), -1)


def weighted(cost, inputs):
    weight = inputs.get("weight")
    return cost if weight is None else cost * weight


def cross_entropy(inputs, params, attributes):
    right = np.take_along_axis(rows_of(inputs["x"]), inputs["label"][:, None], axis=1)[:, 0]
    return {"cost": weighted(-np.log(np.clip(right, attributes["floor"], None)), inputs)}


def softmax_with_loss(inputs, params, attributes):
    x, label = rows_of(inputs["x"]), inputs["label"]
    counts = np.full(len(x), True) if attributes["ignore_label"] is None else label != attributes["ignore_label"]
    chosen = np.where(counts[:, None], label[:, None] == np.arange(x.shape[1]), 0)
    loss = (chosen * (np.logaddexp.reduce(x, axis=1, keepdims=True) - x)).sum(axis=1)
    loss[counts & (label >= x.shape[1])] = np.nan
    divisor = {"VALID": max(counts.sum(), 1), "BATCH_SIZE": len(x), "NONE": 1}[attributes["normalization"]]
    return {"loss": weighted(loss, inputs), "divisor": divisor}


def sigmoid_cross_entropy(inputs, params, attributes):
    x, target = rows_of(inputs["x"]), rows_of(inputs["target"])
    terms = target * np.logaddexp(0, -x) + (1 - target) * np.logaddexp(0, x)
    if attributes["ignore_label"] is not None:
        terms[target == attributes["ignore_label"]] = 0
    return {"cost": terms.sum(axis=1)}


def square_error(inputs, params, attributes):
    distance = np.linalg.norm(rows_of(inputs["x"]) - rows_of(inputs["target"]), axis=1)
    return {"cost": weighted(attributes["coeff"] * distance**2, inputs)}


REFERENCES = {
    "cross_entropy": cross_entropy,
    "softmax_with_loss": softmax_with_loss,
    "sigmoid_cross_entropy": sigmoid_cross_entropy,
    "square_error": square_error,
}
