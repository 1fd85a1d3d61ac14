"""References of elementwise."""

import numpy as np


def along(values, x, attributes):
    """Numbers of some axes, shaped to be broadcast over rows and all other axes of `x`."""
    if x.ndim == 1:  # a single number for each row
        return values
    first, last = (attributes[name] % x.ndim for name in ("axis", "end_axis"))
    return values.reshape(*x.shape[first : last + 1], *[1] * (x.ndim - last - 1))


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
    y = x * along(params["gain"], x, attributes)
    return {"y": y + along(params["bias"], x, attributes) if attributes["bias"] else y}


def shift(inputs, params, attributes):
    return {"y": inputs["x"] + along(params["offset"], inputs["x"], attributes)}


REFERENCES = {"addto": addto, "eltwise": eltwise, "scale": scale, "shift": shift}
