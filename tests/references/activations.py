"""References of activations."""

import numpy as np
from scipy import special


def relu(inputs, params, attributes):
    x = inputs["x"]
    return {"y": np.maximum(x, 0) + attributes["negative_slope"] * np.minimum(x, 0)}


def elu(inputs, params, attributes):
    x = inputs["x"]
    return {"y": np.where(x > 0, x, attributes["alpha"] * (np.exp(np.minimum(x, 0)) - 1))}


def sigmoid(inputs, params, attributes):
    return {"y": special.expit(inputs["x"])}


def tanh(inputs, params, attributes):
    return {"y": np.tanh(inputs["x"])}


def gelu(inputs, params, attributes):
    x = inputs["x"]
    if attributes["approximate"] == "TANH":
        return {"y": x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))}
    return {"y": x * special.ndtr(x)}


def linear(inputs, params, attributes):
    return {"y": inputs["x"]}


def softmax(inputs, params, attributes):
    return {"y": special.softmax(inputs["x"], axis=attributes["axis"])}


def prelu(inputs, params, attributes):
    x, slope = inputs["x"], params["slope"]
    first, last = (attributes[name] % x.ndim for name in ("axis", "end_axis"))
    own = x.shape[first : last + 1]
    slopes = np.broadcast_to(slope, own) if slope.size == 1 else slope.reshape(own)
    slopes = slopes.reshape(*own, *[1] * (x.ndim - last - 1))
    return {"y": np.maximum(x, 0) + slopes * np.minimum(x, 0)}


def dropout(inputs, params, attributes):
    kept = 1 - attributes["drop_rate"]
    if attributes["training"]:
        return {"y": inputs["x"] / (kept if attributes["scale_in"] == "TRAIN" else 1), "random": bool(kept < 1)}
    return {"y": inputs["x"] * (kept if attributes["scale_in"] == "TEST" else 1)}


def gradient_clip_dx(inputs, params, attributes, gradients):
    return {"x": np.clip(gradients["y"], -attributes["threshold"], attributes["threshold"])}


REFERENCES_OF_GRADIENTS = {"gradient_clip": gradient_clip_dx}
REFERENCES = {
    "relu": relu,
    "elu": elu,
    "sigmoid": sigmoid,
    "tanh": tanh,
    "gelu": gelu,
    "linear": linear,
    "gradient_clip": linear,
    "softmax": softmax,
    "prelu": prelu,
    "dropout": dropout,
}
