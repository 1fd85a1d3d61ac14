"""What a row says and whether it is right."""

import numpy as np


def accuracy(inputs, params, attributes):
    x, label = inputs["x"].reshape(len(inputs["x"]), -1), inputs["label"]
    counted = (label != attributes["ignore_label"]) & (label < x.shape[1])
    rows = np.full(len(x), 1.0) if attributes["ignore_label"] is None else counted * 1.0
    safe = np.where(rows > 0, label, 0)
    right = np.take_along_axis(x, safe[:, None], axis=1)
    rank = (x >= right).sum(axis=1)  # the right class counts itself
    hits = rows * (rank <= attributes["top_k"])
    return {"hits": hits, "rows": rows, "report": {"": np.divide(hits.sum(), rows.sum())}}


def maxid(inputs, params, attributes):
    return {"y": inputs["x"].reshape(len(inputs["x"]), -1).argmax(axis=1)}


REFERENCES = {"accuracy": accuracy, "maxid": maxid}
