"""Confusion matrix: counts, and precision, recall and F1 per class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class ClassMeasures(NamedTuple):
    """Precision, recall and F1 of a class, or their macro averages; NaN if undefined.

    Precision is the share of the predictions of the class that are correct, recall the share of its samples that were
    predicted.
    """

    name: str
    precision: float
    recall: float
    f1: float
    support: float
    """Rows of the class, weighted."""
    iou: float
    """Intersection over union: the share of what is of the class or was found to be that is both."""


@dataclass(frozen=True)
class Confusion:
    """Confusion matrix: the counts of predicted classes for each target class."""

    value: str
    label: str
    names: Sequence[str]
    counts: Array
    wanted: Array
    regions: bool = False
    """Whether labels belong to positions, such as pixels: intersection over union (IoU) is then reported."""

    @property
    def accuracy(self) -> float:
        """The share of the rows that were found to be what they are."""
        return float(_shares(self.counts.trace(), self.wanted.sum()))

    def classes(self) -> list[ClassMeasures]:
        """The measures of every class."""
        precision, recall, f1, iou = (measure.tolist() for measure in self._measures())
        columns = zip(self.names, precision, recall, f1, self.wanted.tolist(), iou, strict=True)
        return [ClassMeasures(*measures) for measures in columns]

    def means(self) -> list[ClassMeasures]:
        """`macro avg`, the plain mean over the classes that have a measure, and `weighted avg`, by their rows."""
        rows = float(self.wanted.sum())
        found = []
        for name, weights in (("macro avg", np.ones(len(self.wanted))), ("weighted avg", self.wanted)):
            precision, recall, f1, iou = (_mean(measure, weights) for measure in self._measures())
            found.append(ClassMeasures(name, precision, recall, f1, rows, iou))
        return found

    def mistakes(self, most: int) -> list[tuple[str, str, float]]:
        """The most frequent confusions: the target class, the predicted class, and the count."""
        wrong = self.counts - np.diag(self.counts.diagonal())
        order = np.argsort(-wrong, axis=None, kind="stable")[:most]
        places = zip(*np.unravel_index(order, wrong.shape), strict=True)
        return [(self.names[k], self.names[j], float(wrong[k, j])) for k, j in places if wrong[k, j] > 0]

    def _measures(self) -> tuple[Array, Array, Array, Array]:
        right, found = self.counts.diagonal(), self.counts.sum(axis=0)
        return (
            _shares(right, found),
            _shares(right, self.wanted),
            _shares(2 * right, found + self.wanted),
            _shares(right, found + self.wanted - right),
        )


def _mean(measure: Array, weights: Array) -> float:
    # A class without samples, or that was never predicted, has no measure; as 0 it would lower the mean.
    known = ~np.isnan(measure)
    return float(_shares((measure[known] * weights[known]).sum(), weights[known].sum()))


def _shares(part: Any, whole: Any) -> Array:
    """Shares of the total; NaN if that is zero."""
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole != 0))
