"""What a classifier takes for what: a matrix of counts, and what it says of each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class ClassMeasures(NamedTuple):
    """Precision, recall and F1 of a class, or a mean of those of all classes; NaN where there is none.

    Precision is the share of what was found to be of the class that is, recall the share of the class that was found.
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
    """How often rows of each class were found to be of each class.

    `counts[k, j]` are rows of class k found to be of class j; `wanted[k]` all rows of class k, those found to be of no
    class too, as where a score is NaN. `value` and `label` are names of the network, `names` those of the classes.
    """

    value: str
    label: str
    names: Sequence[str]
    counts: Array
    wanted: Array
    regions: bool = False
    """Whether labels are those of places, as of pixels: what counts then is how far regions lie over one another."""

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
        """The most frequent mistakes: the right class, the one that was found, and how often."""
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
    known = ~np.isnan(measure)
    return float(_shares((measure[known] * weights[known]).sum(), weights[known].sum()))


def _shares(part: Any, whole: Any) -> Array:
    """Shares of the whole; of nothing there is none (NaN)."""
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole != 0))
