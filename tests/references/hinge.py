"""Costs that vanish once the answer is right by a margin."""

import numpy as np


def hinge_loss(inputs, params, attributes):
    x = inputs["x"].reshape(len(inputs["x"]), -1)
    signs = 2 * np.eye(x.shape[1])[inputs["label"]] - 1
    missing = np.clip(1 - signs * x, 0, None)
    return {"cost": (missing ** {"L1": 1, "L2": 2}[attributes["norm"]]).sum(axis=1)}


def perceptron_loss(inputs, params, attributes):
    x = inputs["x"].reshape(len(inputs["x"]), -1)
    return {"cost": x.max(axis=1) - np.take_along_axis(x, inputs["label"][:, None], axis=1)[:, 0]}


def huber_classification(inputs, params, attributes):
    margin = inputs["x"].reshape(-1) * (2 * inputs["label"] - 1)
    pieces = [margin < -1, margin < 1]
    return {"cost": np.select(pieces, [-4 * margin, (1 - margin) ** 2], 0.0)}


def contrastive_loss(inputs, params, attributes):
    a, b, margin = inputs["a"], inputs["b"], attributes["margin"]
    distance = np.array([np.linalg.norm(one - other) for one, other in zip(a, b, strict=True)])
    apart = margin - distance**2 if attributes["legacy_version"] else np.maximum(margin - distance, 0) ** 2
    return {"cost": np.where(inputs["alike"] == 1, distance**2, np.maximum(apart, 0)) / 2}


REFERENCES = {
    "hinge_loss": hinge_loss,
    "perceptron_loss": perceptron_loss,
    "huber_classification": huber_classification,
    "contrastive_loss": contrastive_loss,
}
