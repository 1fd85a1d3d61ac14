"""Affine maps, from their formula."""

import numpy as np


def place(x, axis):
    """The axis, counted from the rows; those of one number are one of one column."""
    return min(axis if axis > 0 else axis + max(x.ndim, 2), x.ndim)


def fc(inputs, params, attributes):
    rows = sum(
        x.reshape(*x.shape[: place(x, attributes["axis"])], -1) @ weight
        for x, weight in zip(inputs["x"], params["weight"], strict=True)
    )
    return {"y": rows + params["bias"] if attributes["bias"] else np.asarray(rows)}


def selective_fc(inputs, params, attributes):
    whole = inputs["x"] @ params["weight"].T + params["bias"]
    return {"y": np.where(inputs["selected"] > 0, whole, attributes["others"])}


def selected_scores(inputs, params, attributes):
    products = [x @ weight.T for x, weight in zip(inputs["x"], params["weight"], strict=True)]
    whole = np.add(sum(products), params["bias"])
    chosen = inputs["selected"] > 0
    return {"y": whole[chosen][:, None], "lengths": chosen.sum(axis=1).tolist()}


def trans_fc(inputs, params, attributes):
    x = inputs["x"].reshape(len(inputs["x"]), -1)
    return {"y": x @ params["weight"].T + (params["bias"] if attributes["bias"] else 0.0)}


REFERENCES = {"fc": fc, "trans_fc": trans_fc, "selective_fc": selective_fc, "selected_scores": selected_scores}
