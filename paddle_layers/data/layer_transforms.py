"""Bound transforms: transforms of data layers, applied consistently to images and their boxes and label maps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from paddle_layers.config.wiring.data_layers import NONE_IGNORED, IgnoredLabels
from paddle_layers.define import Type

from .columns import Rows
from .problems import DataError
from .random import RowRandom

Array = NDArray[Any]


class Transform(Protocol):
    """Interface of a transform; see `transforms.py`."""

    def output_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Axes of a changed row."""
        ...

    def apply(self, batch: Array, rng: RowRandom | None) -> Array:
        """The changed batch."""
        ...


STREAMS_OF_A_FEED = 64
"""Random streams of the transforms of data layers: one stream each; stream 0 is used for shuffling."""


class MovesPixels(Transform, Protocol):
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
    transform: Transform
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
