"""Weight initialization. `draw` returns float64, independent of the precision of the tensor.

If `is_elementwise` is true, sampling consecutive parts of a tensor gives the same values as sampling all of it at once,
so that a net needs no memory for a second copy of a large table.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import Choice, Float, Int, initializer

Values = NDArray[np.float64]
Shape = tuple[int, ...]


class Fans(NamedTuple):
    """Number of inputs summed by an output of a parameter (`fan_in`), and of outputs that read an input (`fan_out`)."""

    fan_in: int
    fan_out: int


class _ByFan:
    """Base of the initializers whose variance depends on the number of connections."""

    variance_norm = Choice(
        "fan used as n in the formula",
        options={
            "fan_in": "number of inputs per output",
            "fan_out": "number of outputs per input",
            "average": "mean of both",
        },
        default="fan_in",
    )

    def count(self, fans: Fans) -> float:
        """The count that `variance_norm` names."""
        return {"fan_in": fans.fan_in, "fan_out": fans.fan_out}.get(self.variance_norm, sum(fans) / 2)


@initializer(
    "constant", elsewhere={"Caffe": "constant", "Mocha": "ConstantInitializer"}, terms=("constant initialization",)
)
class Constant:
    """Constant initialization: all elements have the same value."""

    is_elementwise = True

    value = Float("value of all elements", default=0.0)

    def draw(self, shape: Shape, rng: np.random.Generator, fans: Fans) -> Values:
        """An array filled with `value`."""
        return np.full(shape, self.value)


@initializer("zero", terms=("zero initialization",))
class Zero:
    """Zero initialization."""

    is_elementwise = True

    def draw(self, shape: Shape, rng: np.random.Generator, fans: Fans) -> Values:
        """Zeros."""
        return np.zeros(shape)


@initializer("one", terms=("ones",))
class One:
    """Initialization with ones."""

    is_elementwise = True

    def draw(self, shape: Shape, rng: np.random.Generator, fans: Fans) -> Values:
        """Ones."""
        return np.ones(shape)


@initializer(
    "uniform",
    elsewhere={"Caffe": "uniform", "Paddle": "initial_strategy 1"},
    terms=("uniform initialization", "RandomUniform"),
)
class Uniform:
    """Uniform initialization between `min` and `max`. Caffe's defaults are 0 and 1, Paddle's -0.01 and 0.01."""

    is_elementwise = True

    min = Float("smallest value", default=-0.05)
    max = Float("largest value", default=0.05)

    def draw(self, shape: Shape, rng: np.random.Generator, fans: Fans) -> Values:
        """Values between `min` and `max`; `ValueError` when these are swapped."""
        if self.min > self.max:
            raise ValueError(f"initializer `uniform`: `min` is {self.min}, which is above `max`, {self.max}")
        return rng.uniform(self.min, self.max, shape)


@initializer(
    "gaussian",
    elsewhere={"Caffe": "gaussian", "Mocha": "GaussianInitializer", "Paddle": "initial_strategy 0"},
    terms=("normal initialization", "Gaussian initialization", "RandomNormal"),
)
class Gaussian:
    """Normal (Gaussian) initialization. The default `std` is Paddle's and KUnet's; Caffe's and Mocha's is 1."""

    mean = Float("mean", default=0.0)
    std = Float("standard deviation", default=0.01, min=0)
    sparse = Int("expected number of nonzero inputs per output; if absent, all", optional=True, min=0)

    @property
    def is_elementwise(self) -> bool:
        """Not with `sparse`, whose zeros are sampled after all values."""
        return self.sparse is None

    def draw(self, shape: Shape, rng: np.random.Generator, fans: Fans) -> Values:
        """Normal values, most of them set to zero when `sparse` is given."""
        values = rng.normal(self.mean, self.std, shape)
        if self.sparse is not None:
            # Each weight is kept with the same probability, so that the number per output varies.
            values *= rng.random(shape) < self.sparse / max(fans.fan_in, 1)
        return values


@initializer(
    "xavier",
    elsewhere={"Caffe": "xavier", "Mocha": "XavierInitializer", "KUnet": "xavier"},
    terms=("Xavier initialization", "Glorot uniform", "GlorotUniform", "xavier_uniform_"),
)
class Xavier(_ByFan):
    """Xavier (Glorot) uniform initialization: between -sqrt(3 / n) and sqrt(3 / n).

    Glorot and Bengio 2010; the bounds are those of Caffe.
    """

    is_elementwise = True

    def draw(self, shape: Shape, rng: np.random.Generator, fans: Fans) -> Values:
        """Values of variance 1 / n."""
        # A uniform distribution between -limit and limit has the variance limit**2 / 3.
        limit = math.sqrt(3.0 / max(self.count(fans), 1))
        return rng.uniform(-limit, limit, shape)


@initializer(
    "msra",
    elsewhere={"Caffe": "msra", "Keras": "HeNormal", "PyTorch": "kaiming_normal_"},
    terms=("He initialization", "Kaiming initialization"),
)
class Msra(_ByFan):
    """He (Kaiming, MSRA) normal initialization: standard deviation sqrt(2 / n), for ReLU (He et al. 2015)."""

    is_elementwise = True

    def draw(self, shape: Shape, rng: np.random.Generator, fans: Fans) -> Values:
        """Values of variance 2 / n."""
        # ReLU sets half of the values to zero and with them half of the variance, hence 2 / n.
        return rng.normal(0.0, math.sqrt(2.0 / max(self.count(fans), 1)), shape)


@initializer(
    "paddle",
    elsewhere={"Paddle": "initial_smart"},
    terms=("LeCun normal", "LecunNormal"),
)
class PaddleDefault:
    """Paddle's default initialization: normal with standard deviation 1 / sqrt(fan_in) (LeCun normal)."""

    is_elementwise = True

    def draw(self, shape: Shape, rng: np.random.Generator, fans: Fans) -> Values:
        """Values of variance 1 / fan_in."""
        return rng.normal(0.0, 1.0 / math.sqrt(max(fans.fan_in, 1)), shape)


@initializer("orthogonal", elsewhere={"Mocha": "OrthogonalInitializer"}, terms=("orthogonal initialization",))
class Orthogonal:
    """Orthogonal initialization (Saxe et al. 2014): orthonormal rows or columns, times `gain`.

    The matrix has the first axis as rows, and all others as columns.
    """

    gain = Float("norm of each row or column", default=1.0)

    def draw(self, shape: Shape, rng: np.random.Generator, fans: Fans) -> Values:
        """An orthogonal factor of a normal matrix; `ValueError` for fewer than two axes."""
        if len(shape) < 2:
            raise ValueError(f"initializer `orthogonal` needs at least two axes, the parameter has shape {shape}")
        # The factor of a tall matrix has orthonormal columns; a wide result is its transpose.
        rows, columns = shape[0], math.prod(shape[1:])
        factor, triangle = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
        factor *= np.sign(np.diag(triangle))  # without this the result is not evenly spread over all rotations
        return self.gain * (factor if rows >= columns else factor.T).reshape(shape)


@initializer("identity", terms=("identity matrix initialization",))
class Identity:
    """Identity matrix initialization: ones on the diagonal of the matrix first axis by all others, zeros off it."""

    def draw(self, shape: Shape, rng: np.random.Generator, fans: Fans) -> Values:
        """The matrix that changes nothing, cut off where the shape is not square."""
        return np.eye(shape[0], math.prod(shape[1:])).reshape(shape)


@initializer(
    "positive_unitball", elsewhere={"Caffe": "positive_unitball"}, terms=("positive unit-ball initialization",)
)
class PositiveUnitball:
    """Positive unit-ball initialization: uniform between 0 and 1, with sum 1 for each index of the first axis."""

    def draw(self, shape: Shape, rng: np.random.Generator, fans: Fans) -> Values:
        """Positive values that sum to one over all axes but the first."""
        values = rng.uniform(0.0, 1.0, shape)
        values /= values.sum(axis=tuple(range(1, len(shape))), keepdims=True)
        return values


@initializer("bilinear", elsewhere={"Caffe": "bilinear"}, terms=("bilinear upsampling kernels",))
class Bilinear:
    """Bilinear upsampling kernels, for transposed convolutions."""

    def draw(self, shape: Shape, rng: np.random.Generator, fans: Fans) -> Values:
        """The same square kernel for all channels; `ValueError` unless the last two of four axes are equal."""
        if len(shape) != 4 or shape[2] != shape[3]:
            raise ValueError(
                f"initializer `bilinear` needs square kernels on four axes, the parameter has shape {shape}"
            )
        size = shape[3]
        factor = math.ceil(size / 2)
        centre = (size - 1) / (2.0 * factor)
        line = 1.0 - np.abs(np.arange(size) / factor - centre)
        return np.broadcast_to(np.outer(line, line), shape).copy()
