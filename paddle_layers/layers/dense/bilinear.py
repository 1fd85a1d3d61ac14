"""Bilinear layers and factorization machines."""

from paddle_layers.define import Bias, Example, Input, Int, Output, Param, Temp, each, gradient, layer, onnx


@layer(
    "tensor",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "tensor"},
    terms=("bilinear layer", "neural tensor layer", "Bilinear"),
    since=1,
)
class Tensor:
    """Bilinear (neural tensor) layer: `y[n, k] = sum_c sum_d a[n, c] * weight[k, c, d] * b[n, d] + bias[k]`.

    Paddle stores the weight with the outputs last.
    """

    a = Input("N C", "rows", seq=(0, 1, 2))
    b = Input("N D", "vectors, possibly of another width", seq=(0, 1, 2))
    weight = Param("K C D", "one matrix per output", init="xavier")
    bias = Bias("K")
    y = Output("N K", "`size` values per sample")
    size = Int("number of outputs", min=1, axis="K")
    examples = (
        Example(a="3", b="2", size=4),
        Example(a="1", b="3", size=1, bias=False, act="tanh"),
        Example(a="sequence of 2", b="sequence of 2", size=2),
    )


@each(Tensor.y)
def tensor_y(n, k, a, b, weight, C, D):
    return sum(a[n, c] * weight[k, c, d] * b[n, d] for c in range(C) for d in range(D))


@onnx(Tensor)
def tensor_onnx(graph, a, b, weight, bias, C, D, K):
    # One product for all outputs: C x (K * D) instead of K bilinear forms.
    mapped = graph.MatMul(a, weight.array.transpose(1, 0, 2).reshape(C, K * D))
    y = graph.ReduceSum(graph.Mul(graph.shaped(mapped, K, D), graph.shaped(b, 1, D)), [2], keepdims=0)
    return y if bias is None else graph.Add(y, bias)


@layer(
    "factorization_machine",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "factorization_machine"},
    terms=("factorization machine", "feature interactions"),
    since=1,
)
class FactorizationMachine:
    """Factorization machine: second-order interactions of all pairs of features with factorized weights.

    `y[n] = sum over pairs c < d of (factors[c] . factors[d]) * x[n, c] * x[n, d]` (Rendle 2010), computed as
    `1/2 sum_f ((sum_c x[n, c] * factors[c, f]) ** 2 - sum_c (x[n, c] * factors[c, f]) ** 2)`, which is linear in the
    number of factors. The linear part of the machine is an `fc` of size 1, to be added. A sparse row costs in
    proportion to its entries, and may name a column only once.
    """

    x = Input("N C", "feature vectors: samples, tokens, images", kinds=("DENSE", "SPARSE_INT", "SPARSE"), seq=(0, 1, 2))
    factors = Param("C F", "one vector per column", init=("gaussian", {"std": 0.1}))
    y = Output("N 1", "one value per sample")
    factor_size = Int("rank of the factorization: length of the vectors", min=1, axis="F")
    mixed = Temp("N F", "sum of the vectors of the columns, weighted by the sample")
    examples = (
        Example(x="5", factor_size=3),
        Example(x="1", factor_size=2, act="sigmoid"),
        Example(x="sequence of 4", factor_size=1),
        Example(x="sparse ids 6", factor_size=2),
        Example(x="sparse 5", factor_size=3),
    )


@each(FactorizationMachine.mixed, over=FactorizationMachine.x)
def factorization_machine_mixed(n, f, x, factors, C):
    # Shared by all columns: with it the time is linear in the number of columns, not quadratic.
    return sum(x[n, c] * factors[c, f] for c in range(C))


@each(FactorizationMachine.y, over=FactorizationMachine.x)
def factorization_machine_y(n, x, factors, mixed, C, F):
    total = 0.0
    for f in range(F):
        for c in range(C):
            part = x[n, c] * factors[c, f]
            # Each column times the sum of the others: the difference of squares of the definition would cancel.
            total += 0.5 * part * (mixed[n, f] - part)
    return total


@gradient(FactorizationMachine.x, over=FactorizationMachine.x)
def factorization_machine_dx(n, c, dy, x, factors, mixed, F):
    total = sum(factors[c, f] * (mixed[n, f] - x[n, c] * factors[c, f]) for f in range(F))
    return dy[n] * total


@gradient(FactorizationMachine.factors, over=FactorizationMachine.x)
def factorization_machine_dfactors(c, f, dy, x, factors, mixed, N):
    return sum(dy[n] * x[n, c] * (mixed[n, f] - x[n, c] * factors[c, f]) for n in range(N))


@each(FactorizationMachine.mixed, over=FactorizationMachine.x, kind="SPARSE_INT")
def factorization_machine_mixed_ids(n, f, x_start, x_id, factors):
    return sum(factors[x_id[p], f] for p in range(x_start[n], x_start[n + 1]))


@each(FactorizationMachine.y, over=FactorizationMachine.x, kind="SPARSE_INT")
def factorization_machine_y_ids(n, x_start, x_id, factors, mixed, F):
    total = 0.0
    for p in range(x_start[n], x_start[n + 1]):
        for f in range(F):
            part = factors[x_id[p], f]
            total += 0.5 * part * (mixed[n, f] - part)
    return total


@gradient(FactorizationMachine.factors, over=FactorizationMachine.x, kind="SPARSE_INT", used=FactorizationMachine.x)
def factorization_machine_dfactors_ids(u, f, dy, factors, mixed, x_used_id, x_used_start, x_used_row):
    # Grouped by column: `x_used_*` lists the rows that name column `u`.
    own = factors[x_used_id[u], f]
    total = 0.0
    for p in range(x_used_start[u], x_used_start[u + 1]):
        total += dy[x_used_row[p]] * (mixed[x_used_row[p], f] - own)
    return total


@each(FactorizationMachine.mixed, over=FactorizationMachine.x, kind="SPARSE")
def factorization_machine_mixed_sparse(n, f, x_start, x_id, x_value, factors):
    return sum(x_value[p] * factors[x_id[p], f] for p in range(x_start[n], x_start[n + 1]))


@each(FactorizationMachine.y, over=FactorizationMachine.x, kind="SPARSE")
def factorization_machine_y_sparse(n, x_start, x_id, x_value, factors, mixed, F):
    total = 0.0
    for p in range(x_start[n], x_start[n + 1]):
        for f in range(F):
            part = x_value[p] * factors[x_id[p], f]
            total += 0.5 * part * (mixed[n, f] - part)
    return total


@gradient(FactorizationMachine.factors, over=FactorizationMachine.x, kind="SPARSE", used=FactorizationMachine.x)
def factorization_machine_dfactors_sparse(u, f, dy, factors, mixed, x_used_id, x_used_start, x_used_row, x_used_value):
    own = factors[x_used_id[u], f]
    total = 0.0
    for p in range(x_used_start[u], x_used_start[u + 1]):
        value = x_used_value[p]
        total += dy[x_used_row[p]] * value * (mixed[x_used_row[p], f] - value * own)
    return total


@onnx(FactorizationMachine)
def factorization_machine_onnx(graph, x, factors):
    # By the difference of squares, in two products of matrices; it cancels more than the sum of the layer.
    mixed = graph.MatMul(x, factors)
    alone = graph.MatMul(graph.Mul(x, x), factors.array * factors.array)
    return graph.Mul(graph.ReduceSum(graph.Sub(graph.Mul(mixed, mixed), alone), [1], keepdims=1), 0.5)
