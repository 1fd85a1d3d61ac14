"""Selection of elements of an axis by fixed indices, sums along an axis, conversion of ids."""

from paddle_layers.define import (
    Bool,
    Example,
    Input,
    Int,
    Ints,
    Numbers,
    Output,
    each,
    gradient,
    helper,
    infer,
    layer,
    onnx,
    real,
    require,
)
from paddle_layers.layers.axes import place_of_axis


@layer(
    "gather",
    elsewhere={"ONNX": "Gather", "Keras": "take", "PyTorch": "index_select"},
    terms=("gather", "take", "index select", "reverse an axis"),
    since=1,
)
class Gather:
    """Gather: elements of an axis by fixed indices, `y[n, j, i] = x[n, indices[j], i]`.

    Indices count from 0 and may be repeated. Consecutive elements are cheaper with `slice`, those at a regular distance
    with `crop`. To look up rows of a table by ids see `embedding`, to select samples `batch_reindex`.
    """

    x = Input("N... C@axis ...", "rows of any shape", seq=(0, 1, 2))
    y = Output("N... D@axis ...", "the selected elements")
    indices = Ints("indices along the axis, from 0", min=0, min_items=1)
    axis = Int("axis of the elements: 1 is the first after the batch axis, -1 the last", default=1)
    order = Numbers("the indices")
    examples = (
        Example(x="4", indices=[3, 2, 1, 0]),
        Example(x="2x3", indices=[0, 2, 2, 0, 1], axis=-1),
        Example(x="2x3x2", indices=[1], axis=2),
        Example(x="sequence of 3", indices=[2, 0]),
    )


@infer(Gather)
def gather_numbers(C, indices):
    require(max(indices) < C, "indices", f"`indices` has {max(indices)}, but the axis has {C} elements")
    return {"D": len(indices), "order": list(indices)}


@each(Gather.y)
def gather_y(n, d, i, x, order):
    return x[n, order[d], i]


@gradient(Gather.x)
def gather_dx(n, c, i, dy, order, D):
    return sum(dy[n, d, i] for d in range(D) if order[d] == c)


@onnx(Gather)
def gather_onnx(graph, x, indices, axis):
    return graph.Gather(x, list(indices), axis=place_of_axis(axis, x))


@layer(
    "cumsum",
    elsewhere={"ONNX": "CumSum", "Keras": "cumsum", "PyTorch": "cumsum"},
    terms=("cumulative sum", "prefix sum"),
    since=1,
)
class CumSum:
    """Cumulative sum along an axis: `y[n, c, i]` is the sum of `x[n, d, i]` over `d <= c`.

    With `exclusive` over `d < c`, so that the first element is 0; with `reverse` from the last element on.
    """

    x = Input("N... C@axis ...", "rows of any shape", seq=(0, 1, 2))
    y = Output("N... C@axis ...", "same shape as `x`")
    axis = Int("axis that is summed along: 1 is the first after the batch axis, -1 the last", default=1)
    exclusive = Bool("without the element itself", default=False)
    reverse = Bool("from the last element on", default=False)
    examples = (
        Example(x="5"),
        Example(x="2x3", axis=-1, exclusive=True),
        Example(x="2x3x2", axis=2, reverse=True),
        Example(x="sequence of 4", exclusive=True, reverse=True),
    )


@each(CumSum.y)
def cumsum_y(n, c, i, x, C, exclusive, reverse):
    total = 0.0
    if reverse:
        for d in range(c + 1 if exclusive else c, C):
            total += x[n, d, i]
    else:
        for d in range(c if exclusive else c + 1):
            total += x[n, d, i]
    return total


@gradient(CumSum.x)
def cumsum_dx(n, c, i, dy, C, exclusive, reverse):
    total = 0.0
    if reverse:
        for d in range(c if exclusive else c + 1):
            total += dy[n, d, i]
    else:
        for d in range(c + 1 if exclusive else c, C):
            total += dy[n, d, i]
    return total


@onnx(CumSum)
def cumsum_onnx(graph, x, axis, exclusive, reverse):
    place = graph.constant(place_of_axis(axis, x), "axis")
    return graph.CumSum(x, place, exclusive=int(exclusive), reverse=int(reverse))


@layer(
    "to_float",
    elsewhere={"ONNX": "Cast", "Keras": "cast", "PyTorch": "float"},
    terms=("cast", "ids as numbers"),
    since=1,
)
class ToFloat:
    """Cast of ids to floating-point values, for arithmetic and comparisons; ids below 2^24 are exact in float32.

    There is no gradient. The inverse is `to_ids`.
    """

    ids = Input("...", "integer ids", kinds=("INT",), seq=(0, 1, 2))
    y = Output("...", "the same numbers")
    examples = (Example(ids="ids<7"), Example(ids="2x3 ids<9"), Example(ids="sequence of ids<5"))


@each(ToFloat.y)
def to_float_y(i, ids):
    return real(ids[i])


@onnx(ToFloat)
def to_float_onnx(graph, ids):
    return graph.Cast(ids, to=1)


@layer(
    "to_ids",
    elsewhere={"ONNX": "Cast", "Keras": "cast", "PyTorch": "long"},
    terms=("cast", "computed ids", "round to ids"),
    since=1,
)
class ToIds:
    """Cast of computed numbers to ids below `size`, which an `embedding` looks up.

    Numbers are rounded to the nearest integer, halves up. Negative ones count from the end, as in NumPy: -1 is the last
    id. Numbers beyond, and NaN, become the nearest id and 0: check them before if they may occur. There is no gradient.
    The inverse is `to_float`.
    """

    x = Input("...", "numbers", seq=(0, 1, 2), kinks=("ties",))
    y = Output("...", "the ids", kind="INT", size="V")
    size = Int("number of ids", min=1, axis="V")
    examples = (Example(x="5", size=4), Example(x="2x3", size=9), Example(x="sequence of 2", size=3))


@helper
def from_end(value, size):
    """A negative number counts from the end."""
    return value + real(size) if value < 0.0 else value


@each(ToIds.y)
def to_ids_y(i, x, size):
    value = from_end(x[i] + 0.5, size)
    if not value >= 1.0:  # NaN too
        return 0
    return size - 1 if value >= real(size) else int(value)


@onnx(ToIds)
def to_ids_onnx(graph, x, size):
    value = graph.Floor(graph.Add(graph.Where(graph.IsNaN(x), 0.0, x), 0.5))
    value = graph.Where(graph.Less(value, 0.0), graph.Add(value, float(size)), value)
    return graph.Cast(graph.Clip(value, 0.0, float(size - 1)), to=7)
