"""References of evaluators, row by row and pair by pair."""

import numpy as np


def guesses(x, threshold):
    return (x[:, 0] > threshold) * 1 if x.shape[1] == 1 else x.argmax(axis=1)


def rows_of(x):
    return x.reshape(len(x), -1)


def weights(inputs):
    return np.ones(len(inputs["x"])) if inputs["weight"] is None else inputs["weight"].ravel()


def share(part, whole):
    """Quotient; NaN where the whole is nothing."""
    return part / np.where(whole == 0, np.nan, whole)


def mean(values, weight):
    """Weighted mean; NaN where the weights add up to nothing."""
    return share(values @ weight, weight.sum())


def classification_error(inputs, params, attributes):
    x, label = rows_of(inputs["x"]), inputs["label"]
    if x.shape[1] == 1:
        wrong = (x[:, 0] > attributes["threshold"]) != label
    else:
        as_good = x >= np.take_along_axis(x, label[:, None], axis=1)
        wrong = np.count_nonzero(as_good, axis=1) > attributes["top_k"]
    return {"report": {"": mean(wrong, weights(inputs))}}


def precision_recall(inputs, params, attributes):
    x = rows_of(inputs["x"])
    classes = np.arange(max(x.shape[1], 2))[:, None]
    found = guesses(x, attributes["threshold"]) == classes
    wanted, weight = inputs["label"] == classes, weights(inputs)
    correct, found, wanted = (found & wanted) @ weight, found @ weight, wanted @ weight
    measures = np.stack([share(correct, found), share(correct, wanted), share(2 * correct, found + wanted)])
    chosen = slice(None) if attributes["positive_label"] is None else [attributes["positive_label"]]
    means = [np.divide(sum(known), len(known)) for known in (row[~np.isnan(row)] for row in measures[:, chosen])]
    return {
        "report": dict(zip(("precision", "recall", "F1"), means, strict=True))
        | {"accuracy": share(sum(correct), sum(wanted))}
    }


def auc(inputs, params, attributes):
    """Every pair of a row of class 1 and another, by the edges of the bins; the last bin has its right edge."""
    score, ours, weight = inputs["x"][:, -1], inputs["label"] == 1, weights(inputs)
    edges = np.arange(1, attributes["bins"]) / attributes["bins"]
    place = np.searchsorted(edges, score, side="right")
    order = (np.sign(np.subtract.outer(place[ours], place[~ours])) + 1) / 2
    pairs = np.multiply.outer(weight[ours], weight[~ours])
    return {"report": {"": share((order * pairs).sum(), pairs.sum())}}


REFERENCES = {
    "classification_error": classification_error,
    "precision_recall": precision_recall,
    "auc": auc,
}
