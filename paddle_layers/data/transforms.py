"""Transforms of the data (preprocessing and augmentation).

`output_shape(shape)` returns the shape of a sample after the transform and raises `ValueError` for an unsuitable one.
`apply(batch, rng)` transforms a batch of floats of shape (samples, *shape); `rng` is a `RowRandom` in training and None
in the test phase, in which nothing is random. `prepare(base)` is called once, if it exists, with the folder that
relative paths start from.

A transform that moves pixels also transforms the values that belong to an image, with the same random numbers:
`apply_labels(batch, rng)` the ids of its pixels, of shape (samples, height, width), and
`apply_boxes(boxes, rows, shape, rng)` corners x1, y1, x2, y2 relative to the image size: `rows` is the index of the
image of each box, `shape` that of the image before the transform. Boxes outside of the image are not removed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import Choice, Float, Floats, Int, String, transform
from paddle_layers.define.fields.types import shape_text

from .columns import Rows
from .formats.npy import read_npy
from .problems import DataError
from .sampling import RowRandom

Array = NDArray[Any]
Shape = tuple[int, ...]


@transform(
    "scale",
    elsewhere={"Caffe": "transform_param.scale", "Mocha": "DataTransformers.Scale"},
    terms=("scaling", "rescale", "Rescaling"),
)
class ScaleTransform:
    """Scaling: multiplies every value by `factor`, such as 1/255 for pixels."""

    factor = Float("scale factor")

    def output_shape(self, shape: Shape) -> Shape:
        """The same."""
        return shape

    def apply(self, batch: Array, rng: RowRandom | None) -> Array:
        """The batch times `factor`."""
        scaled: Array = batch * batch.dtype.type(self.factor)
        return scaled


@transform(
    "mean",
    elsewhere={"Caffe": "transform_param.mean_value", "Mocha": "DataTransformers.SubMean"},
    terms=("mean subtraction", "normalize"),
)
class Mean:
    """Mean subtraction: `value` (one for all, or one per channel) or the array in `file`."""

    value = Floats("mean of all values, or one per channel", default=())
    file = String("npy file with a mean image, relative to the training file", default="")

    def prepare(self, base: Path) -> None:
        """Read the file; `DataError` unless exactly one of `value` and `file` is given."""
        if bool(self.value) == bool(self.file):
            raise DataError("transform `mean` requires exactly one of `value` and `file`")
        self._array = np.asarray(read_npy(base / self.file) if self.file else self.value, np.float64)

    def output_shape(self, shape: Shape) -> Shape:
        """The same; `ValueError` when the mean does not fit."""
        needed = self._array.shape
        if self.file and needed != shape:
            raise ValueError(f"`{self.file}` has shape {shape_text(needed)}, but the samples have {shape_text(shape)}")
        if not self.file and needed[0] not in (1, *shape[:1]):
            raise ValueError(f"`value` has {needed[0]} values, but the samples have shape {shape_text(shape)}")
        return shape

    def apply(self, batch: Array, rng: RowRandom | None) -> Array:
        """The batch less the mean."""
        mean = self._array.astype(batch.dtype)
        if self.value and batch.ndim > 1:
            mean = mean.reshape(-1, *(1,) * (batch.ndim - 2))
        less: Array = batch - mean
        return less


@transform(
    "mirror",
    elsewhere={"Caffe": "transform_param.mirror", "Keras": "RandomFlip", "PyTorch": "RandomHorizontalFlip"},
    terms=("random flip", "horizontal flip"),
)
class Mirror:
    """Random flip: flips images in training with the given probability; no change in the test phase.

    Label maps and boxes listed in `also` are flipped with them.
    """

    axis = Choice(
        "direction",
        options={"horizontal": "left-right flip", "vertical": "top-bottom flip"},
        default="horizontal",
    )
    probability = Float("probability of a flip", default=0.5, min=0, max=1)

    def output_shape(self, shape: Shape) -> Shape:
        """The same; `ValueError` unless the rows are images."""
        _image(shape)
        return shape

    def apply(self, batch: Array, rng: RowRandom | None) -> Array:
        """The batch with some of its images flipped."""
        if rng is None:
            return batch
        chosen = rng.random() < self.probability
        turned = batch.copy()
        turned[chosen] = np.flip(batch[chosen], -1 if self.axis == "horizontal" else -2)
        return turned

    def apply_labels(self, batch: Array, rng: RowRandom | None) -> Array:
        """As images."""
        return self.apply(batch, rng)

    def apply_boxes(self, boxes: Array, rows: Rows, shape: Shape, rng: RowRandom | None) -> Array:
        """The flipped boxes of flipped images."""
        if rng is None:
            return boxes
        chosen = (rng.random() < self.probability)[rows]
        low, high = (0, 2) if self.axis == "horizontal" else (1, 3)
        turned = boxes.copy()
        turned[chosen, low], turned[chosen, high] = 1 - boxes[chosen, high], 1 - boxes[chosen, low]
        return turned


@transform(
    "crop",
    elsewhere={"Caffe": "transform_param.crop_size", "Keras": "RandomCrop", "PyTorch": "RandomCrop"},
    terms=("random crop", "center crop"),
)
class CropTransform:
    """Random crop in training, center crop in the test phase.

    With `padding` zeros are added around the image first, so that a crop of the original size is shifted by a few
    pixels. Mocha's CropLayer samples one position for a whole batch, in the test phase too. Label maps listed in `also`
    are cropped at the same position, and boxes shifted.
    """

    size = Int("crop height", min=1)
    width = Int("crop width", min=1, default_from="size")
    padding = Int("zero padding on every side before the crop", default=0, min=0)
    label_fill = Int("id of the padding in label maps, such as the `ignore_label` of the loss", default=0)

    def output_shape(self, shape: Shape) -> Shape:
        """The window with all channels; `ValueError` when it is larger than the image."""
        height, width = _image(shape)
        if self.size > height + 2 * self.padding or self.width > width + 2 * self.padding:
            padded = f" with a padding of {self.padding}" if self.padding else ""
            raise ValueError(f"a crop of {self.size}x{self.width} exceeds {height}x{width}{padded}")
        return (*shape[:-2], self.size, self.width)

    def apply(self, batch: Array, rng: RowRandom | None) -> Array:
        """The windows."""
        return self._windows(batch, 0, rng)

    def apply_labels(self, batch: Array, rng: RowRandom | None) -> Array:
        """The same windows of maps."""
        return self._windows(batch, self.label_fill, rng)

    def apply_boxes(self, boxes: Array, rows: Rows, shape: Shape, rng: RowRandom | None) -> Array:
        """The boxes as shares of the window, also those outside."""
        height, width = shape[-2:]
        tops, lefts = self._places(height, width, rng)
        if rng is not None:
            tops, lefts = tops[rows], lefts[rows]
        moved = boxes * [width, height, width, height] + self.padding
        moved[:, 0::2] -= np.reshape(lefts, (-1, 1))
        moved[:, 1::2] -= np.reshape(tops, (-1, 1))
        return np.asarray(moved / [self.width, self.size, self.width, self.size])

    def _places(self, height: int, width: int, rng: RowRandom | None) -> tuple[Any, Any]:
        """Top and left of the windows in padded images: of each, or in the test of all."""
        free = (height + 2 * self.padding - self.size, width + 2 * self.padding - self.width)
        if rng is None:
            return free[0] // 2, free[1] // 2
        tops, lefts = (np.floor(rng.random() * (pixels + 1)).astype(np.int64) for pixels in free)
        return tops, lefts

    def _windows(self, batch: Array, fill: int, rng: RowRandom | None) -> Array:
        tops, lefts = self._places(batch.shape[-2], batch.shape[-1], rng)
        if self.padding:
            around = [(0, 0)] * (batch.ndim - 2) + [(self.padding, self.padding)] * 2
            batch = np.pad(batch, around, constant_values=fill)
        if rng is None:
            return batch[..., tops : tops + self.size, lefts : lefts + self.width]
        windows = np.lib.stride_tricks.sliding_window_view(batch, (self.size, self.width), axis=(-2, -1))
        if batch.ndim == 3:
            return np.ascontiguousarray(windows[np.arange(len(batch)), tops, lefts])
        return np.ascontiguousarray(windows[np.arange(len(batch)), :, tops, lefts])


@transform("rotate", elsewhere={"Keras": "RandomRotation", "PyTorch": "RandomRotation"}, terms=("random rotation",))
class RotateTransform:
    """Random rotation: rotates images by a random angle around their center in training; no change in the test phase.

    Values between pixels are interpolated; pixels from outside of the image are `fill`. For label maps listed in `also`
    the nearest id is used; a box becomes the bounding box of the rotated box.
    """

    degrees = Float("maximum angle; uniform between -degrees and degrees", above=0, max=180)
    fill = Float("fill value outside of the image", default=0)
    label_fill = Int("fill id outside of label maps, such as the `ignore_label` of the loss", default=0)

    def output_shape(self, shape: Shape) -> Shape:
        """The same; `ValueError` unless the rows are images."""
        _image(shape)
        return shape

    def apply(self, batch: Array, rng: RowRandom | None) -> Array:
        """The rotated images."""
        return self._turned(batch, 1, self.fill, rng)

    def apply_labels(self, batch: Array, rng: RowRandom | None) -> Array:
        """The rotated maps."""
        return self._turned(batch, 0, self.label_fill, rng)

    def apply_boxes(self, boxes: Array, rows: Rows, shape: Shape, rng: RowRandom | None) -> Array:
        """Bounding boxes of the rotated boxes."""
        if rng is None:
            return boxes
        angles = np.deg2rad(self._angles(rng))[rows, None]
        size = np.array([shape[-1], shape[-2]])
        x, y = ((boxes[:, [0, 1, 0, 3, 2, 1, 2, 3]].reshape(-1, 4, 2) - 0.5) * size).transpose(2, 0, 1)
        turned = np.stack([np.cos(angles) * x + np.sin(angles) * y, np.cos(angles) * y - np.sin(angles) * x], 2)
        shares = turned / size + 0.5
        return np.concatenate([shares.min(axis=1), shares.max(axis=1)], axis=1)

    def _angles(self, rng: RowRandom) -> Array:
        return (2 * rng.random() - 1) * self.degrees

    def _turned(self, batch: Array, order: Literal[0, 1], fill: float, rng: RowRandom | None) -> Array:
        if rng is None:
            return batch
        from scipy.ndimage import rotate

        turned = np.empty_like(batch)
        for image, angle, into in zip(batch, self._angles(rng), turned, strict=True):
            rotate(image, angle, axes=(-1, -2), reshape=False, output=into, order=order, mode="constant", cval=fill)
        return turned


@transform(
    "color",
    elsewhere={"PyTorch": "ColorJitter"},
    terms=("color jitter", "brightness", "contrast"),
)
class Color:
    """Color jitter: random changes of brightness, contrast and saturation in training; no change in the test phase.

    Each is multiplied by a random factor between 1 minus and 1 plus the given value, in this order: brightness scales
    every value, contrast the differences from the image's mean, saturation those from the gray value of the pixel
    (0.299 red + 0.587 green + 0.114 blue). Values may leave their original range.
    """

    brightness = Float("maximum relative change of the brightness", default=0, min=0, max=1)
    contrast = Float("maximum relative change of the contrast", default=0, min=0, max=1)
    saturation = Float(
        "maximum relative change of the saturation, for images with three channels", default=0, min=0, max=1
    )

    def output_shape(self, shape: Shape) -> Shape:
        """The same; `ValueError` unless the rows are images, of three channels where the saturation changes."""
        _image(shape)
        if self.saturation and (len(shape) != 3 or shape[0] != 3):
            raise ValueError(f"`saturation` requires images of 3 channels, got shape {shape_text(shape)}")
        return shape

    def apply(self, batch: Array, rng: RowRandom | None) -> Array:
        """The changed images."""
        if rng is None:
            return batch
        for change, middle in ((self.brightness, None), (self.contrast, _mean), (self.saturation, _grey)):
            factor = (1 + (2 * rng.random() - 1) * change).astype(batch.dtype).reshape(-1, *(1,) * (batch.ndim - 1))
            if change:
                centre = middle(batch) if middle is not None else batch.dtype.type(0)
                batch = centre + (batch - centre) * factor
        return batch


def _mean(batch: Array) -> Array:
    return np.asarray(batch.mean(axis=tuple(range(1, batch.ndim)), keepdims=True))


def _grey(batch: Array) -> Array:
    shares = np.array([0.299, 0.587, 0.114], batch.dtype).reshape(3, 1, 1)
    return np.asarray((batch * shares).sum(axis=1, keepdims=True))


def _image(shape: Shape) -> tuple[int, int]:
    if len(shape) not in (2, 3):
        raise ValueError(
            f"images must have 2 axes (height, width) or 3 (channels first), got shape {shape_text(shape)}"
        )
    return shape[-2], shape[-1]
