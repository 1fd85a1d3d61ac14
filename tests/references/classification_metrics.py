"""References of evaluators, row by row and pair by pair."""

import numpy as np

from .losses import by_label


def guesses(x, threshold):
    return (x[:, 0] > threshold) * 1 if x.shape[1] == 1 else x.argmax(axis=1)


def weights(inputs):
    return np.ones(len(inputs["x"])) if inputs["weight"] is None else inputs["weight"].ravel()


def counted_labels(inputs, attributes, least=1):
    """Scores, labels and weights of those labels that count; `least` is how many classes there are at least."""
    x, label = by_label(inputs)
    weight = np.ones(len(label)) if inputs.get("weight") is None else inputs["weight"].ravel()
    if attributes["ignore_label"] is None:
        return x, label, weight
    counted = (label != attributes["ignore_label"]) & (label >= 0) & (label < max(x.shape[1], least))
    return x[counted], label[counted], weight[counted]


def share(part, whole):
    """Quotient; NaN where the whole is nothing."""
    return part / np.where(whole == 0, np.nan, whole)


def mean(values, weight):
    """Weighted mean; NaN where the weights add up to nothing."""
    return share(values @ weight, weight.sum())


def classification_error(inputs, params, attributes):
    x, label, weight = counted_labels(inputs, attributes, 2)
    if x.shape[1] == 1:
        wrong = (x[:, 0] > attributes["threshold"]) != label
    else:
        as_good = x >= np.take_along_axis(x, label[:, None], axis=1)
        wrong = np.count_nonzero(as_good, axis=1) > attributes["top_k"]
    return {"report": {"": mean(wrong, weight)}}


def overlaps(inputs, attributes):
    """For each class what is rightly found, what is found and what is there."""
    x, label, weight = counted_labels(inputs, attributes, 2)
    classes = np.arange(max(x.shape[1], 2))[:, None]
    found, wanted = guesses(x, attributes["threshold"]) == classes, label == classes
    return (found & wanted) @ weight, found @ weight, wanted @ weight


def precision_recall(inputs, params, attributes):
    correct, found, wanted = overlaps(inputs, attributes)
    measures = np.stack([share(correct, found), share(correct, wanted), share(2 * correct, found + wanted)])
    chosen = slice(None) if attributes["positive_label"] is None else [attributes["positive_label"]]
    means = [np.divide(sum(known), len(known)) for known in (row[~np.isnan(row)] for row in measures[:, chosen])]
    return {
        "report": dict(zip(("precision", "recall", "F1"), means, strict=True))
        | {"accuracy": share(sum(correct), sum(wanted))}
    }


def mean_iou(inputs, params, attributes):
    correct, found, wanted = overlaps(inputs, attributes)
    union = found + wanted - correct
    shares = correct[union != 0] / union[union != 0]
    means = np.divide(shares.sum(), np.float64(len(shares))), share(correct.sum(), wanted.sum())
    return {"report": dict(zip(("mean_iou", "accuracy"), means, strict=True))}


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
    "mean_iou": mean_iou,
    "auc": auc,
}
