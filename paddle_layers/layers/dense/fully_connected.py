"""Fully connected (linear) layers."""

import math

from paddle_layers.define import (
    Bias,
    Example,
    Float,
    Input,
    Int,
    Output,
    Param,
    Temp,
    each,
    fill,
    gradient,
    layer,
    onnx,
    starts,
)
from paddle_layers.layers.axes import place_of_axis


@layer(
    "fc",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "Paddle": "fc",
        "Caffe": "InnerProduct",
        "Mocha": "InnerProductLayer",
        "KUnet": "Mmul",
        "ONNX": "Gemm",
        "Keras": "Dense",
        "PyTorch": "Linear",
    },
    terms=("fully connected layer", "dense layer", "linear layer", "affine transformation", "inner product layer"),
    since=1,
)
class FullyConnected:
    """Fully connected (dense, linear) layer: the sum of `x @ weight` over the inputs, plus `bias`.

    `y[n, k] = sum_i sum_c x_i[n, c] * weight_i[c, k] + bias[k]`

    Images are flattened, channels first. Each step of a sequence is a sample. With `axis: 2` the axes from the second
    one on are flattened, and each vector along the first is a sample; -1 applies the layer to the last axis, as ONNX's
    MatMul, Keras and PyTorch do. Sparse rows cost in proportion to their entries, and the gradient of their weights has
    only the rows in use. Paddle accepts several inputs, each with its own weight, as here; the other frameworks accept
    one. Caffe and KUnet store the weight transposed.
    """

    x = Input(
        "N... C_i...@axis",
        "feature vectors: samples, tokens, images",
        repeatable=True,
        kinds=("DENSE", "SPARSE_INT", "SPARSE"),
        seq=(0, 1, 2),
    )
    # Inputs by outputs: a sparse entry reads one contiguous row, and the sparse gradient consists of such rows.
    weight = Param("C_i K", "one column per output", per="x", init="xavier")
    bias = Bias("K")
    y = Output("N... K@axis", "`size` values per sample")
    size = Int("number of outputs", min=1, axis="K", aliases=("num_output",))
    axis = Int("first axis of the input features: 1 is the first after the batch axis, -1 the last", default=1)
    examples = (
        Example(x=["7"], size=5),
        Example(x=["2x3x2"], size=3, act="tanh"),
        Example(x=["4", "sparse ids 9", "sparse 6"], size=2, bias=False),
        Example(x=["sequence of 3"], size=4, act="relu"),
        Example(x=["3x4"], size=2, axis=-1),
        Example(x=["2x3x2", "2x5"], size=3, axis=2),
    )


@each(FullyConnected.y, over=FullyConnected.x)
def fc_y(n, k, x, weight):
    return sum(x[n, c] * weight[c, k] for c in range(x.shape[1]))


@gradient(FullyConnected.x, over=FullyConnected.x)
def fc_dx(n, c, dy, weight, K):
    return sum(dy[n, k] * weight[c, k] for k in range(K))


@gradient(FullyConnected.weight, over=FullyConnected.x)
def fc_dweight(c, k, dy, x, N):
    return sum(x[n, c] * dy[n, k] for n in range(N))


@each(FullyConnected.y, over=FullyConnected.x, kind="SPARSE_INT")
def fc_y_ids(n, k, x_start, x_id, weight):
    return sum(weight[x_id[p], k] for p in range(x_start[n], x_start[n + 1]))


@gradient(FullyConnected.weight, over=FullyConnected.x, kind="SPARSE_INT", used=FullyConnected.x)
def fc_dweight_ids(u, k, dy, x_used_start, x_used_row):
    # `x_used_*` groups the entries by column: every used row of the gradient collects its own terms.
    return sum(dy[x_used_row[p], k] for p in range(x_used_start[u], x_used_start[u + 1]))


@each(FullyConnected.y, over=FullyConnected.x, kind="SPARSE")
def fc_y_sparse(n, k, x_start, x_id, x_value, weight):
    return sum(x_value[p] * weight[x_id[p], k] for p in range(x_start[n], x_start[n + 1]))


@gradient(FullyConnected.weight, over=FullyConnected.x, kind="SPARSE", used=FullyConnected.x)
def fc_dweight_sparse(u, k, dy, x_used_start, x_used_row, x_used_value):
    return sum(x_used_value[p] * dy[x_used_row[p], k] for p in range(x_used_start[u], x_used_start[u + 1]))


@onnx(FullyConnected)
def fc_onnx(graph, x, weight, bias, axis):
    kept = x[0].dims[: place_of_axis(axis, x[0]) - 1]
    if len(x) == 1 and not kept:
        # Gemm multiplies matrices only; with leading axes MatMul broadcasts.
        return graph.Gemm(graph.flat(x[0]), weight[0], bias)
    columns = [one.size // math.prod(kept) for one in x]
    products = [
        graph.MatMul(graph.shaped(one, *kept, width), own) for one, width, own in zip(x, columns, weight, strict=True)
    ]
    if len(x) == 1:
        return products[0] if bias is None else graph.Add(products[0], bias)
    return graph.Sum(*products) if bias is None else graph.Sum(*products, bias)


@layer(
    "selective_fc",
    elsewhere={"Paddle": "selective_fc"},
    terms=("selected for each sample", "selective fully connected layer"),
    since=1,
)
class SelectiveFullyConnected:
    """Fully connected layer that computes only the output columns selected for each sample.

    `y[n, k] = sum_c x[n, c] * weight[k, c] + bias[k]` for the columns k set in row n of `selected`, and `others` in all
    other columns, which have no gradient; that of the weight has only the rows in use. If a `softmax` follows, set
    `others` to a large negative number. For rows with only the selected columns, as in Paddle, see `selected_scores`,
    which also accepts several and sparse inputs. In Paddle `size` repeats the number of columns.
    """

    x = Input("N C", "feature vectors: samples, tokens, images", seq=(0, 1, 2))
    selected = Input("N K", "output columns to compute for each sample", kinds=("SPARSE_INT",), seq=(0, 1, 2))
    # Outputs by inputs: a selected column is a contiguous row, and the sparse gradient consists of such rows.
    weight = Param("K C", "one row per output", init="xavier")
    bias = Param("K", "bias of the selected columns", init="zero")
    y = Output("N K", "the selected columns, `others` in the rest")
    others = Float("value of the columns that are not selected", default=0.0)
    examples = (
        Example(x="3", selected="sparse ids 6"),
        Example(x="sequence of 2", selected="sequence of sparse ids 4", others=-100.0),
    )


@fill(SelectiveFullyConnected.y, per="N")
def selective_fc_y(n, y, x, weight, bias, others, selected_start, selected_id, C, K):
    # First a constant row, so that the columns that are not selected cost no product.
    for k in range(K):
        y[n, k] = others
    for p in range(selected_start[n], selected_start[n + 1]):
        k = selected_id[p]
        total = bias[k]
        for c in range(C):
            total += x[n, c] * weight[k, c]
        y[n, k] = total


@gradient(SelectiveFullyConnected.x)
def selective_fc_dx(n, c, dy, weight, selected_start, selected_id):
    total = 0.0
    for p in range(selected_start[n], selected_start[n + 1]):
        total += dy[n, selected_id[p]] * weight[selected_id[p], c]
    return total


@gradient(SelectiveFullyConnected.weight, used=SelectiveFullyConnected.selected)
def selective_fc_dweight(u, c, dy, x, selected_used_id, selected_used_start, selected_used_row):
    total = 0.0
    for p in range(selected_used_start[u], selected_used_start[u + 1]):
        n = selected_used_row[p]
        total += dy[n, selected_used_id[u]] * x[n, c]
    return total


@gradient(SelectiveFullyConnected.bias, used=SelectiveFullyConnected.selected)
def selective_fc_dbias(u, dy, selected_used_id, selected_used_start, selected_used_row):
    total = 0.0
    for p in range(selected_used_start[u], selected_used_start[u + 1]):
        total += dy[selected_used_row[p], selected_used_id[u]]
    return total


@onnx(SelectiveFullyConnected)
def selective_fc_onnx(graph, x, selected, weight, bias, others):
    return graph.Where(graph.Equal(selected, 0.0), others, graph.Gemm(x, weight, bias, transB=1))


@layer(
    "selected_scores",
    elsewhere={"Paddle": "selective_fc"},
    terms=("selected for each sample", "selective fully connected layer"),
    since=1,
)
class SelectedScores:
    """Fully connected layer that returns only the output columns selected for each sample, as a sequence of scores.

    The sequence of sample n has `sum_i sum_c x_i[n, c] * weight_i[k, c] + bias[k]` for each column k set in row n of
    `selected`, in its order. `selective_fc` returns all columns instead; with many columns, this layer needs time and
    memory only for the selected ones, and the gradients of `weight` and `bias` have only the rows in use. The gradient
    of a sparse input's weight searches every column in the row: suitable for inputs of some thousand columns; with
    more, add an `fc` before the layer. It is Paddle's `selective_fc` with rows of the selected columns;
    `sequence_softmax` computes probabilities from it.
    """

    x = Input(
        "N C_i", "feature vectors: samples, tokens, images", repeatable=True, kinds=("DENSE", "SPARSE_INT", "SPARSE")
    )
    selected = Input("N K", "output columns to compute for each sample", kinds=("SPARSE_INT",))
    # Outputs by inputs, as in `selective_fc`.
    weight = Param("K C_i", "one row per column", per="x", init="xavier")
    bias = Param("K", "bias of the selected columns", init="zero")
    product = Temp("E:N", "the score without `bias`")
    y = Output("E:N 1", "one row per selected column")
    examples = (
        Example(x=["3"], selected="sparse ids 6"),
        Example(x=["1"], selected="sparse ids 4"),
        Example(x=["2", "sparse ids 5", "sparse 4"], selected="sparse ids 3"),
    )


@starts(SelectedScores)
def selected_scores_starts(selected):
    return selected.start


@each(SelectedScores.product, over=SelectedScores.x)
def selected_scores_product(e, n, x, selected_id, weight):
    return sum(x[n, c] * weight[selected_id[e], c] for c in range(x.shape[1]))


@each(SelectedScores.product, over=SelectedScores.x, kind="SPARSE_INT")
def selected_scores_product_ids(e, n, x_start, x_id, selected_id, weight):
    return sum(weight[selected_id[e], x_id[p]] for p in range(x_start[n], x_start[n + 1]))


@each(SelectedScores.product, over=SelectedScores.x, kind="SPARSE")
def selected_scores_product_sparse(e, n, x_start, x_id, x_value, selected_id, weight):
    return sum(x_value[p] * weight[selected_id[e], x_id[p]] for p in range(x_start[n], x_start[n + 1]))


@each(SelectedScores.y)
def selected_scores_y(e, product, bias, selected_id):
    return product[e] + bias[selected_id[e]]


@gradient(SelectedScores.x, over=SelectedScores.x)
def selected_scores_dx(n, c, dy, weight, selected_id, E_start):
    return sum(dy[e] * weight[selected_id[e], c] for e in range(E_start[n], E_start[n + 1]))


@gradient(SelectedScores.weight, over=SelectedScores.x, used=SelectedScores.selected)
def selected_scores_dweight(u, c, dy, x, selected_used_start, selected_used_row, selected_used_entry):
    total = 0.0
    for p in range(selected_used_start[u], selected_used_start[u + 1]):
        total += dy[selected_used_entry[p]] * x[selected_used_row[p], c]
    return total


@gradient(SelectedScores.weight, over=SelectedScores.x, kind="SPARSE_INT", used=SelectedScores.selected)
def selected_scores_dweight_ids(u, c, dy, x_start, x_id, selected_used_start, selected_used_row, selected_used_entry):
    total = 0.0
    for p in range(selected_used_start[u], selected_used_start[u + 1]):
        n = selected_used_row[p]
        for q in range(x_start[n], x_start[n + 1]):
            if x_id[q] == c:
                total += dy[selected_used_entry[p]]
    return total


@gradient(SelectedScores.weight, over=SelectedScores.x, kind="SPARSE", used=SelectedScores.selected)
def selected_scores_dweight_sparse(
    u, c, dy, x_start, x_id, x_value, selected_used_start, selected_used_row, selected_used_entry
):
    total = 0.0
    for p in range(selected_used_start[u], selected_used_start[u + 1]):
        n = selected_used_row[p]
        for q in range(x_start[n], x_start[n + 1]):
            if x_id[q] == c:
                total += x_value[q] * dy[selected_used_entry[p]]
    return total


@gradient(SelectedScores.bias, used=SelectedScores.selected)
def selected_scores_dbias(u, dy, selected_used_start, selected_used_entry):
    return sum(dy[selected_used_entry[p]] for p in range(selected_used_start[u], selected_used_start[u + 1]))
