"""Affine maps of rows."""

from paddle_layers.define import Bias, Example, Input, Int, Output, Param, each, gradient, layer


@layer(
    "fc",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "fc", "Caffe": "InnerProduct", "Mocha": "InnerProductLayer", "KUnet": "Mmul", "ONNX": "Gemm"},
    since=1,
)
class FullyConnected:
    """Affine map of every row: the sum of `x @ weight` over the inputs, plus `bias`.

    `y[n, k] = sum_i sum_c x_i[n, c] * weight_i[c, k] + bias[k]`

    An image is taken as it is, its axes side by side, channels first. Rows of a sequence are mapped one by one.
    Sparse rows cost as much as they have entries, and the gradient of their weights has only the rows in use.
    Paddle takes several inputs, each with a weight of its own, as here; the other systems take one. Caffe and KUnet
    store the weight transposed.
    """

    x = Input("N C_i...", "rows of features", repeatable=True, kinds=("DENSE", "SPARSE_INT", "SPARSE"), seq=(0, 1, 2))
    weight = Param("C_i K", "one column per output", per="x", init="xavier")
    bias = Bias("K")
    y = Output("N K", "`size` values per row")
    size = Int("number of outputs", min=1, axis="K", aliases=("num_output",))
    examples = (
        Example(x=["7"], size=5),
        Example(x=["2x3x2"], size=3, act="tanh"),
        Example(x=["4", "sparse ids 9", "sparse 6"], size=2, bias=False),
        Example(x=["sequence of 3"], size=4, act="relu"),
    )


@each(FullyConnected.y, over=FullyConnected.x)
def fc_y(n, k, x, weight):
    total = 0.0
    for c in range(x.shape[1]):
        total += x[n, c] * weight[c, k]
    return total


@gradient(FullyConnected.x, over=FullyConnected.x)
def fc_dx(n, c, dy, weight, K):
    total = 0.0
    for k in range(K):
        total += dy[n, k] * weight[c, k]
    return total


@gradient(FullyConnected.weight, over=FullyConnected.x)
def fc_dweight(c, k, dy, x, N):
    total = 0.0
    for n in range(N):
        total += x[n, c] * dy[n, k]
    return total


@each(FullyConnected.y, over=FullyConnected.x, kind="SPARSE_INT")
def fc_y_ids(n, k, x_start, x_id, weight):
    total = 0.0
    for p in range(x_start[n], x_start[n + 1]):
        total += weight[x_id[p], k]
    return total


@gradient(FullyConnected.weight, over=FullyConnected.x, kind="SPARSE_INT", used=FullyConnected.x)
def fc_dweight_ids(u, k, dy, x_used_start, x_used_row):
    total = 0.0
    for p in range(x_used_start[u], x_used_start[u + 1]):
        total += dy[x_used_row[p], k]
    return total


@each(FullyConnected.y, over=FullyConnected.x, kind="SPARSE")
def fc_y_sparse(n, k, x_start, x_id, x_value, weight):
    total = 0.0
    for p in range(x_start[n], x_start[n + 1]):
        total += x_value[p] * weight[x_id[p], k]
    return total


@gradient(FullyConnected.weight, over=FullyConnected.x, kind="SPARSE", used=FullyConnected.x)
def fc_dweight_sparse(u, k, dy, x_used_start, x_used_row, x_used_value):
    total = 0.0
    for p in range(x_used_start[u], x_used_start[u + 1]):
        total += x_used_value[p] * dy[x_used_row[p], k]
    return total
