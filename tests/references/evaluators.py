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
    classes = np.arange(max(inputs["x"].shape[1], 2))[:, None]
    found = guesses(inputs["x"], attributes["threshold"]) == classes
    wanted = inputs["label"] == classes
    of_all_rows = weights(inputs).ravel()
    return {
        "correct": (found & wanted) @ of_all_rows,
        "found": found @ of_all_rows,
        "wanted": wanted @ of_all_rows,
    }


def auc(inputs, params, attributes):
    score, label, weight = inputs["x"][:, -1], inputs["label"], weights(inputs).ravel()

    def histogram(chosen):
        return np.histogram(score[chosen], attributes["bins"], (0, 1), weights=weight[chosen])[0]

    return {
        "positive": histogram(label == 1),
        "negative": histogram(label != 1),
        "outside": (score < 0) | (score > 1),
    }


REFERENCES = {
    "classification_error": classification_error,
    "precision_recall": precision_recall,
    "auc": auc,
}
