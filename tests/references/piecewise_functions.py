"""References of functions made of pieces."""

import numpy as np


def relu6(inputs, params, attributes):
    return {"y": np.minimum(np.maximum(inputs["x"], 0), attributes["max"])}


def clip(inputs, params, attributes):
    return {"y": np.clip(inputs["x"], attributes["min"], attributes["max"])}


def hard_sigmoid(inputs, params, attributes):
    return {"y": np.clip(np.polyval([attributes["slope"], attributes["offset"]], inputs["x"]), 0, 1)}


def hard_swish(inputs, params, attributes):
    return {"y": inputs["x"] * np.clip(inputs["x"] / 6 + 0.5, 0, 1)}


def absolute(inputs, params, attributes):
    return {"y": np.sqrt(inputs["x"] ** 2)}


def softsign(inputs, params, attributes):
    x = inputs["x"]
    return {"y": np.sign(x) * (1 - 1 / (1 + np.abs(x)))}


def threshold(inputs, params, attributes):
    return {"y": np.heaviside(inputs["x"] - attributes["threshold"], 0)}


REFERENCES = {
    "relu6": relu6,
    "clip": clip,
    "hard_sigmoid": hard_sigmoid,
    "hard_swish": hard_swish,
    "abs": absolute,
    "softsign": softsign,
    "threshold": threshold,
}
