"""Maxima, argmax and top-k."""

import math

from paddle_layers.define import (
    Bool,
    Choice,
    Example,
    Input,
    Int,
    Output,
    Type,
    each,
    fill,
    gradient,
    helper,
    infer,
    layer,
    onnx,
    output_types,
    real,
    require,
)
from paddle_layers.layers.axes import place_of_axis
from paddle_layers.layers.helpers import exceeds, uniform

FLOAT = 1
"""FLOAT as a target type of ONNX's Cast."""


@layer(
    "maxid",
    elsewhere={"Paddle": "maxid"},
    terms=("argmax", "predicted class"),
    since=1,
)
class MaxId:
    """Argmax over the classes of each sample, as an integer id; the first of equal scores, NaN before all others.

    In Paddle it returns `beam_size` ids with their values inside its beam search, and one id otherwise; here it is one
    id, which an `embedding` reads; for several with their values see `top_k`. Caffe's ArgMax returns floats and the
    last of equal scores, and Mocha's reduces any axis: see `arg_max`.
    """

    x = Input("N C...", "score per class", seq=(0, 1, 2), kinks=("ties",))
    y = Output("N", "index of the maximum", kind="INT", size="C")
    examples = (
        Example(x="5"),
        Example(x="2x1x3"),
        Example(x="sequence of 4"),
    )


@each(MaxId.y)
def maxid_y(n, x, C):
    best = 0
    for c in range(1, C):
        if exceeds(x[n, c], x[n, best]):
            best = c
    return best


@onnx(MaxId)
def maxid_onnx(graph, x):
    return graph.ArgMax(graph.flat(x), axis=1, keepdims=0)


@layer(
    "arg_max",
    elsewhere={
        "Caffe": "ArgMax",
        "Mocha": "ArgmaxLayer",
        "ONNX": "ArgMax, ArgMin",
        "Keras": "argmax, argmin",
        "PyTorch": "argmax, argmin",
    },
    terms=("argmax", "argmin"),
    since=1,
)
class ArgMax:
    """Argmax or argmin along an axis, as floating-point indices from 0.

    An image of C channels becomes H x W indices with `axis: 1`. Of equal values the first is selected, or the last with
    `last`; if one is NaN, so is the index. It has no gradient. For class ids, which embeddings and metrics read, see
    `maxid`, for the largest values with their indices `top_k`, for the values alone `reduction`. Caffe's ArgMax reduces
    the whole sample unless `axis` is set, and selects the last of equal values; its `top_k` and `out_max_val` are in
    `top_k`.
    """

    x = Input("N... C@axis ...", "rows of any shape", seq=(0, 1, 2), kinks=("ties",))
    y = Output("N... ...", "indices along the axis, the other axes as in `x`")
    axis = Int("reduced axis: 1 is the first after the batch axis, -1 the last", default=1)
    operation = Choice("maximum or minimum", options={"MAX": "maximum", "MIN": "minimum"}, default="MAX")
    last = Bool("select the last of equal values", default=False)
    keep_dims = Bool("keep the reduced axis with size 1", default=False)
    examples = (
        Example(x="5"),
        Example(x="3x2x4", axis=-1, operation="MIN"),
        Example(x="3", operation="MIN", last=True),
        Example(x="2x3x2", axis=2, keep_dims=True, last=True),
        Example(x="sequence of 4x2"),
    )


@output_types(ArgMax)
def arg_max_type(x, axis, keep_dims):
    place = place_of_axis(axis, x) - 1
    kept = [1] if keep_dims else []
    return [Type.dense(*x.dims[:place], *kept, *x.dims[place + 1 :], level=x.level)]


@each(ArgMax.y)
def arg_max_y(n, i, x, C, operation, last):
    best = 0
    for c in range(1, C):
        # By `exceeds`, whose order has a place for NaN.
        if operation == "MAX":
            wins = not exceeds(x[n, best, i], x[n, c, i]) if last else exceeds(x[n, c, i], x[n, best, i])
        else:
            wins = not exceeds(-x[n, best, i], -x[n, c, i]) if last else exceeds(-x[n, c, i], -x[n, best, i])
        best = c if wins else best
    return math.nan if math.isnan(x[n, best, i]) else real(best)


@onnx(ArgMax)
def arg_max_onnx(graph, x, axis, operation, last, keep_dims):
    operator = "ArgMax" if operation == "MAX" else "ArgMin"
    found = graph.node(operator, x, axis=place_of_axis(axis, x), keepdims=int(keep_dims), select_last_index=int(last))
    return graph.Cast(found, to=FLOAT)


@layer(
    "top_k",
    elsewhere={"Caffe": "ArgMax", "ONNX": "TopK", "Keras": "top_k", "PyTorch": "topk"},
    terms=("top-k",),
    since=1,
)
class TopK:
    """Top-k: the `k` largest or smallest values along an axis in order, and their indices as floats.

    An axis of size C becomes one of size `k`. Of equal values the first comes first; if one is NaN, all are. The second
    output are the indices from 0, which have no gradient. For sequences see `kmax_seq_score`.
    """

    x = Input("N... C@axis ...", "rows of any shape", seq=(0, 1, 2), kinks=("ties",))
    y = Output("N... B@axis ...", "the top values")
    places = Output("N... B@axis ...", "their indices along the axis")
    k = Int("number of values, k", min=1, axis="B")
    axis = Int("reduced axis: 1 is the first after the batch axis, -1 the last", default=1)
    largest = Bool("the largest values; false: the smallest", default=True)
    examples = (
        Example(x="5", k=2),
        Example(x="2x4x3", k=3, axis=2, largest=False),
        Example(x="3x2x2", k=3),
        Example(x="sequence of 4", k=1, axis=-1),
    )


@infer(TopK)
def top_k_sizes(C, k):
    require(k <= C, "k", f"the axis has {C} elements, which are fewer than {k}")
    return {}


@fill(TopK.places, per="N")
def top_k_places(n, x, places, C, B, largest):
    for i in range(x.shape[2]):
        broken = False
        # A pass per result, each for the best value after the previous one: no memory for a sorted copy.
        for b in range(B):
            best = -1
            for c in range(C):
                broken = broken or math.isnan(x[n, c, i])
                last = int(places[n, b - 1, i]) if b > 0 else c
                # Ties are ordered by index, so that each pass finds another element.
                if b == 0 or comes_after(x[n, c, i], c, x[n, last, i], last, largest):
                    if best < 0 or is_ahead(x[n, c, i], x[n, best, i], largest):
                        best = c
            places[n, b, i] = real(best)
        for b in range(B if broken else 0):
            places[n, b, i] = math.nan


@helper
def is_ahead(v, best, largest):
    """Whether value `v` comes before `best` in the order."""
    return exceeds(v, best) if largest else exceeds(-v, -best)


@helper
def comes_after(v, c, best, last, largest):
    """Whether index `c` comes after `last` in the order: with a worse value, or an equal one at a larger index."""
    return is_ahead(best, v, largest) or (c > last and not is_ahead(v, best, largest))


@each(TopK.y)
def top_k_y(n, b, i, x, places):
    return math.nan if math.isnan(places[n, b, i]) else x[n, int(places[n, b, i]), i]


@gradient(TopK.x)
def top_k_dx(n, c, i, dy, places, B):
    total = 0.0
    # Each element searches the results for itself: no concurrent additions, as a scatter would need.
    for b in range(B):
        if places[n, b, i] == real(c):
            total += dy[n, b, i]
    return total


@onnx(TopK)
def top_k_onnx(graph, x, k, axis, largest):
    values, places = graph.TopK(x, [k], axis=place_of_axis(axis, x), largest=int(largest), sorted=1, outputs=2)
    return values, graph.Cast(places, to=FLOAT)


@layer(
    "sampling_id",
    elsewhere={"Paddle": "sampling_id", "ONNX": "Multinomial", "PyTorch": "multinomial"},
    terms=("sampling", "categorical distribution", "multinomial sampling"),
    since=1,
)
class SamplingId:
    """Sampling from a categorical distribution: one id per row, with the probabilities of the row.

    The probabilities need not sum to one, but must not be negative; if all are zero, the last id is sampled. The sample
    depends on the seed, the step and the row, in both phases, so it is the same on every device. ONNX takes
    log-probabilities. To generate text see the command `generate`.
    """

    x = Input("N C...", "probability per class", seq=(0, 1, 2), within=(0.0, 1.0))
    y = Output("N", "sampled id", kind="INT", size="C")
    examples = (
        Example(x="5"),
        Example(x="2x1x3"),
        Example(x="sequence of 4"),
    )


@each(SamplingId.y)
def sampling_id_y(n, x, key, C):
    total = sum(x[n, c] for c in range(C))
    # Scaled by the sum, so that probabilities need no normalization.
    left = uniform(key, n) * total
    reached = 0.0
    drawn = -1
    for c in range(C):
        reached += x[n, c]
        if drawn < 0 and left < reached:
            drawn = c
    # Rounding may leave the sum below the sampled value.
    return drawn if drawn >= 0 else C - 1
