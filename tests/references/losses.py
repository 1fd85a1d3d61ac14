"""Costs of rows, from their formulas. A missing optional input is None or absent."""

import numpy as np


def rows_of(x):
    return x.reshape(len(x), -1)


def weighted(cost, inputs):
    weight = inputs.get("weight")
    return cost if weight is None else cost * weight


def by_label(inputs):
    """A row of classes for every label, and the labels in a row: pixels lie behind the classes."""
    label = inputs["label"]
    x = np.moveaxis(inputs["x"].reshape(len(label), -1, label[0].size if len(label) else 1), 1, 2)
    return x.reshape(label.size, x.shape[2]), label.ravel()


def wanted(label, classes, attributes):
    """One-hot rows, smoothed; zeros for ignored labels and NaN for labels that have no class."""
    rows = (label[:, None] == np.arange(classes)) * 1.0
    smoothing = attributes.get("label_smoothing", 0.0)
    rows = rows * (1 - smoothing) + smoothing / classes
    rows[(label < 0) | (label >= classes)] = np.nan
    if attributes["ignore_label"] is not None:
        rows[label == attributes["ignore_label"]] = 0
    return rows


def divided(cost, inputs, attributes):
    """The cost of every label in the shape of the labels, and what the loss divides their sum by."""
    label, weight = inputs["label"], inputs.get("weight")
    cost = cost.reshape(label.shape) * (1.0 if weight is None else weight.reshape(label.shape))
    valid = label.size if attributes["ignore_label"] is None else (label != attributes["ignore_label"]).sum()
    divisors = {"VALID": max(valid, 1), "FULL": label.size, "BATCH_SIZE": len(label), "NONE": 1}
    return cost, max(divisors[attributes["normalization"]], 1)


def cross_entropy(inputs, params, attributes):
    x, label = by_label(inputs)
    chosen = wanted(label, x.shape[1], attributes)
    cost, divisor = divided(-(chosen * np.log(np.clip(x, attributes["floor"], None))).sum(axis=1), inputs, attributes)
    return {"cost": cost, "divisor": divisor}


def softmax_with_loss(inputs, params, attributes):
    x, label = by_label(inputs)
    chosen = wanted(label, x.shape[1], attributes)
    loss = (chosen * (np.logaddexp.reduce(x, axis=1, keepdims=True) - x)).sum(axis=1)
    loss, divisor = divided(loss, inputs, attributes)
    return {"loss": loss, "divisor": divisor}


def sigmoid_cross_entropy(inputs, params, attributes):
    x, target = rows_of(inputs["x"]), rows_of(inputs["target"])
    terms = target * np.logaddexp(0, -x) + (1 - target) * np.logaddexp(0, x)
    ignored = attributes["ignore_label"]
    counted = np.full(target.shape, True) if ignored is None else target != ignored
    divisors = {"VALID": counted.sum(), "FULL": target.size, "BATCH_SIZE": len(target), "NONE": 1}
    return {"cost": (terms * counted).sum(axis=1), "divisor": max(divisors[attributes["normalization"]], 1)}


def square_error(inputs, params, attributes):
    distance = np.linalg.norm(rows_of(inputs["x"]) - rows_of(inputs["target"]), axis=1)
    return {"cost": weighted(attributes["coeff"] * distance**2, inputs)}


REFERENCES = {
    "cross_entropy": cross_entropy,
    "softmax_with_loss": softmax_with_loss,
    "sigmoid_cross_entropy": sigmoid_cross_entropy,
    "square_error": square_error,
}
