"""References of elementwise."""

import numpy as np


def per_channel(values, x):
    """Numbers of channels, shaped to be broadcast over rows and points of `x`."""
    return values.reshape(1, -1, *[1] * (x.ndim - 2))


def addto(inputs, params, attributes):
    return {"y": np.sum(inputs["x"], axis=0)}


def eltwise(inputs, params, attributes):
    x = np.stack(inputs["x"])
    if attributes["operation"] == "PROD":
        return {"y": x.prod(axis=0)}
    if attributes["operation"] == "MAX":
        return {"y": x.max(axis=0)}
    if attributes["operation"] == "MIN":
        return {"y": x.min(axis=0)}
    coefficients = attributes["coefficients"] or [1] * len(x)
    return {"y": np.tensordot(coefficients, x, 1)}


def scale(inputs, params, attributes):
    x = inputs["x"]
    y = x * per_channel(params["gain"], x)
    return {"y": y + per_channel(params["bias"], x) if attributes["bias"] else y}


def shift(inputs, params, attributes):
    return {"y": inputs["x"] + per_channel(params["offset"], inputs["x"])}


REFERENCES = {"addto": addto, "eltwise": eltwise, "scale": scale, "shift": shift}
