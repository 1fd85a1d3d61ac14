"""References of layers whose second input says what becomes of a row, and of rows cut into sequences."""

import numpy as np


def multiplex(inputs, params, attributes):
    return {"y": np.stack(inputs["x"])[inputs["index"], np.arange(len(inputs["index"]))]}


def conv_shift(inputs, params, attributes):
    x, weights = inputs["x"], inputs["weights"]
    middle = weights.shape[1] // 2
    return {"y": sum(np.roll(x, middle - k, axis=1) * weights[:, k : k + 1] for k in range(weights.shape[1]))}


def scale_sub_region(inputs, params, attributes):
    y = inputs["x"].copy()
    for image, box in zip(y, inputs["indices"], strict=True):
        for at in np.ndindex(*image.shape):
            if all(box[2 * axis] <= at[axis] + 1 <= box[2 * axis + 1] for axis in range(3)):
                image[at] *= attributes["value"]
    return {"y": y}


def to_sequence(inputs, params, attributes):
    rows = inputs["x"].reshape(-1, attributes["size"])
    count = inputs["x"][0].size // attributes["size"] if len(inputs["x"]) else 0
    return {"y": rows, "lengths": [count] * len(inputs["x"])}


def resize(inputs, params, attributes):
    """Row by row: a number belongs to the row that is not full yet, and the row to the sample of its first number."""
    rows, lengths = [], [0] * len(inputs["x"])
    for n, x in enumerate(inputs["x"]):
        for number in x.reshape(-1):
            if not rows or len(rows[-1]) == attributes["size"]:
                rows.append([])
                lengths[n] += 1
            rows[-1].append(number)
    return {"y": np.array(rows).reshape(-1, attributes["size"]), "lengths": lengths}


def seq_filter(inputs, params, attributes):
    stays = inputs["keep"].reshape(-1) != 0
    pieces = np.split(stays, inputs["x.starts"][-1][1:-1])
    return {"y": inputs["x"][stays], "lengths": [int(piece.sum()) for piece in pieces]}


def batch_reindex(inputs, params, attributes):
    return {"y": inputs["x"][inputs["index"].reshape(-1)], "lengths": np.diff(inputs["index.starts"][-1]).tolist()}


def kept(inputs, params, attributes):
    stays = inputs["keep"].reshape(-1) != 0
    return {"y": inputs["x"][stays], "lengths": stays.astype(int).tolist()}


REFERENCES = {
    "batch_reindex": batch_reindex, "filter": kept, "filter_ids": kept,
    "multiplex": multiplex, "conv_shift": conv_shift, "scale_sub_region": scale_sub_region,
    "to_sequence": to_sequence, "resize": resize, "seq_filter": seq_filter,
}  # fmt: skip
