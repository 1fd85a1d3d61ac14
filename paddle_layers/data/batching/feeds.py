"""Feeds: from the fields of a data set to the inputs of the data layers."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from paddle_layers.config.wiring.data_layers import NONE_IGNORED, IgnoredLabels
from paddle_layers.define import Type
from paddle_layers.define.fields.types import channels_last, shape_text

from ..columns import Column, Rows, SequenceColumn, SparseColumn, equal_rows, equal_sequences, sparse_part
from ..dataset import Dataset
from ..layer_transforms import (
    Boxes,
    BoxTransform,
    DataTransform,
    LayerTransform,
    MovesPixels,
    are_boxes,
    check_transform,
    quoted,
    streams_of,
)
from ..lazy_columns import BadRecords, StoredColumn
from ..problems import DataError, DataErrors
from ..sampling import RowRandom
from .checks import BadValue, check_ids, check_kind, check_values, first_non_finite, non_finite

Array = NDArray[Any]


@dataclass(slots=True)
class DataFeed:
    """Feed of one data layer: selected rows of a field as floats, after the transforms.

    Each transform has a random stream, the same for images and for their boxes and label maps. With `boxes` the rows
    are boxes, or values per box. With `skip` a row with a missing value is a bad record.
    """

    dataset: Dataset
    layer: str
    name: str
    column: Column
    wanted: Type
    transforms: tuple[DataTransform, ...] = ()
    dtype: DTypeLike = np.float32
    ignored: IgnoredLabels = NONE_IGNORED
    streams: tuple[int, ...] = ()
    boxes: Boxes | None = None
    skip: bool = False
    checked: bool = False
    shape: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        if self.wanted.level == 1:
            self.column = equal_sequences(self.column, len(self.wanted.dims))
        elif self.wanted.level == 0 and self.wanted.kind in ("DENSE", "INT"):
            self.column = equal_rows(self.column, self.wanted.dims, self.dataset.place)
        check_kind(self.dataset, self.name, self.column, self.layer, self.wanted)
        self.shape = self._input_shape()
        target = self.layer, self.wanted, self.dtype
        try:
            self.checked = check_values(self.dataset, self.name, self.column, *target, self.ignored)
        except BadValue:
            if not self.skip:
                raise

    def take(self, rows: Rows, random: Mapping[int, RowRandom] | None) -> Any:
        """The values of these rows; `random` has random numbers by stream, None in the test.

        Raises `DataError` for a row with a value that is missing, `BadRecords` where it could be left out.
        """
        try:
            return self._take(rows, random)
        except BadValue as error:
            if not (self.skip or isinstance(self.column, StoredColumn)):
                raise
            raise BadRecords({error.row: str(error)}) from None

    def _take(self, rows: Rows, random: Mapping[int, RowRandom] | None) -> Any:
        if isinstance(self.column, SparseColumn):
            return self.column.take(rows)
        if isinstance(self.column, (SequenceColumn, StoredColumn)):
            found = self.column.take(rows, lambda items, owners: self._change(items, owners, random))
            return found if self.boxes is None else self.boxes.applied(self.layer, found, rows, random)
        return self._change(self.column[rows], rows, random)

    def _change(self, batch: Array, rows: Rows, random: Mapping[int, RowRandom] | None) -> Array:
        if self.wanted.kind == "INT":
            ids = batch.reshape(len(batch), *self.shape)
            if not self.checked:
                row_of = rows.tolist().__getitem__
                check_ids(self.dataset, self.name, ids, row_of, self.layer, self.wanted, self.ignored)
            ids = ids.astype(np.int64, copy=False)
            for stream, change in zip(self.streams, self.transforms, strict=True):
                ids = cast("MovesPixels", change).apply_labels(
                    ids, random[stream].at(rows) if random is not None else None
                )
            return ids
        stored = batch.reshape(len(batch), *self.shape)
        with np.errstate(over="ignore"):
            batch = np.ascontiguousarray(stored, self.dtype)
        if not self.checked and (bad := first_non_finite(batch)) is not None:
            raise non_finite(self.dataset, self.name, int(rows[bad[0]]), stored[bad])
        for stream, change in zip(self.streams, self.transforms, strict=True):
            batch = change.apply(batch, random[stream].at(rows) if random is not None else None)
        return batch

    def _input_shape(self) -> tuple[int, ...]:
        """Shape of a row before the transforms: as stored, or that of the layer when a flat row has as many numbers."""
        if sparse_part(self.column) is not None:
            return ()
        stored = (self.column.data if isinstance(self.column, SequenceColumn) else self.column).shape[1:]
        if self.wanted.kind == "INT" and not self.wanted.dims:
            if math.prod(stored) != 1:
                declare = f"; set `shape: [{', '.join(map(str, stored))}]` in the data layer for one id per position"
                raise DataError(
                    f"{self._where()} has samples of shape {shape_text(stored)}, {self._target()}: one id per "
                    f"sample{declare if len(stored) > 1 else ''}"
                )
            return ()
        flat_fits = len(stored) <= 1 and math.prod(stored) == math.prod(self.wanted.dims)
        shape = self.wanted.dims if flat_fits else stored
        result = self._changed_shape(shape)
        if result != self.wanted.dims:
            changed = f", {shape_text(result)} after the transforms" if result != stored else ""
            if channels_last(result, self.wanted.dims) and self.name not in self.dataset.shape_remedies:
                raise DataError(
                    f"{self._where()} has samples of shape {shape_text(stored)}{changed}, {self._target()}; move "
                    f"channels first: store {self.name}.transpose(0, 3, 1, 2)"
                )
            raise DataError(
                f"{self._where()} has samples of shape {shape_text(stored)}{changed}, {self._target()}; "
                f"{self._fit(result)}"
            )
        return shape

    def _fit(self, result: tuple[int, ...]) -> str:
        """The fix for rows of a wrong shape."""
        if remedy := self.dataset.shape_remedies.get(self.name):
            return remedy.replace("{type}", str(self.wanted))
        if isinstance(self.column, StoredColumn) and self.column.remedy is not None:
            return self.column.remedy(self.wanted.dims, result, self.column.shape[1:])
        dims = ", ".join(map(str, self.wanted.dims))
        if len(self.column) > 1 and math.prod(self.column.shape) == math.prod(self.wanted.dims):
            return f"add the batch axis: store {self.name}.reshape(1, {dims})"
        if (1, *result) == self.wanted.dims:  # images of one channel, which many files leave out
            return f"store {self.name}.reshape(-1, {dims})"
        declare = f"set `shape: [{', '.join(map(str, result))}]` in the data layer, or "
        same = len(result) == len(self.wanted.dims)
        return f"{declare if same else ''}store the field with shape (samples, {dims})"

    def _changed_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        for change in self.transforms:
            try:
                shape = change.output_shape(shape)
            except ValueError as error:
                raise DataError(f"{self._where()}: transform of `{self.layer}`: {error}") from None
        return shape

    def _where(self) -> str:
        return f"{self.dataset.origin}: field `{self.name}`"

    def _target(self) -> str:
        return f"but the data layer `{self.layer}` expects {self.wanted}"


def make_feeds(
    dataset: Dataset,
    types: Mapping[str, Type],
    *,
    fields: Mapping[str, str] | None = None,
    transforms: Sequence[LayerTransform | tuple[str, DataTransform]] = (),
    dtype: DTypeLike = np.float32,
    ignored: Mapping[str, IgnoredLabels] | None = None,
    skip: bool = False,
) -> tuple[DataFeed, ...]:
    """A feed for each data layer in `types`, from the field that `fields` names or the field with the layer's name.

    `transforms` are pairs of a data layer and a transform, or `LayerTransform`s, in order; `ignored` are ids that are
    legal besides those of the layer's range. With `skip` rows with missing values are bad records, which batches skip.
    Raises `DataError` for a missing field, for shapes, kinds and values that do not fit, and for a transform of a layer
    that is not fed floats, or that does not fit its images.
    """
    changes = [check_transform(LayerTransform(*one), types, ignored or {}) for one in transforms]
    named = {layer: (fields or {}).get(layer, layer) for layer in types}
    for layer, name in named.items():
        if name not in dataset.fields:
            raise DataError(_missing(dataset, layer, name, types))
    streams = streams_of(changes, list(types))
    feeds: dict[str, DataFeed] = {}
    errors: list[DataError] = []
    for layer, wanted in types.items():
        name = named[layer]
        chain = [
            (change.transform, stream)
            for change, stream in zip(changes, streams, strict=True)
            if layer == change.layer or (layer in change.also and not wanted.level)
        ]
        steps = (tuple(one for one, _ in chain), dtype, (ignored or {}).get(layer, NONE_IGNORED))
        own = tuple(at for _, at in chain)
        try:
            feeds[layer] = DataFeed(dataset, layer, name, dataset.fields[name], wanted, *steps, own, skip=skip)
        except DataError as error:
            errors.append(error)
    if errors:
        raise errors[0] if len(errors) == 1 else DataErrors(errors)
    _bind_boxes(feeds, changes, streams)
    return tuple(feeds.values())


def _bind_boxes(feeds: Mapping[str, DataFeed], changes: Sequence[LayerTransform], streams: Sequence[int]) -> None:
    """Give boxes, and what belongs to each, the steps of their images. Raises `DataError` where sizes differ."""
    shapes = {layer: feed.shape for layer, feed in feeds.items()}
    steps: dict[str, list[BoxTransform]] = {}
    belong: dict[str, str] = {}
    for change, stream in zip(changes, streams, strict=True):
        image = shapes[change.layer]
        for name in (change.layer, *change.also):
            feed = feeds[name]
            if not feed.wanted.level and shapes[name][-2:] != image[-2:]:
                raise DataError(
                    f"{feed.dataset.origin}: field `{feed.name}` has samples of shape "
                    f"{shape_text(shapes[name])}, but its images `{feeds[change.layer].name}` have shape "
                    f"{shape_text(image)}"
                )
            if are_boxes(feed.wanted) and name != change.layer:
                steps.setdefault(name, []).append(BoxTransform(change.transform, stream, image))
                belong |= {one: name for one in change.also if feeds[one].wanted.level}
            elif not feed.wanted.level:
                shapes[name] = change.transform.output_shape(shapes[name])
    for name, boxes in belong.items():
        feed = feeds[boxes]
        if feed.transforms:
            raise DataError(
                f"the boxes `{boxes}` are transformed with their images, in relative coordinates, and cannot "
                "have another transform; store relative coordinates (0 to 1), and remove that transform"
            )
        alike = (one for one in feeds.values() if one.layer not in belong and _same_starts(one.column, feed.column))
        if (left := next(alike, None)) is not None:
            raise DataError(
                f"{feed.dataset.origin}: field `{left.name}` has as many rows per image as the boxes "
                f'`{boxes}`; rows of boxes that are cropped must be removed too: write also: "{left.layer}" '
                f'in addition to also: "{boxes}"'
            )
        feeds[name].boxes = Boxes(feed.dataset, boxes, feed.name, feed.column, tuple(steps[boxes]))


def _same_starts(column: Column, other: Column) -> bool:
    if isinstance(column, SequenceColumn) and isinstance(other, SequenceColumn):
        return np.array_equal(column.starts, other.starts)
    return False


def _missing(dataset: Dataset, layer: str, name: str, types: Mapping[str, Type]) -> str:
    """The message for a missing field: a similar name, or a field that the source does not name."""
    available = quoted([*dataset.fields, *dataset.unread])
    message = f"{dataset.origin} has no field `{name}` for the data layer `{layer}`; available: {available}"
    free = [field for field in dataset.fields if field not in types]
    kinds = {field: getattr(dataset.fields[field], "dtype", np.dtype(float)).kind for field in free}
    fitting = [field for field in free if (kinds[field] in "iub") == (types[layer].kind == "INT")]
    near = difflib.get_close_matches(name, [*free, *dataset.unread], 1) or fitting
    if near:
        return f'{message}; write feed {{ input: "{layer}" field: "{near[0]}" }} in the training file'
    remedy = dataset.remedies.get("label" if types[layer].kind == "INT" and name not in dataset.remedies else name)
    return f"{message}; {remedy}" if remedy else message
