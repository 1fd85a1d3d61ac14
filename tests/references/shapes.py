"""References of shapes."""

import numpy as np


def concat(inputs, params, attributes):
    return {"y": np.concatenate(inputs["x"], axis=attributes["axis"])}


def slice_(inputs, params, attributes):
    cuts = attributes["parts"] or np.cumsum(attributes["sizes"])[:-1]
    return {"y": np.split(inputs["x"], cuts, axis=attributes["axis"])}


def split(inputs, params, attributes):
    return {"y": [inputs["x"]] * attributes["copies"]}


def reshape(inputs, params, attributes):
    x = inputs["x"]
    dims = [x.shape[place + 1] if size == 0 else size for place, size in enumerate(attributes["dims"])]
    return {"y": x.reshape(len(x), *dims)}


def flatten(inputs, params, attributes):
    return {"y": inputs["x"].reshape(len(inputs["x"]), -1)}


def repeat(inputs, params, attributes):
    count, axis = attributes["num_repeats"], attributes["axis"]
    if attributes["as_row_vector"]:
        return {"y": np.concatenate([inputs["x"]] * count, axis=axis)}
    return {"y": np.repeat(inputs["x"], count, axis=axis)}


REFERENCES = {
    "concat": concat,
    "slice": slice_,
    "split": split,
    "reshape": reshape,
    "flatten": flatten,
    "repeat": repeat,
}
