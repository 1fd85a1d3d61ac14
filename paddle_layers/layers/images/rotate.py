"""Image rotation."""

from paddle_layers.define import Example, Input, Output, each, gradient, layer, onnx


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
