"""References of paddle_layers/layers/evaluators.py, row by row and pair by pair."""

import numpy as np


def guesses(x, threshold):
    return (x[:, 0] > threshold) * 1 if x.shape[1] == 1 else x.argmax(axis=1)


def weights(inputs):
    return np.ones(len(inputs["x"])) if inputs["weight"] is None else inputs["weight"]


def classification_error(inputs, params, attributes):
    x, label = inputs["x"], inputs["label"]
    if attributes["top_k"] == 1:
        wrong = guesses(x, attributes["threshold"]) != label
    else:
        best = np.argsort(-x, axis=1)[:, : attributes["top_k"]]
        wrong = ~(best == label[:, None]).any(axis=1)
    return {"wrong": wrong * weights(inputs), "rows": weights(inputs)}


def precision_recall(inputs, params, attributes):
    found = guesses(inputs["x"], attributes["threshold"]) == attributes["positive_label"]
    wanted = inputs["label"] == attributes["positive_label"]
    return {"correct": found & wanted, "found": found, "wanted": wanted}


def auc(inputs, params, attributes):
    score, label = inputs["x"][:, -1], inputs["label"]
    differences = np.subtract.outer(score[label == 1], score[label == 0])
    return {"ordered": (np.sign(differences) + 1) / 2, "pairs": differences.size}


def row_sum(inputs, params, attributes):
    sums = inputs["x"].reshape(len(inputs["x"]), -1).sum(axis=1)
    return {"total": sums * weights(inputs), "rows": weights(inputs)}


REFERENCES = {
    "classification_error": classification_error,
    "precision_recall": precision_recall,
    "auc": auc,
    "row_sum": row_sum,
}
