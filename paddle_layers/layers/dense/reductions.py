"""Reductions over some or all axes of a sample."""

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
from paddle_layers.layers.axes import chosen_axes, place_of, strides, walk
from paddle_layers.layers.helpers import exceeds

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
    terms=("reduction", "reduce sum", "reduce mean", "reduce max", "global average pooling", "logsumexp"),
    since=1,
)
class Reduction:
    """Reduction over given axes of each sample: sum, mean, maximum, minimum, product, norm or log-sum-exp.

    With `axes: 1` an image of C channels becomes the sum over its channels, H x W; with `axes: [2, 3]` the sums of the
    channels, C values. Axis 1 is the first after the batch axis, -1 the last; without `axes` a sample becomes a scalar.
    `keep_dims` keeps the reduced axes with size 1.

    Of equal maxima, or minima, the first receives the whole gradient, and NaN propagates. A zero vector has no gradient
    in `L2`, a value of 0 none in `ASUM`. Caffe's Reduction has the first four operations, reduces all axes from `axis`
    on, and multiplies by `coeff`: add a `slope_intercept` for that. For sums over the steps of a sequence see
    `seq_avg_pool`, for global average pooling also `pool` with `global_pooling`.
    """

    x = Input("N ...", "rows of any shape", seq=(0, 1, 2), kinks=(0.0, "ties"))
    y = Output("N J...", "the remaining axes")
    operation = Choice(
        "reduction operation",
        options={
            "SUM": "sum",
            "MEAN": "mean",
            "ASUM": "sum of absolute values (L1 norm)",
            "SUMSQ": "sum of squares",
            "L2": "Euclidean (L2) norm",
            "MAX": "maximum",
            "MIN": "minimum",
            "PROD": "product",
            "LOG_SUM_EXP": "log-sum-exp",
        },
        default="SUM",
    )
    axes = Ints("reduced axes, from 1 on or from -1 backwards; if absent, all", min_items=1, optional=True)
    keep_dims = Bool("keep the reduced axes with size 1", default=False)
    sizes = Numbers("sizes of the reduced axes, adjacent ones merged")
    steps = Numbers("strides in `x` of each of them")
    count = Numbers("number of reduced values")
    kept_sizes = Numbers("sizes of the remaining axes")
    kept_steps = Numbers("strides in `x` of each of them")
    back_sizes = Numbers("sizes of all axes")
    back_steps = Numbers("strides in `y` of each of them, 0 for reduced axes")
    where = Temp("N J...", "index of the maximum or minimum", kind="INT")
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
        # The minimum as the maximum of the negatives: NaN wins here, too.
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
    squared = operation == "SUMSQ" or operation == "L2"  # noqa: PLR1714  without a GPU, numba compiles no `in` of strings for CUDA
    peak = 0.0
    if operation == "LOG_SUM_EXP":
        # Log-sum-exp relative to the maximum: nothing overflows, and one term is 1.
        peak = x[n, start]
        for k in range(1, count):
            peak = max(peak, x[n, start + place_of(k, sizes, steps)])
        # Infinity minus infinity would be NaN.
        if math.isinf(peak):
            return peak
    total = 1.0 if operation == "PROD" else 0.0
    # `place_of` divides once per axis: it is called once per run of the last reduced axis, not for each element.
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
        # A vector of zeros has no direction.
        return dy[n, j] * x[n, i] / y[n, j] if y[n, j] > 0.0 else 0.0
    if operation == "LOG_SUM_EXP":
        # Minus infinity minus minus infinity would be NaN.
        return 0.0 if x[n, i] == -math.inf else dy[n, j] * math.exp(x[n, i] - y[n, j])
    value = dy[n, j]
    if operation == "PROD":
        # The product of the others, since dividing the product by a value fails where that is 0.
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
