"""Images turned round."""

from paddle_layers.define import Example, Input, Output, each, gradient, layer, onnx


@layer("rotate", elsewhere={"Paddle": "rotate", "PyTorch": "rot90"}, since=1)
class Rotate:
    """Turns every channel of an image by 90 degrees to the right: `y[w, h] = x[H - 1 - h, w]`.

    Of `H` rows and `W` columns become `W` rows and `H` columns. Paddle wants `height` and `width`, which follow from
    the input here. The transform `rotate` of a data source turns pictures by any angle, at random.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    y = Output("N C W H", "the images, turned")
    examples = (Example(x="2x3x4"), Example(x="sequence of 1x2x1"))


@each(Rotate.y)
def rotate_y(n, c, w, h, x, H):
    return x[n, c, H - 1 - h, w]


@gradient(Rotate.x)
def rotate_dx(n, c, h, w, dy, H):
    return dy[n, c, w, H - 1 - h]


@onnx(Rotate)
def rotate_onnx(graph, x, H):
    turned = graph.Slice(x, [-1], [-H - 1], [2], [-1])
    return graph.Transpose(turned, perm=[0, 1, 3, 2])
