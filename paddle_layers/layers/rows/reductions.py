"""Sums, means and other numbers that stand for many: over all axes of a row, or some of them."""

import math

from paddle_layers.define import (
    Bool,
    Choice,
    Example,
    Input,
    Ints,
    Numbers,
    Output,
    Temp,
    Type,
    each,
    gradient,
    infer,
    layer,
    onnx,
    output_types,
    real,
)
from paddle_layers.layers.helpers import exceeds
from paddle_layers.layers.places import chosen_axes, place_of, strides, walk

ONNX_OPERATORS = {
    "SUM": "ReduceSum",
    "MEAN": "ReduceMean",
    "ASUM": "ReduceL1",
    "SUMSQ": "ReduceSumSquare",
    "L2": "ReduceL2",
    "MAX": "ReduceMax",
    "MIN": "ReduceMin",
    "PROD": "ReduceProd",
    "LOG_SUM_EXP": "ReduceLogSumExp",
}


@layer(
    "reduction",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "Caffe": "Reduction",
        "ONNX": "ReduceSum, ReduceMean, ReduceL1, ReduceSumSquare, ReduceL2, ReduceMax, ReduceMin, ReduceProd",
        "Keras": "sum, mean, max, min, prod, logsumexp",
        "PyTorch": "sum, mean, norm, amax, amin, prod, logsumexp",
    },
    since=1,
)
class Reduction:
    """One number for all those along some axes of a row: their sum, mean, product, largest or smallest, or length.

    With `axes: 1` an image of C channels becomes the sum over its channels, H x W; with `axes: [2, 3]` the sums of the
    channels, C numbers. Axis 1 is the first one behind the rows, -1 the last one; without `axes` a row becomes one
    number. `keep_dims` leaves an axis of one element in the place of each.

    Of equal maxima, or minima, the first gets the whole gradient, and NaN wins. A vector of zeros has no gradient in
    `L2`, a number 0 none in `ASUM`. Caffe's Reduction has the first four operations, takes all axes from `axis` on, and
    multiplies by `coeff`: put a `slope_intercept` behind the layer for that. For sums over the rows of a sequence see
    `seq_avg_pool`, for means over the pixels of an image `pool` with `global_pooling`, too.
    """

    x = Input("N ...", "rows of any shape", seq=(0, 1, 2), kinks=(0.0, "ties"))
    y = Output("N J...", "the axes that are left")
    operation = Choice(
        "what becomes of the numbers",
        options={
            "SUM": "their sum",
            "MEAN": "their mean",
            "ASUM": "the sum of their sizes without signs",
            "SUMSQ": "the sum of their squares",
            "L2": "the root of the sum of their squares",
            "MAX": "the largest",
            "MIN": "the smallest",
            "PROD": "their product",
            "LOG_SUM_EXP": "the logarithm of the sum of their exponentials",
        },
        default="SUM",
    )
    axes = Ints("axes that vanish, counted from 1, or from -1 back; without it all", min_items=1, optional=True)
    keep_dims = Bool("leave an axis of one element in the place of each", default=False)
    sizes = Numbers("sizes of the axes that vanish, in `x`; neighbours are one")
    steps = Numbers("how far it is in `x` from one element of each to the next")
    count = Numbers("how many numbers become one")
    kept_sizes = Numbers("sizes of the axes that are left")
    kept_steps = Numbers("how far it is in `x` from one element of each to the next")
    back_sizes = Numbers("sizes of all axes")
    back_steps = Numbers("how far it is in `y` from one element of each to the next, 0 along those that vanish")
    where = Temp("N J...", "place of the largest, or of the smallest", kind="INT")
    examples = (
        Example(x="3x2x4", axes=[1]),
        Example(x="2x3x5", operation="MEAN", axes=[-1, 2], keep_dims=True),
        Example(x="2x3x2x2", operation="MAX", axes=[1, 3]),
        Example(x="sequence of 4", operation="L2"),
        Example(x="3x4", operation="LOG_SUM_EXP", axes=[-1], act="tanh"),
    )


@infer(Reduction)
def reduction_numbers(x, axes):
    gone, far = sorted(chosen_axes(x, axes)), strides(x.dims)
    left = [axis for axis in range(len(x.dims)) if axis not in gone]
    near = dict(zip(left, strides([x.dims[axis] for axis in left]), strict=True))
    sizes, steps = walk([x.dims[axis] for axis in gone], [far[axis] for axis in gone])
    kept_sizes, kept_steps = walk([x.dims[axis] for axis in left], [far[axis] for axis in left])
    back_sizes, back_steps = walk(x.dims, [near.get(axis, 0) for axis in range(len(x.dims))])
    return {
        "J": math.prod(kept_sizes), "count": math.prod(sizes), "sizes": sizes, "steps": steps,
        "kept_sizes": kept_sizes, "kept_steps": kept_steps, "back_sizes": back_sizes, "back_steps": back_steps,
    }  # fmt: skip


@output_types(Reduction)
def reduction_type(x, axes, keep_dims):
    gone = chosen_axes(x, axes)
    sizes = [1 if axis in gone else size for axis, size in enumerate(x.dims) if keep_dims or axis not in gone]
    return [Type.dense(*sizes, level=x.level)]


@each(Reduction.where)
def reduction_where(n, j, x, operation, count, sizes, steps, kept_sizes, kept_steps):
    start = place_of(j, kept_sizes, kept_steps)
    best = start
    for k in range(1, count):
        at = start + place_of(k, sizes, steps)
        if operation == "MAX":
            best = at if exceeds(x[n, at], x[n, best]) else best
        elif exceeds(-x[n, at], -x[n, best]):
            best = at
    return best


@each(Reduction.y)
def reduction_y(n, j, x, where, operation, count, sizes, steps, kept_sizes, kept_steps):
    if operation == "MAX":
        return x[n, where[n, j]]
    if operation == "MIN":
        return x[n, where[n, j]]
    start = place_of(j, kept_sizes, kept_steps)
    run, step = sizes[-1], steps[-1]
    squared = operation == "SUMSQ" or operation == "L2"  # noqa: PLR1714  without a card, numba compiles no `in` of strings for CUDA
    peak = 0.0
    if operation == "LOG_SUM_EXP":
        peak = x[n, start]
        for k in range(1, count):
            peak = max(peak, x[n, start + place_of(k, sizes, steps)])
        if math.isinf(peak):
            return peak
    total = 1.0 if operation == "PROD" else 0.0
    for first in range(0, count, run):
        at = start + place_of(first, sizes, steps)
        for k in range(run):
            value = x[n, at + k * step]
            if operation == "PROD":
                total *= value
            elif operation == "ASUM":
                total += abs(value)
            elif operation == "LOG_SUM_EXP":
                total += math.exp(value - peak)
            else:
                total += value * value if squared else value
    if operation == "MEAN":
        return total / real(count)
    if operation == "L2":
        return math.sqrt(total)
    return peak + math.log(total) if operation == "LOG_SUM_EXP" else total


@gradient(Reduction.x)
def reduction_dx(
    n, i, dy, x, y, where, operation, count, sizes, steps, kept_sizes, kept_steps, back_sizes, back_steps
):  # fmt: skip
    j = place_of(i, back_sizes, back_steps)
    if operation == "MEAN":
        return dy[n, j] / real(count)
    if operation == "MAX":
        return dy[n, j] if where[n, j] == i else 0.0
    if operation == "MIN":
        return dy[n, j] if where[n, j] == i else 0.0
    if operation == "ASUM":
        if x[n, i] == 0.0:
            return 0.0
        return dy[n, j] if x[n, i] > 0.0 else -dy[n, j]
    if operation == "SUMSQ":
        return 2.0 * dy[n, j] * x[n, i]
    if operation == "L2":
        return dy[n, j] * x[n, i] / y[n, j] if y[n, j] > 0.0 else 0.0
    if operation == "LOG_SUM_EXP":
        return dy[n, j] * math.exp(x[n, i] - y[n, j])
    value = dy[n, j]
    if operation == "PROD":
        start = place_of(j, kept_sizes, kept_steps)
        for k in range(count):
            at = start + place_of(k, sizes, steps)
            if at != i:
                value *= x[n, at]
    return value


@onnx(Reduction)
def reduction_onnx(graph, x, operation, axes, keep_dims):
    gone = [axis + 1 for axis in sorted(chosen_axes(x, axes))]
    if not x.dims:  # without axes the operator would reduce the rows, too
        x, gone, keep_dims = graph.shaped(x, 1), [1], False
    return graph.node(ONNX_OPERATORS[operation], x, gone, keepdims=int(keep_dims))
