"""References of the errors of predicted numbers: weighted moments of whole columns, about the mean."""

import numpy as np

from .classification_metrics import share, weights
from .losses import rows_of


def regression_error(inputs, params, attributes):
    x, target, weight = rows_of(inputs["x"]), rows_of(inputs["target"]), weights(inputs)
    every, total = np.repeat(weight[:, None], x.shape[1], axis=1), np.sum(weight)
    centre = share(weight @ target, total)
    spread = weight @ (target - centre) ** 2
    differ = spread > 1e-12 * abs(weight @ target**2)
    explained = 1 - (weight @ (x - target) ** 2)[differ] / spread[differ]
    square = share((every * (x - target) ** 2).sum(), every.sum())
    return {
        "report": {
            "MAE": share((every * np.abs(x - target)).sum(), every.sum()),
            "RMSE": np.sqrt(np.where(square < 0, np.nan, square)),
            "R2": share(explained.sum(), np.float64(len(explained))),
        }
    }


REFERENCES = {"regression_error": regression_error}
