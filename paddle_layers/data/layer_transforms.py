"""Bound transforms: transforms of data layers, applied consistently to images and their boxes and label maps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config.wiring.data_layers import NONE_IGNORED, IgnoredLabels
from paddle_layers.define import Type

from .columns import Column, Rows, SequenceColumn
from .dataset import Dataset
from .lazy_columns import StoredColumn
from .problems import DataError
from .sampling import RowRandom

if TYPE_CHECKING:
    from paddle_layers.runtime.batch.values import Sequences

Array = NDArray[Any]

FARTHEST = 2.0
"""Tolerance for corners outside of the image, relative to its size; values beyond it are pixels."""


class DataTransform(Protocol):
    """Interface of a transform; see `transforms.py`."""

    def output_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Axes of a changed row."""
        ...

    def apply(self, batch: Array, rng: RowRandom | None) -> Array:
        """The changed batch."""
        ...


STREAMS_OF_A_FEED = 64
"""Random streams of the transforms of data layers: one stream each; stream 0 is used for shuffling."""


class MovesPixels(DataTransform, Protocol):
    """A geometric transform of images, which also changes their boxes and label maps."""

    def apply_labels(self, batch: Array, rng: RowRandom | None) -> Array:
        """The changed label maps."""
        ...

    def apply_boxes(self, boxes: Array, rows: Rows, shape: tuple[int, ...], rng: RowRandom | None) -> Array:
        """The moved boxes."""
        ...


class LayerTransform(NamedTuple):
    """A transform of a data layer, bound to the data layers of the boxes and label maps of its images."""

    layer: str
    transform: DataTransform
    also: tuple[str, ...] = ()


def check_transform(
    transform: LayerTransform, types: Mapping[str, Type], ignored: Mapping[str, IgnoredLabels]
) -> LayerTransform:
    """The transform, restricted to existing data layers. Raises `DataError` if it does not fit its layer or `also`."""
    layer = transform.layer
    if layer not in types or types[layer].kind != "DENSE":
        reason = "takes ids or sparse rows" if layer in types else f"does not exist; available: {quoted(types)}"
        raise DataError(f"invalid transform of the data layer `{layer}`, which {reason}")
    transform = transform._replace(also=tuple(name for name in transform.also if name in types))
    boxes = [name for name in transform.also if are_boxes(types[name])]
    for name in transform.also:
        wanted, is_map = types[name], _is_map(types[name])
        where = f"transform of `{layer}` with `{name}` in `also`"
        needed = "apply_boxes" if wanted.level else "apply_labels" if is_map else "apply"
        moves = hasattr(transform.transform, "apply_boxes") or hasattr(transform.transform, "apply_labels")
        if types[layer].level or name == layer:
            raise DataError(f"{where}: the images must not be sequences, and `also` must not include the layer itself")
        if not moves or not hasattr(transform.transform, needed):
            raise DataError(f"{where}: this transform does not move pixels; remove `also`")
        if wanted.level == 1 and len(boxes) != 1:
            raise DataError(
                f"{where}, of type {wanted}; boxes are `shape: 4 seq_nested_level: 1`, and other rows per "
                f"box need exactly one layer of boxes in `also`, got {len(boxes)}"
            )
        if wanted.level > 1 or not (wanted.level or is_map or (wanted.kind == "DENSE" and len(wanted.dims) > 1)):
            raise DataError(
                f"{where}, of type {wanted}; allowed are label maps (`data_type: INT shape: [height, "
                "width]`), images, boxes (`shape: 4 seq_nested_level: 1`) and other rows per box"
            )
        fill = getattr(transform.transform, "label_fill", 0)
        if is_map and not 0 <= fill < wanted.size and fill not in ignored.get(name, NONE_IGNORED).legal:
            raise DataError(
                f"{where}: `label_fill` is {fill}, expected 0 to {wanted.size - 1}, or the `ignore_label` of all losses"
            )
    return transform


def _is_map(wanted: Type) -> bool:
    return wanted.kind == "INT" and wanted.level == 0 and len(wanted.dims) > 1


def are_boxes(wanted: Type) -> bool:
    """Whether a data layer takes boxes."""
    return wanted.kind == "DENSE" and wanted.level == 1 and wanted.dims == (4,)


def streams_of(changes: Sequence[LayerTransform], layers: Sequence[str]) -> list[int]:
    """A stream of random numbers for each change, by the place of its layer and its own among those of the layer."""
    places: Counter[str] = Counter()
    streams = []
    for change in changes:
        streams.append(1 + layers.index(change.layer) * STREAMS_OF_A_FEED + places[change.layer])
        places[change.layer] += 1
    return streams


def quoted(names: Iterable[str]) -> str:
    """Names in a message."""
    return ", ".join(f"`{name}`" for name in names) or "none"


class BoxTransform(NamedTuple):
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
    steps: tuple[BoxTransform, ...]

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
