"""Axes of a row in another order."""

from paddle_layers.define import (
    Example,
    Input,
    Ints,
    Numbers,
    Output,
    Type,
    each,
    gradient,
    infer,
    layer,
    onnx,
    output_types,
    require,
)
from paddle_layers.layers.places import place_of, strides, walk


@layer(
    "permute",
    elsewhere={
        "Paddle": "switch_order",
        "Caffe": "Permute",
        "ONNX": "Transpose",
        "Keras": "Permute",
        "PyTorch": "permute, transpose",
    },
    since=1,
)
class Permute:
    """Puts the axes of a row into another order: images with their channels last, the transpose of a matrix.

    Axis k of `y` is axis `order[k]` of `x`, `y[n, i, j, k] = x[n, k, i, j]` with `order: [2, 3, 1]`: 1 is the first
    axis behind the rows, which stay where they are. That makes channels last of an image, which Paddle's `switch_order`
    does; [3, 1, 2] is the way back. Caffe's and ONNX's orders begin with 0, the rows; Caffe's may leave out the last
    axes, if they stay; Keras counts as this library.
    """

    x = Input("N ...", "rows of any shape", seq=(0, 1, 2))
    y = Output("N ...", "the same values with the axes in another order")
    order = Ints("axes of `x` in the order in which `y` has them, from 1 on", min=1, min_items=1)
    sizes = Numbers("sizes of the axes of `y`; neighbours that stay so are one")
    steps = Numbers("how far it is in `x` from one element of each to the next")
    back_sizes = Numbers("sizes of the axes of `x`, likewise")
    back_steps = Numbers("how far it is in `y` from one element of each to the next")
    examples = (
        Example(x="3x2x4", order=[2, 3, 1]),
        Example(x="2x3", order=[2, 1]),
        Example(x="2x1x3x2", order=[3, 4, 1, 2]),
        Example(x="sequence of 3x2x2", order=[3, 2, 1]),
        Example(x="5", order=[1]),
    )


@infer(Permute)
def permute_numbers(x, order):
    count = len(x.dims)
    places = f"`order` is {', '.join(map(str, order))}, but a row has {count} axes: name each of 1 to {count} once"
    require(sorted(order) == list(range(1, count + 1)), "order", places)
    apart, sizes = strides(x.dims), [x.dims[axis - 1] for axis in order]
    back = dict(zip(order, strides(sizes), strict=True))
    there = walk(sizes, [apart[axis - 1] for axis in order])
    again = walk(x.dims, [back[place + 1] for place in range(count)])
    return {"sizes": there[0], "steps": there[1], "back_sizes": again[0], "back_steps": again[1]}


@output_types(Permute)
def permute_types(x, order):
    return [Type.dense(*(x.dims[axis - 1] for axis in order), level=x.level)]


@each(Permute.y)
def permute_y(n, i, x, sizes, steps):
    return x[n, place_of(i, sizes, steps)]


@gradient(Permute.x)
def permute_dx(n, i, dy, back_sizes, back_steps):
    return dy[n, place_of(i, back_sizes, back_steps)]


@onnx(Permute)
def permute_onnx(graph, x, order):
    return graph.Transpose(x, perm=[0, *order])
