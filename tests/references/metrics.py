"""What a row says and whether it is right."""

import numpy as np

from .classification_metrics import counted_labels


def accuracy(inputs, params, attributes):
    x, label, _ = counted_labels(inputs, attributes)
    right = np.take_along_axis(x, label[:, None], axis=1)
    hits = (x >= right).sum(axis=1) <= attributes["top_k"]  # the right class counts itself
    return {"report": {"": np.divide(hits.sum(), np.float64(len(label)))}}


def binary_accuracy(inputs, params, attributes):
    x, label = (inputs[name].ravel() for name in ("x", "label"))
    agree = (x > attributes["threshold"]) == (label > attributes["threshold"])
    return {"report": {"": np.divide((agree & ~np.isnan(x)).sum(), np.float64(x.size))}}


def maxid(inputs, params, attributes):
    return {"y": inputs["x"].reshape(len(inputs["x"]), -1).argmax(axis=1)}


REFERENCES = {"accuracy": accuracy, "binary_accuracy": binary_accuracy, "maxid": maxid}
