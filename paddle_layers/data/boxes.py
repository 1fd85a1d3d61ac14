"""Bounding boxes of images and their values under geometric transforms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .columns import Column, Rows, SequenceColumn
from .dataset import Dataset
from .lazy_columns import StoredColumn
from .problems import DataError
from .random import RowRandom

if TYPE_CHECKING:
    from paddle_layers.runtime.batch.values import Sequences

Array = NDArray[Any]

FARTHEST = 2.0
"""Tolerance for corners outside of the image, relative to its size; values beyond it are pixels."""


class Step(NamedTuple):
    """A transform of the images, its stream of random numbers, and the shape of an image before it."""

    transform: Any
    stream: int
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes x1, y1, x2, y2 as shares of an image's width and height: a sequence for each image.

    After each step a box stays if its center is within the image, and is cut off at the edges.
    """

    dataset: Dataset
    layer: str
    name: str
    column: Column
    steps: tuple[Step, ...]

    def applied(self, layer: str, values: Sequences, rows: Rows, random: Mapping[int, RowRandom] | None) -> Sequences:
        """The boxes that stay, or of what belongs to each (the `values` of another data layer) that which stays."""
        from paddle_layers.runtime.batch.values import Sequences

        assert isinstance(self.column, (SequenceColumn, StoredColumn)), "the data layer takes sequences"
        boxes = self.column.take(rows)
        if not np.array_equal(boxes.starts, values.starts):
            odd = int(np.flatnonzero(np.diff(boxes.starts) != np.diff(values.starts))[0])
            counts = (int(np.diff(one.starts)[odd]) for one in (values, boxes))
            raise DataError(
                f"{self.dataset.place(int(rows[odd]))}: the data layer `{layer}` has {next(counts)} rows for "
                f"{next(counts)} boxes of field `{self.name}`; with both in `also`, there must be one row "
                "per box"
            )
        owners = np.repeat(np.arange(len(rows)), np.diff(boxes.starts))
        moved, kept = self._moved(np.asarray(boxes.data, np.float64).reshape(-1, 4), owners, rows, random)
        left = np.concatenate([[0], np.cumsum(kept)])[boxes.starts]
        data = np.asarray(values.data)
        return Sequences(data[kept] if layer != self.layer else moved[kept].astype(data.dtype), left)

    def _moved(
        self, boxes: Array, owners: Rows, rows: Rows, random: Mapping[int, RowRandom] | None
    ) -> tuple[Array, NDArray[np.bool_]]:
        far = np.argwhere(~(np.abs(boxes - 0.5) <= FARTHEST + 0.5))
        if len(far):
            box, corner = far[0].tolist()
            raise DataError(
                f"{self.dataset.place(int(rows[owners[box]]))}: field `{self.name}` has the corner "
                f"{boxes[box, corner]:g}; transforms need relative coordinates (0 to 1): divide x by the "
                "width and y by the height of the image"
            )
        kept = np.ones(len(boxes), bool)
        for transform, stream, shape in self.steps:
            boxes = transform.apply_boxes(boxes, owners, shape, None if random is None else random[stream].at(rows))
            centres = (boxes[:, :2] + boxes[:, 2:]) / 2
            kept &= ((centres >= 0) & (centres <= 1)).all(axis=1)
            boxes = boxes.clip(0, 1)
        return boxes, kept
