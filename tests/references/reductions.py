"""References of reductions and of axes in another order."""

import numpy as np

OPERATIONS = {
    "SUM": np.sum,
    "MEAN": np.mean,
    "ASUM": lambda x, **options: np.sum(np.abs(x), **options),
    "SUMSQ": lambda x, **options: np.sum(x**2, **options),
    "L2": lambda x, **options: np.sqrt(np.sum(x**2, **options)),
    "MAX": np.max,
    "MIN": np.min,
    "PROD": np.prod,
    "LOG_SUM_EXP": np.logaddexp.reduce,
}


def permute(inputs, params, attributes):
    return {"y": inputs["x"].transpose(0, *attributes["order"])}


def reduction(inputs, params, attributes):
    x, axes = inputs["x"], attributes["axes"]
    places = tuple(range(1, x.ndim)) if axes is None else tuple(axes)
    if not places:
        x, places = x[:, None], (1,)
    whole = OPERATIONS[attributes["operation"]](x, axis=places, keepdims=True)
    return {"y": whole if attributes["keep_dims"] and inputs["x"].ndim > 1 else whole.squeeze(places)}


def arg_max(inputs, params, attributes):
    x, axis = inputs["x"], attributes["axis"]
    x = -x if attributes["operation"] == "MIN" else x
    if attributes["last"]:
        found = x.shape[axis] - 1 - np.flip(x, axis).argmax(axis)
    else:
        found = x.argmax(axis)
    return {"y": (np.expand_dims(found, axis) if attributes["keep_dims"] else found).astype(float)}


def top_k(inputs, params, attributes):
    x, axis = inputs["x"], attributes["axis"]
    order = np.argsort(-x if attributes["largest"] else x, axis=axis, kind="stable")
    places = order.take(range(attributes["k"]), axis)
    return {"y": np.take_along_axis(x, places, axis), "places": places.astype(float)}


REFERENCES = {"permute": permute, "reduction": reduction, "arg_max": arg_max, "top_k": top_k}
