"""Reference of the counts of what is taken for what, as a product of one-hot matrices."""

import numpy as np

from .evaluators import guesses, rows_of, share, weights


def confusion_matrix(inputs, params, attributes):
    x, label = rows_of(inputs["x"]), inputs["label"]
    classes = np.eye(max(x.shape[1], 2))
    counted = (label != attributes["ignore_label"]) & (label >= 0) & (label < len(classes))
    if attributes["ignore_label"] is None:
        counted[:] = True
    weight, said = weights(inputs)[counted], classes[guesses(x[counted], attributes["threshold"])]
    matrix = classes[label[counted]].T @ (weight[:, None] * said)
    wanted = matrix.sum(axis=1)
    recalls = matrix.diagonal()[wanted != 0] / wanted[wanted != 0]
    return {
        "report": {
            "accuracy": share(matrix.trace(), wanted.sum()),
            "balanced_accuracy": share(recalls.sum(), np.float64(len(recalls))),
        }
    }


REFERENCES = {"confusion_matrix": confusion_matrix}
