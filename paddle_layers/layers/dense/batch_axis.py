"""Selection and reshaping along the batch axis: the rows of each sample become a sequence."""

import numpy as np

from paddle_layers.define import Example, Input, Int, Output, each, gradient, infer, layer, onnx, starts


@layer(
    "batch_reindex",
    elsewhere={"Caffe": "BatchReindex", "ONNX": "Gather", "PyTorch": "index_select"},
    terms=("gather rows",),
    since=1,
)
class BatchReindex:
    """Gathers rows of the batch by index, in any order and with repetition.

    `y[r] = x[index[r]]`, with indices from 0. The indices of a sample are a sequence, and so are the rows that it
    gathers; Caffe's BatchReindex has one list of indices per batch. To repeat the row of a sample for each of its boxes
    or words see `expand`, which needs no indices. With several processes the indices refer to the samples of the
    process. Indices outside the batch are rejected when they are fed.
    """

    x = Input("N C...", "rows of any shape")
    index = Input("T:N", "indices of samples of the batch, from 0", kinds=("INT",), seq=(1,), places="N")
    y = Output("R:N C...", "the selected rows")
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
    # Each row collects its own gradient: without concurrent additions, the result does not depend on threads.
    for t in range(index.shape[0]):
        if index[t] == n:
            total += dy[t, c]
    return total


@onnx(BatchReindex)
def batch_reindex_onnx(graph, x, index, T_lengths):
    return graph.Gather(x, index, axis=0), T_lengths


@layer(
    "filter",
    elsewhere={"Caffe": "Filter"},
    terms=("filter rows", "mask samples"),
    since=1,
)
class Filter:
    """Filters rows of the batch by a mask: a sample becomes a sequence of one row or an empty one.

    A row is kept if `keep` is not 0; `keep` may be fed or computed by the network, by `maxid`, for example, and has no
    gradient. Losses of such sequences are divided by the number of rows that are kept, as in Caffe, whose Filter makes
    a smaller batch of them. To filter labels use `filter_ids` with the same `keep`, for steps of sequences
    `seq_filter`. If rows are filtered only by their label, losses have `ignore_label`.
    """

    x = Input("N C...", "rows of any shape")
    keep = Input("N", "mask: rows with a nonzero value are kept", kinds=("INT",))
    y = Output("R:N C...", "the rows that are kept")
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


@layer("filter_ids", elsewhere={"Caffe": "Filter"}, terms=("filter ids",), since=1)
class FilterIds:
    """Filters ids of the batch by a mask, as `filter` does with rows.

    A sample becomes a sequence of one id or an empty one.
    """

    x = Input("N", "ids", kinds=("INT",))
    keep = Input("N", "mask: ids with a nonzero value are kept", kinds=("INT",))
    y = Output("R:N", "the ids that are kept", kind="INT", size="B")
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


@layer(
    "resize",
    elsewhere={"Paddle": "resize"},
    terms=("reshapes the values of the whole batch", "reshape the batch"),
    since=1,
)
class Resize:
    """Reshapes the values of the whole batch into rows of another width.

    The values keep their order: `N` rows of `C` values become `N * C / size` rows, and a batch that `size` does not
    divide is rejected. A row belongs to the sample that contains its first value: that sample becomes a sequence of
    such rows, an empty one if all of its values belong to a row that another sample started. Of `N` rows of 3 with
    `size: 6`, every second sample has the row of both. Labels are fed as such sequences; losses count the resulting
    rows. If `size` does not divide `C`, samples are mixed: a batch is reshaped as a whole, separately in each process,
    and the last, smaller batch of an epoch has to be divisible, too. If it does, `to_sequence` is equivalent. To
    reshape the steps of sequences see `seq_reshape`.
    """

    x = Input("N C...", "rows of any shape")
    y = Output("R:N K", "the rows that start in each sample")
    size = Int("row width", min=1, axis="K")
    examples = (Example(x="3", size=6), Example(x="2x2x2", size=4), Example(x="6", size=4), Example(x="scalar", size=1))


@starts(Resize)
def resize_starts(N, C, K):
    if N * C % K:
        raise ValueError(f"the batch has {N} rows of {C}, whose {N * C} numbers `size`, {K}, does not divide")
    # The first row that starts at or after the first value of each sample.
    return (np.arange(N + 1) * C + K - 1) // K


@each(Resize.y)
def resize_y(r, k, x, C, K):
    return x[(r * K + k) // C, (r * K + k) % C]


@gradient(Resize.x)
def resize_dx(n, c, dy, C, K):
    return dy[(n * C + c) // K, (n * C + c) % K]


@onnx(Resize)
def resize_onnx(graph, x, C, K):
    # The rows of the whole batch, from which each sample takes those that start in it.
    rows = graph.Reshape(x, [-1, K])
    begins = graph.Mul(graph.Range(0, graph.Squeeze(graph.Shape(x, start=0, end=1)), 1), C)
    first, behind = (graph.Div(graph.Add(begins, more), K) for more in (K - 1, C + K - 1))
    # Indices after the end are clamped; the lengths say that these rows are not part of the sequence.
    places = graph.Add(graph.Unsqueeze(first, [1]), np.arange((C + K - 1) // K))
    last = graph.Sub(graph.Shape(rows, start=0, end=1), 1)
    return graph.Gather(rows, graph.Min(places, last), axis=0), graph.Sub(behind, first)
