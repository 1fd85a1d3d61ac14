"""Crops and rotation of images."""

from paddle_layers.define import (
    Bool,
    Example,
    Input,
    Int,
    Output,
    Temp,
    each,
    gradient,
    infer,
    layer,
    onnx,
    real,
    require,
)
from paddle_layers.layers.helpers import uniform


@layer(
    "random_crop",
    elsewhere={"Mocha": "CropLayer", "Keras": "RandomCrop"},
    terms=("random crop", "data augmentation"),
    since=1,
)
class RandomCrop:
    """Random crop: a random window of every image in training, the central window in the test phase.

    Each image has its own position, and with `mirror` half of the images are flipped horizontally, depending on the
    seed, the step and the position in the batch; Mocha samples once per batch. Images that are fed can be cropped and
    flipped before they enter the network, by the transforms `crop` and `mirror`, which need no GPU memory; this layer
    is for images computed by a network. For windows at a given position see `crop`.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N C P Q", "one crop per image")
    size = Int("crop width", min=1, axis="Q")
    size_y = Int("crop height", min=1, axis="P", default_from="size")
    mirror = Bool("flip half of the images horizontally in training", default=True)
    top = Temp("N", "first row of the window", kind="INT")
    left = Temp("N", "first column of the window", kind="INT")
    turned = Temp("N", "1 where the window is mirrored", kind="INT")
    examples = (
        Example(x="2x5x6", size=3),
        Example(x="1x4x4", size=2, size_y=4, mirror=False),
        Example(x="sequence of 1x3x2", size=2),
    )


@infer(RandomCrop)
def random_crop_check(H, W, size, size_y):
    require(size_y <= H, "size_y", f"a crop of {size_y} rows is larger than the image, which has {H}")
    require(size <= W, "size", f"a crop of {size} columns is larger than the image, which has {W}")
    return {}


@each(RandomCrop.top)
def random_crop_top(n, key, training, H, P):
    # Three independent random numbers per image: row, column, flip. A product may round up to the number of rows.
    return min(int(uniform(key, 3 * n) * real(H - P + 1)), H - P) if training else (H - P) // 2


@each(RandomCrop.left)
def random_crop_left(n, key, training, W, Q):
    return min(int(uniform(key, 3 * n + 1) * real(W - Q + 1)), W - Q) if training else (W - Q) // 2


@each(RandomCrop.turned)
def random_crop_turned(n, key, training, mirror):
    return 1 if training and mirror and uniform(key, 3 * n + 2) < 0.5 else 0


@each(RandomCrop.y)
def random_crop_y(n, c, p, q, x, top, left, turned, Q):
    return x[n, c, top[n] + p, left[n] + (Q - 1 - q if turned[n] == 1 else q)]


@gradient(RandomCrop.x)
def random_crop_dx(n, c, h, w, dy, top, left, turned, P, Q):
    # Each pixel looks up its place in the window: those outside of it have to become 0 as well.
    p, q = h - top[n], w - left[n]
    if p < 0 or p >= P or q < 0 or q >= Q:
        return 0.0
    return dy[n, c, p, Q - 1 - q if turned[n] == 1 else q]


@onnx(RandomCrop)
def random_crop_onnx(graph, x, H, W, P, Q):
    # ONNX models are of the test phase, where the window is central.
    top, left = (H - P) // 2, (W - Q) // 2
    return graph.Slice(x, [top, left], [top + P, left + Q], [2, 3])


@layer(
    "rotate",
    elsewhere={"Paddle": "rotate", "PyTorch": "rot90"},
    terms=("rotation", "rotation by 90 degrees"),
    since=1,
)
class Rotate:
    """Rotation of images by 90 degrees clockwise: `y[w, h] = x[H - 1 - h, w]`.

    `H` rows and `W` columns become `W` rows and `H` columns. Paddle requires `height` and `width`, which are derived
    from the input here. The transform `rotate` of a data source rotates images by a random angle.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N C W H", "the rotated images")
    examples = (Example(x="2x3x4"), Example(x="sequence of 1x2x1"))


@each(Rotate.y)
def rotate_y(n, c, w, h, x, H):
    return x[n, c, H - 1 - h, w]


@gradient(Rotate.x)
def rotate_dx(n, c, h, w, dy, H):
    return dy[n, c, w, H - 1 - h]


@onnx(Rotate)
def rotate_onnx(graph, x, H):
    # A negative step reverses the rows; -H - 1 is the end before the first one.
    turned = graph.Slice(x, [-1], [-H - 1], [2], [-1])
    return graph.Transpose(turned, perm=[0, 1, 3, 2])
