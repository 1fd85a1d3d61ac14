"""References of contexts."""

import itertools

import numpy as np


def innermost(inputs, name="x"):
    """First and last row of every sequence, of the innermost ones where nested."""
    starts = inputs[f"{name}.starts"][-1]
    return list(itertools.pairwise(starts))


def context(inputs, params, attributes):
    x, length = inputs["x"], attributes["length"]
    start = attributes["start"] if attributes["start"] is not None else -((length - 1) // 2)
    y = np.zeros((len(x), length, x.shape[1]))
    for first, last in innermost(inputs):
        for t in range(first, last):
            for j in range(length):
                if first <= t + start + j < last:
                    y[t, j] = x[t + start + j]
    return {"y": y.reshape(len(x), -1)}


def padded_context(inputs, params, attributes):
    x, length, padding = inputs["x"], attributes["length"], params["padding"]
    start = attributes["start"] if attributes["start"] is not None else -((length - 1) // 2)
    before = max(0, -start)
    y = np.zeros((len(x), length, x.shape[1]))
    for first, last in innermost(inputs):
        longer = np.concatenate([padding[:before], x[first:last], padding[before:]])
        for t in range(last - first):
            y[first + t] = longer[t + start + before : t + start + before + length]
    return {"y": y.reshape(len(x), -1)}


def row_conv(inputs, params, attributes):
    x, weight = inputs["x"], params["weight"]
    y = np.zeros_like(x)
    for first, last in innermost(inputs):
        for j, row in enumerate(weight[: last - first]):
            y[first : last - j] += x[first + j : last] * row
    return {"y": y}


def sequence_softmax(inputs, params, attributes):
    y = np.zeros_like(inputs["x"])
    for first, last in innermost(inputs):
        powers = np.exp(inputs["x"][first:last])
        y[first:last] = powers / powers.sum(axis=0)
    return {"y": y}


REFERENCES = {
    "context": context,
    "padded_context": padded_context,
    "row_conv": row_conv,
    "sequence_softmax": sequence_softmax,
}
