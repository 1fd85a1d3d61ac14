"""Rows of the batch chosen or cut anew: a sample becomes a sequence of those it has, so that the batch keeps it."""

import numpy as np

from paddle_layers.define import Example, Input, Int, Output, each, gradient, infer, layer, onnx, starts


@layer("batch_reindex", elsewhere={"Caffe": "BatchReindex", "ONNX": "Gather", "PyTorch": "index_select"}, since=1)
class BatchReindex:
    """Takes rows of the batch by their numbers, in any order and as often as they are named.

    `y[r] = x[index[r]]`, where rows of the batch count from 0. The numbers of a sample are a sequence, and so are the
    rows that it takes; Caffe's BatchReindex has one list of numbers for the batch. The row of the sample itself, as
    often as it has boxes or words, is `expand`, which needs no numbers. With several processes the numbers are those of
    the rows that a process has. Numbers that the batch does not have are refused when it is fed.
    """

    x = Input("N C...", "rows of any shape")
    index = Input("T:N", "numbers of rows of the batch, from 0", kinds=("INT",), seq=(1,), places="N")
    y = Output("R:N C...", "the rows that are named")
    examples = (
        Example(x="3", index="sequence of ids<5"),
        Example(x="2x1x2", index="sequence of ids<9"),
    )


@starts(BatchReindex)
def batch_reindex_starts(index, T_start):
    return T_start


@each(BatchReindex.y)
def batch_reindex_y(r, c, x, index):
    return x[index[r], c]


@gradient(BatchReindex.x)
def batch_reindex_dx(n, c, dy, index):
    total = 0.0
    for t in range(index.shape[0]):
        if index[t] == n:
            total += dy[t, c]
    return total


@onnx(BatchReindex)
def batch_reindex_onnx(graph, x, index, T_lengths):
    return graph.Gather(x, index, axis=0), T_lengths


@layer("filter", elsewhere={"Caffe": "Filter"}, since=1)
class Filter:
    """Leaves rows of the batch out: a sample becomes a sequence of its row, or one without rows.

    The row stays where `keep` is not 0; `keep` may be fed, or made by the network, by `maxid` say, and gets no
    gradient. Costs of such sequences are divided by the rows that are left, as in Caffe, whose Filter makes a smaller
    batch of them. Labels are left out by `filter_ids` with the same `keep`, rows of sequences by `seq_filter`. Where
    rows are left out for their label alone, costs have `ignore_label`.
    """

    x = Input("N C...", "rows of any shape")
    keep = Input("N", "which rows stay: all that are not 0", kinds=("INT",))
    y = Output("R:N C...", "the rows that stay")
    examples = (Example(x="3", keep="ids<2"), Example(x="2x1x2", keep="ids<3"))


@starts(Filter)
def filter_starts(keep):
    return np.concatenate([[0], np.cumsum(keep.reshape(-1) != 0)])


@each(Filter.y)
def filter_y(r, c, n, x):
    return x[n, c]


@gradient(Filter.x)
def filter_dx(n, c, dy, R_start):
    return dy[R_start[n], c] if R_start[n] < R_start[n + 1] else 0.0


@onnx(Filter)
def filter_onnx(graph, x, keep):
    return graph.Unsqueeze(x, [1]), graph.Cast(graph.Not(graph.Equal(keep, 0)), to=7)


@layer("filter_ids", elsewhere={"Caffe": "Filter"}, since=1)
class FilterIds:
    """Leaves ids of the batch out, as `filter` does with rows: a sample becomes a sequence of its id, or of none."""

    x = Input("N", "ids", kinds=("INT",))
    keep = Input("N", "which ids stay: all where it is not 0", kinds=("INT",))
    y = Output("R:N", "the ids that stay", kind="INT", size="B")
    examples = (Example(x="ids<5", keep="ids<2"), Example(x="ids<2", keep="ids<3"))


@infer(FilterIds)
def filter_ids_size(x):
    return {"B": x.size}


@starts(FilterIds)
def filter_ids_starts(keep):
    return np.concatenate([[0], np.cumsum(keep.reshape(-1) != 0)])


@each(FilterIds.y)
def filter_ids_y(r, n, x):
    return x[n]


@onnx(FilterIds)
def filter_ids_onnx(graph, x, keep):
    return graph.Unsqueeze(x, [1]), graph.Cast(graph.Not(graph.Equal(keep, 0)), to=7)


@layer("resize", elsewhere={"Paddle": "resize"}, since=1)
class Resize:
    """Cuts the numbers of the whole batch into rows of another width.

    The numbers keep their order: `N` rows of `C` become `N * C / size` rows, and a batch that `size` does not divide is
    refused. A row belongs to the sample with its first number: that sample becomes a sequence of such rows, and one
    without any where all of its numbers stand in a row that another sample began. Of `N` rows of 3 with `size: 6`, each
    second sample has the row of both. Labels of the rows are fed as such sequences; costs count the rows that there
    are. Samples are mixed where `size` does not divide `C`: then a batch is cut as a whole, by each process its own.
    Where it does, `to_sequence` is the same; rows of sequences are cut by `seq_reshape`.
    """

    x = Input("N C...", "rows of any shape")
    y = Output("R:N K", "the rows that begin in each sample")
    size = Int("width of a row", min=1, axis="K")
    examples = (Example(x="3", size=6), Example(x="2x2x2", size=4), Example(x="6", size=4), Example(x="scalar", size=1))


@starts(Resize)
def resize_starts(N, C, K):
    if N * C % K:
        raise ValueError(f"the batch has {N} rows of {C}, whose {N * C} numbers `size`, {K}, does not divide")
    return (np.arange(N + 1) * C + K - 1) // K


@each(Resize.y)
def resize_y(r, k, x, C, K):
    return x[(r * K + k) // C, (r * K + k) % C]


@gradient(Resize.x)
def resize_dx(n, c, dy, C, K):
    return dy[(n * C + c) // K, (n * C + c) % K]


@onnx(Resize)
def resize_onnx(graph, x, C, K):
    rows = graph.Reshape(x, [-1, K])
    begins = graph.Mul(graph.Range(0, graph.Squeeze(graph.Shape(x, start=0, end=1)), 1), C)
    first, behind = (graph.Div(graph.Add(begins, more), K) for more in (K - 1, C + K - 1))
    places = graph.Add(graph.Unsqueeze(first, [1]), np.arange((C + K - 1) // K))
    last = graph.Sub(graph.Shape(rows, start=0, end=1), 1)
    return graph.Gather(rows, graph.Min(places, last), axis=0), graph.Sub(behind, first)
