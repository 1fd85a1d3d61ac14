"""References of comparisons, selections and indexing."""

import operator

import numpy as np

COMPARISONS = {
    "EQUAL": operator.eq, "NOT_EQUAL": operator.ne, "LESS": operator.lt, "LESS_EQUAL": operator.le,
    "GREATER": operator.gt, "GREATER_EQUAL": operator.ge,
}  # fmt: skip


def compare(inputs, params, attributes):
    other = inputs.get("other")
    second = attributes["value"] if other is None else other
    return {"y": COMPARISONS[attributes["operation"]](inputs["x"], second).astype(float)}


def where(inputs, params, attributes):
    other = inputs.get("other")
    return {"y": np.where(inputs["condition"] != 0, inputs["x"], attributes["value"] if other is None else other)}


def gather(inputs, params, attributes):
    axis = attributes["axis"]
    return {"y": np.take(inputs["x"], attributes["indices"], axis=axis)}


def cumsum(inputs, params, attributes):
    axis = attributes["axis"]
    x = np.flip(inputs["x"], axis) if attributes["reverse"] else inputs["x"]
    y = np.cumsum(x, axis) - (x if attributes["exclusive"] else 0)
    return {"y": np.flip(y, axis) if attributes["reverse"] else y}


def to_float(inputs, params, attributes):
    return {"y": inputs["ids"].astype(float)}


def to_ids(inputs, params, attributes):
    size = attributes["size"]
    near = np.floor(np.nan_to_num(inputs["x"], nan=0.0, posinf=size, neginf=-2.0 * size) + 0.5)
    return {"y": np.clip(np.where(near < 0, near + size, near), 0, size - 1).astype(np.int64)}


REFERENCES = {
    "compare": compare,
    "where": where,
    "gather": gather,
    "cumsum": cumsum,
    "to_float": to_float,
    "to_ids": to_ids,
}
