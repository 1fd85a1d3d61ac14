"""Conversion of samples to sequences, filtering of steps."""

import numpy as np

from paddle_layers.define import (
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
    require,
    starts,
)


@layer(
    "to_sequence",
    elsewhere={"Paddle": "seqreshape"},
    terms=("converts each sample to a sequence", "to sequence", "split into steps"),
    since=1,
)
class ToSequence:
    """Converts each sample to a sequence by splitting it into steps of equal width.

    A sample of `C` values becomes a sequence of `C / size` steps, in order. Images are flattened: add a `permute`
    before the layer so that the axis of a step is last, `order: [3, 1, 2]` for the columns of an image. Paddle's
    seq_reshape does this with samples that are not sequences; for sequences see `seq_reshape`. `resize` reshapes the
    whole batch, also into wider rows, which mixes samples.
    """

    x = Input("S C...", "rows of any shape")
    y = Output("R:S K", "one sequence per sample")
    size = Int("width of a step", min=1, axis="K")
    examples = (Example(x="6", size=2), Example(x="2x3x2", size=3), Example(x="4", size=4))


@infer(ToSequence)
def to_sequence_check(C, size):
    require(C % size == 0, "size", f"`size` is {size}, which does not divide the numbers of a row, {C}")
    return {}


@starts(ToSequence)
def to_sequence_starts(S, C, size):
    return np.arange(S + 1) * (C // size)


@each(ToSequence.y)
def to_sequence_y(r, k, s, x, R_start, K):
    return x[s, (r - R_start[s]) * K + k]


@gradient(ToSequence.x)
def to_sequence_dx(s, c, dy, C, K):
    return dy[s * (C // K) + c // K, c % K]


@onnx(ToSequence)
def to_sequence_onnx(graph, x, C, K):
    lengths = graph.Expand(graph.constant([C // K]), graph.Shape(x, start=0, end=1))
    return graph.Reshape(x, [0, -1, K]), lengths


@layer(
    "seq_filter",
    terms=("filters the steps", "filter steps", "mask steps"),
    since=1,
)
class SeqFilter:
    """Filters the steps of each sequence by a mask.

    Step t of `x` is kept if `keep[t]` is not 0. `keep` may be fed or computed by the network, by `maxid`, for example;
    it has no gradient. To filter whole samples see `filter`, which is Caffe's; losses also have `ignore_label` and
    sample weights.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1,))
    keep = Input("T:S", "mask: steps with a nonzero value are kept", kinds=("INT",), seq=(1,))
    y = Output("R:S C", "the steps that are kept")
    chosen = Temp("R", "index in `x` of each step", kind="INT")
    examples = (
        Example(x="sequence of 3", keep="sequence of ids<2"),
        Example(x="sequence of 1", keep="sequence of ids<3"),
    )


@starts(SeqFilter)
def seq_filter_starts(keep, T_start):
    return np.concatenate([[0], np.cumsum(keep.reshape(-1) != 0)])[T_start]


@each(SeqFilter.chosen)
def seq_filter_chosen(r, s, keep, T_start, R_start):
    before = r - R_start[s]
    for t in range(T_start[s], T_start[s + 1]):
        if keep[t] != 0:
            if before == 0:
                return t
            before -= 1
    return -1


@each(SeqFilter.y)
def seq_filter_y(r, c, x, chosen):
    return x[chosen[r], c]


@gradient(SeqFilter.x)
def seq_filter_dx(t, c, s, dy, keep, T_start, R_start):
    if keep[t] == 0:
        return 0.0
    # Each step counts the kept steps before it: a gather without concurrent updates.
    place = R_start[s]
    for u in range(T_start[s], t):
        if keep[u] != 0:
            place += 1
    return dy[place, c] if place < R_start[s + 1] else 0.0


@onnx(SeqFilter)
def seq_filter_onnx(graph, x, keep, T_mask):
    """Rows that stay come first: they are sorted by whether they stay, then by their place."""
    stays = graph.And(T_mask, graph.Not(graph.Equal(keep, 0)))
    places, steps = graph.places(x), graph.Squeeze(graph.Shape(x, start=1, end=2))
    order = graph.Where(stays, places, graph.Add(places, steps))
    _, chosen = graph.TopK(order, graph.Shape(x, start=1, end=2), axis=1, largest=0, outputs=2)
    rows = graph.GatherND(x, graph.Unsqueeze(chosen, [2]), batch_dims=1)
    return rows, graph.ReduceSum(graph.Cast(stays, to=7), [1], keepdims=0)
