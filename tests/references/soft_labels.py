"""Cross entropy with labels that are more than one class."""

import numpy as np

from .losses import by_label, divided


def flat(rows):
    return rows.reshape(len(rows), -1)


def weighted(terms, inputs):
    weight = inputs.get("weight")
    return {"cost": -terms.sum(axis=1) * (1.0 if weight is None else weight)}


def soft_cross_entropy(inputs, params, attributes):
    return weighted(flat(inputs["target"]) * np.log(np.maximum(flat(inputs["x"]), attributes["floor"])), inputs)


def softlabel_softmax_cost(inputs, params, attributes):
    x = flat(inputs["x"])
    softmax = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    return weighted(flat(inputs["target"]) * np.log(softmax), inputs)


def infogain_loss(inputs, params, attributes):
    x, label = by_label(inputs)
    inside = (label >= 0) & (label < x.shape[1])
    gain = np.where(inside[:, None], params["gain"][np.where(inside, label, 0)], np.nan)
    if attributes["ignore_label"] is not None:
        gain[label == attributes["ignore_label"]] = 0
    softmax = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    cost, divisor = divided(-(gain * np.log(softmax)).sum(axis=1), inputs, attributes)
    return {"cost": cost, "divisor": divisor}


def binary(x, answers, inputs, attributes):
    yes, no = (np.log(np.maximum(chance, attributes["floor"])) for chance in (x, 1 - x))
    return weighted(answers * yes + (1 - answers) * no, inputs)


def soft_binary_cross_entropy(inputs, params, attributes):
    return binary(flat(inputs["x"]), flat(inputs["target"]), inputs, attributes)


def multi_binary_label_cross_entropy(inputs, params, attributes):
    x, label = inputs["x"], inputs["label"]
    return binary(x, np.pad(label, ((0, 0), (0, x.shape[1] - label.shape[1]))), inputs, attributes)


REFERENCES = {
    "soft_cross_entropy": soft_cross_entropy,
    "softlabel_softmax_cost": softlabel_softmax_cost,
    "infogain_loss": infogain_loss,
    "soft_binary_cross_entropy": soft_binary_cross_entropy,
    "multi_binary_label_cross_entropy": multi_binary_label_cross_entropy,
}
