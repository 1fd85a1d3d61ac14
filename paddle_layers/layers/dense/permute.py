"""Axis permutation."""

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
from paddle_layers.layers.axes import place_of, strides, walk


@layer(
    "permute",
    elsewhere={
        "Paddle": "switch_order",
        "Caffe": "Permute",
        "ONNX": "Transpose",
        "Keras": "Permute",
        "PyTorch": "permute, transpose",
    },
    terms=("permute axes", "transpose", "channels last"),
    since=1,
)
class Permute:
    """Permutes the axes of each sample (transpose): channels-last images, the transpose of a matrix.

    Axis k of `y` is axis `order[k]` of `x`, such as `y[n, i, j, k] = x[n, k, i, j]` with `order: [2, 3, 1]`; 1 is the
    first axis after the batch axis, which stays. This converts images to channels-last, as Paddle's `switch_order`
    does; [3, 1, 2] is the inverse. The orders of Caffe and ONNX start with 0, the batch axis; Caffe's may omit trailing
    axes that stay; Keras counts as this library.
    """

    x = Input("N ...", "rows of any shape", seq=(0, 1, 2))
    y = Output("N ...", "`x` with its axes permuted")
    order = Ints("axes of `x` in the order of `y`, from 1 on", min=1, min_items=1)
    sizes = Numbers("sizes of the axes of `y`, adjacent axes merged where possible")
    steps = Numbers("strides in `x` of each of them")
    back_sizes = Numbers("sizes of the axes of `x`, likewise merged")
    back_steps = Numbers("strides in `y` of each of them")
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
    # The gradient also gathers, by the inverse permutation, instead of scattering.
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
