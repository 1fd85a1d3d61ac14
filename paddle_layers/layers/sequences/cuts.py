"""Rows cut into sequences, and sequences that some of their rows are taken from."""

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


@layer("to_sequence", elsewhere={"Paddle": "seqreshape"}, since=1)
class ToSequence:
    """Cuts every row into narrower ones, which become its sequence.

    A row of `C` numbers becomes a sequence of `C / size` rows; their order stays. Images are rows with their axes side
    by side: put a `permute` before the layer so that what becomes a row comes last, `order: [3, 1, 2]` for the columns
    of an image. Paddle's seq_reshape does this with rows that are no sequences; those of sequences are cut by
    `seq_reshape` here. `resize` cuts the whole batch anew, also into wider rows, in which samples are mixed.
    """

    x = Input("S C...", "rows of any shape")
    y = Output("R:S K", "a sequence for each row")
    size = Int("width of a row of the sequences", min=1, axis="K")
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


@layer("seq_filter", since=1)
class SeqFilter:
    """Keeps the rows of every sequence that are chosen, in their order.

    Row t of `x` stays where `keep[t]` is not 0. `keep` may be fed, or made by the network, by `maxid` say; it gets no
    gradient. Whole samples are left out by `filter`, which is Caffe's; costs have `ignore_label` and weights, too.
    """

    x = Input("T:S C", "rows of sequences", seq=(1,))
    keep = Input("T:S", "which rows stay: all that are not 0", kinds=("INT",), seq=(1,))
    y = Output("R:S C", "the rows that stay")
    chosen = Temp("R", "row of `x` that it is", kind="INT")
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
