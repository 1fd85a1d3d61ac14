"""Reference of the counts of what is taken for what, as a product of one-hot matrices."""

import numpy as np

from .classification_metrics import counted_labels, guesses, share


def confusion_matrix(inputs, params, attributes):
    x, label, weight = counted_labels(inputs, attributes, 2)
    classes = np.eye(max(x.shape[1], 2))
    said = classes[guesses(x, attributes["threshold"])]
    matrix = classes[label].T @ (weight[:, None] * said)
    wanted = matrix.sum(axis=1)
    recalls = matrix.diagonal()[wanted != 0] / wanted[wanted != 0]
    return {
        "report": {
            "accuracy": share(matrix.trace(), wanted.sum()),
            "balanced_accuracy": share(recalls.sum(), np.float64(len(recalls))),
        }
    }


REFERENCES = {"confusion_matrix": confusion_matrix}
