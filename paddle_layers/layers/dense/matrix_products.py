"""Matrix products of two values."""

from paddle_layers.define import Example, Input, Output, each, layer, onnx


@layer(
    "matmul",
    elsewhere={"ONNX": "MatMul", "PyTorch": "matmul", "Keras": "matmul"},
    terms=("matrix product", "batched matrix multiplication", "attention scores"),
    since=1,
)
class MatMul:
    """Matrix product of two inputs: `y[m, p] = sum_k x[m, k] * other[k, p]` for each sample.

    The last two axes are those of the matrices. Axes before them, such as the heads of attention, are the same in both
    inputs; each has its own product. For a learned matrix see `fc`, for vectors `dot_prod` and `out_prod`, for
    attention `multi_head_attention`. To transpose a matrix, use `permute`.
    """

    x = Input("N B... M K", "left matrices", seq=(0, 1, 2))
    other = Input("N B... K P", "right matrices, with as many rows as the left ones have columns", seq=(0, 1, 2))
    y = Output("N B... M P", "products")
    examples = (
        Example(x="2x3", other="3x4"),
        Example(x="3x2x5", other="3x5x4"),
        Example(x="2x3x1x4", other="2x3x4x1"),
        Example(x="sequence of 2x3", other="sequence of 3x2"),
    )


@each(MatMul.y)
def matmul_y(n, b, m, p, x, other, K):
    return sum(x[n, b, m, k] * other[n, b, k, p] for k in range(K))


@onnx(MatMul)
def matmul_onnx(graph, x, other):
    return graph.MatMul(x, other)
