"""Functions of one value that are made of pieces: straight lines with corners, and what is cut off at limits."""

from paddle_layers.define import Example, Float, Input, Output, each, gradient, infer, layer, require


@layer(
    "relu6",
    elsewhere={"Paddle": "brelu", "ONNX": "Clip", "Keras": "relu6", "PyTorch": "ReLU6"},
    since=1,
)
class Relu6:
    """Rectifier that goes no higher than `max`, as in MobileNet: 0 below 0, `max` above it, `x` in between.

    `y = min(max(x, 0), 6)`; the derivative is 0 at both corners, as in PyTorch. Krizhevsky, "Convolutional deep belief
    networks on CIFAR-10" (2010). Paddle's `brelu` is this with `max: 24`, ONNX's Clip with `min` 0 and `max` 6. For
    limits of your own, and gradients at them, see `clip`.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2), kinks=(0.0, 6.0))
    y = Output("...", "same shape as `x`, between 0 and `max`")
    max = Float("largest output", default=6.0, above=0)
    examples = (
        Example(x="5"),
        Example(x="2x3x3", max=1.0),
        Example(x="sequence of 3", max=24.0),
    )


@each(Relu6.y)
def relu6_y(i, x, max):
    if x[i] <= 0.0:
        return 0.0
    return max if x[i] >= max else x[i]


@gradient(Relu6.x)
def relu6_dx(i, dy, y, max):
    return dy[i] if 0.0 < y[i] < max else 0.0


@layer(
    "clip",
    elsewhere={"Paddle": "clip", "Caffe": "Clip", "ONNX": "Clip", "Keras": "clip", "PyTorch": "clamp, Hardtanh"},
    since=1,
)
class Clip:
    """Keeps every value within limits: below `min` it becomes `min`, above `max` it becomes `max`.

    `y = min(max(x, min), max)`, without one of the limits if that is not set. Values at a limit pass the gradient on,
    those beyond it do not, as in Caffe and Paddle, which want both limits; PyTorch's Hardtanh has -1 and 1 unless told
    otherwise, and stops the gradient at the limits too. To limit gradients instead, see `gradient_clip`.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2), kinks=(-1.0, 1.0))
    y = Output("...", "same shape as `x`")
    min = Float("smallest output; without it there is no lower limit", optional=True)
    max = Float("largest output; without it there is no upper limit", optional=True)
    examples = (
        Example(x="5", min=-1.0, max=1.0),
        Example(x="2x3x3", min=0.25),
        Example(x="sequence of 3", max=-0.5),
    )


@infer(Clip)
def clip_check(min, max):
    require(min is not None or max is not None, "min", "set `min`, `max` or both; without a limit nothing is clipped")
    if min is not None and max is not None:
        require(min <= max, "min", f"`min` is {min}, which is above `max`, {max}")
    return {}


@each(Clip.y)
def clip_y(i, x, min, max):
    if min is not None and x[i] < min:
        return min
    if max is not None and x[i] > max:
        return max
    return x[i]


@gradient(Clip.x)
def clip_dx(i, dy, x, min, max):
    if min is not None and x[i] < min:
        return 0.0
    if max is not None and x[i] > max:
        return 0.0
    return dy[i]
