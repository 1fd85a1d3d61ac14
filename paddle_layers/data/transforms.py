"""Changes of the data on their way to the network.

`output_shape(shape)` says what becomes of the axes without the rows and raises `ValueError` when they do not fit.
`apply(batch, rng)` changes a batch of real numbers of shape (rows, *shape); `rng` is a `RowRandom` in training and
None in the test, where nothing is random.
`prepare(base)` is called once, if there is one, with the folder that relative paths start at.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import Choice, Float, Floats, Int, String, transform

from .files import read_npy
from .problems import DataError
from .random import RowRandom

Array = NDArray[Any]
Shape = tuple[int, ...]


@transform("scale", elsewhere={"Caffe": "transform_param.scale", "Mocha": "DataTransformers.Scale"})
class Scale:
    """Multiplies every value by `factor`."""

    factor = Float("factor")

    def output_shape(self, shape: Shape) -> Shape:
        """The same."""
        return shape

    def apply(self, batch: Array, rng: RowRandom | None) -> Array:
        """The batch times `factor`."""
        scaled: Array = batch * batch.dtype.type(self.factor)
        return scaled


@transform("mean", elsewhere={"Caffe": "transform_param.mean_value", "Mocha": "DataTransformers.SubMean"})
class Mean:
    """Subtracts a mean: `value` (one for all, or one for each channel) or the array in `file`."""

    value = Floats("mean of all values, or of each entry of the first axis", default=())
    file = String("npy file of an array that is subtracted from every row, relative to the training file", default="")

    def prepare(self, base: Path) -> None:
        """Read the file; `DataError` unless exactly one of `value` and `file` is given."""
        if bool(self.value) == bool(self.file):
            raise DataError("transform `mean` needs either `value` or `file`")
        self._array = np.asarray(read_npy(base / self.file) if self.file else self.value, np.float64)

    def output_shape(self, shape: Shape) -> Shape:
        """The same; `ValueError` when the mean does not fit."""
        needed = self._array.shape
        if self.file and needed != shape:
            raise ValueError(f"`{self.file}` holds an array of shape {_times(needed)}, the rows are {_times(shape)}")
        if not self.file and needed[0] not in (1, *shape[:1]):
            raise ValueError(f"`value` has {needed[0]} numbers, the rows are {_times(shape)}")
        return shape

    def apply(self, batch: Array, rng: RowRandom | None) -> Array:
        """The batch less the mean."""
        mean = self._array.astype(batch.dtype)
        if self.value and batch.ndim > 1:
            mean = mean.reshape(-1, *(1,) * (batch.ndim - 2))
        less: Array = batch - mean
        return less


@transform(
    "mirror", elsewhere={"Caffe": "transform_param.mirror", "Keras": "RandomFlip", "PyTorch": "RandomHorizontalFlip"}
)
class Mirror:
    """Turns images over in training, each with the given probability; leaves them alone in the test."""

    axis = Choice(
        "direction",
        options={"horizontal": "left becomes right", "vertical": "top becomes bottom"},
        default="horizontal",
    )
    probability = Float("share of the images that are turned over", default=0.5, min=0, max=1)

    def output_shape(self, shape: Shape) -> Shape:
        """The same; `ValueError` unless the rows are images."""
        _image(shape)
        return shape

    def apply(self, batch: Array, rng: RowRandom | None) -> Array:
        """The batch with some of its images turned over."""
        if rng is None:
            return batch
        chosen = rng.random() < self.probability
        turned = batch.copy()
        turned[chosen] = np.flip(batch[chosen], -1 if self.axis == "horizontal" else -2)
        return turned


@transform("crop", elsewhere={"Caffe": "transform_param.crop_size", "Keras": "RandomCrop", "PyTorch": "RandomCrop"})
class Crop:
    """Cuts a window out of each image: at a random place in training, from the centre in the test.

    With `padding` zeros are added around the image first, so that a window of the old size moves by a few pixels.
    Mocha's CropLayer draws one place for a whole batch, in the test too.
    """

    size = Int("height of the window", min=1)
    width = Int("width of the window", min=1, default_from="size")
    padding = Int("zeros added on every side before", default=0, min=0)

    def output_shape(self, shape: Shape) -> Shape:
        """The window with all channels; `ValueError` when it is larger than the image."""
        height, width = _image(shape)
        if self.size > height + 2 * self.padding or self.width > width + 2 * self.padding:
            padded = f" with {self.padding} zeros on every side" if self.padding else ""
            raise ValueError(f"a window of {self.size}x{self.width} does not fit into {height}x{width}{padded}")
        return (*shape[:-2], self.size, self.width)

    def apply(self, batch: Array, rng: RowRandom | None) -> Array:
        """The windows."""
        if self.padding:
            batch = np.pad(batch, [(0, 0)] * (batch.ndim - 2) + [(self.padding, self.padding)] * 2)
        free = np.array([batch.shape[-2] - self.size, batch.shape[-1] - self.width])
        if rng is None:
            top, left = free // 2
            return batch[..., top : top + self.size, left : left + self.width]
        tops, lefts = (np.floor(rng.random() * (room + 1)).astype(np.int64) for room in free)
        windows = np.lib.stride_tricks.sliding_window_view(batch, (self.size, self.width), axis=(-2, -1))
        if batch.ndim == 3:
            return np.ascontiguousarray(windows[np.arange(len(batch)), tops, lefts])
        return np.ascontiguousarray(windows[np.arange(len(batch)), :, tops, lefts])


@transform("rotate", elsewhere={"Keras": "RandomRotation", "PyTorch": "RandomRotation"})
class Rotate:
    """Turns images by a random angle in training, about their centre; leaves them alone in the test.

    Values between pixels are interpolated; what comes from outside of the image is `fill`.
    """

    degrees = Float("largest angle; each image gets one between this and its opposite", above=0, max=180)
    fill = Float("value around the image", default=0)

    def output_shape(self, shape: Shape) -> Shape:
        """The same; `ValueError` unless the rows are images."""
        _image(shape)
        return shape

    def apply(self, batch: Array, rng: RowRandom | None) -> Array:
        """The turned images."""
        if rng is None:
            return batch
        from scipy.ndimage import rotate

        angles = (2 * rng.random() - 1) * self.degrees
        turned = np.empty_like(batch)
        for image, angle, into in zip(batch, angles, turned, strict=True):
            rotate(image, angle, axes=(-1, -2), reshape=False, output=into, order=1, mode="constant", cval=self.fill)
        return turned


@transform("color", elsewhere={"PyTorch": "ColorJitter"})
class Color:
    """Changes brightness, contrast and saturation of images at random in training; leaves them alone in the test.

    Each is multiplied by a factor between 1 less and 1 more than is given, in this order: brightness multiplies every
    value, contrast the differences from the image's mean, saturation those from the grey value of the pixel
    (0.299 red + 0.587 green + 0.114 blue). Values may leave the range that they had.
    """

    brightness = Float("largest change of the brightness", default=0, min=0, max=1)
    contrast = Float("largest change of the contrast", default=0, min=0, max=1)
    saturation = Float("largest change of the saturation; images then have three channels", default=0, min=0, max=1)

    def output_shape(self, shape: Shape) -> Shape:
        """The same; `ValueError` unless the rows are images, of three channels where the saturation changes."""
        _image(shape)
        if self.saturation and (len(shape) != 3 or shape[0] != 3):
            raise ValueError(f"`saturation` is for images of 3 channels, the rows are {_times(shape)}")
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
        raise ValueError(f"the rows are {_times(shape)}, images have height and width, and channels before them")
    return shape[-2], shape[-1]


def _times(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "single numbers"
