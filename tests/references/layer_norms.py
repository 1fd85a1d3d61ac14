"""References of row norms."""

import numpy as np


def rms_norm(inputs, params, attributes):
    x, axis = inputs["x"], attributes["axis"]
    first = axis if axis > 0 else axis + x.ndim
    square = np.mean(x**2, axis=tuple(range(first, x.ndim)), keepdims=True)
    return {"y": x / np.sqrt(square + attributes["epsilon"]) * params["gain"].reshape(x.shape[first:])}


def row_l2_norm(inputs, params, attributes):
    length = np.linalg.norm(inputs["x"], axis=1, keepdims=True)
    return {"y": inputs["x"] / np.where(length, length, 1)}


def sum_to_one_norm(inputs, params, attributes):
    return {"y": inputs["x"] / inputs["x"].sum(axis=1, keepdims=True)}


def data_norm(inputs, params, attributes):
    channels_last = np.moveaxis(inputs["x"], 1, -1)
    y = (channels_last - params["mean"]) / params["deviation"]
    return {"y": np.moveaxis(y, -1, 1), "mean": params["mean"], "deviation": params["deviation"]}


def target_norm(inputs, params, attributes):
    mean, deviation = (params[name].reshape(-1, *[1] * (inputs["x"].ndim - 2)) for name in ("mean", "deviation"))
    target = inputs["target"] if inputs["target"] is not None else np.full(inputs["x"].shape, np.nan)
    outputs = {"y": mean + deviation * inputs["x"], "z": (target - mean) / deviation}
    return {**outputs, "mean": params["mean"], "deviation": params["deviation"]}


REFERENCES = {
    "rms_norm": rms_norm,
    "row_l2_norm": row_l2_norm,
    "sum_to_one_norm": sum_to_one_norm,
    "data_norm": data_norm,
    "target_norm": target_norm,
}
