"""Products, interpolation and similarity of vectors."""

import math

from paddle_layers.define import Example, Float, Input, Output, Temp, each, gradient, infer, layer, onnx, require


@layer(
    "scaling",
    elsewhere={"Paddle": "scaling"},
    terms=("scales each sample", "weight per sample", "multiply by attention weights"),
    since=1,
)
class Scaling:
    """Scales each sample by its own weight, as in attention: `y[n] = weight[n] * x[n]`.

    `mul` has the weight as the second input, and also broadcasts one weight per channel.
    """

    weight = Input("N 1", "weight per sample", seq=(0, 1, 2))
    x = Input("N ...", "feature vectors or images", seq=(0, 1, 2))
    y = Output("N ...", "same shape as `x`")
    examples = (
        Example(weight="1", x="4"),
        Example(weight="scalar", x="2x3x2"),
        Example(weight="sequence of 1", x="sequence of 3"),
    )


@each(Scaling.y)
def scaling_y(n, i, weight, x):
    return weight[n] * x[n, i]


@onnx(Scaling)
def scaling_onnx(graph, weight, x):
    return graph.Mul(x, graph.shaped(weight, *[1] * len(x.dims)))


@layer(
    "interpolation",
    elsewhere={"Paddle": "interpolation"},
    terms=("linear interpolation", "lerp"),
    since=1,
)
class Interpolation:
    """Linear interpolation of two vectors: `y[n] = weight[n] * a[n] + (1 - weight[n]) * b[n]`."""

    weight = Input("N 1", "weight of `a`, usually between 0 and 1", seq=(0, 1, 2))
    a = Input("N C", "first input", seq=(0, 1, 2))
    b = Input("N C", "second input", seq=(0, 1, 2))
    y = Output("N C", "weighted averages")
    examples = (
        Example(weight="1", a="4", b="4"),
        Example(weight="nested sequence of scalar", a="nested sequence of 2", b="nested sequence of 2"),
    )


@each(Interpolation.y)
def interpolation_y(n, c, weight, a, b):
    # Exact for weights of 0 and 1, unlike `b + weight * (a - b)`.
    return weight[n] * a[n, c] + (1.0 - weight[n]) * b[n, c]


@onnx(Interpolation)
def interpolation_onnx(graph, weight, a, b):
    share = graph.shaped(weight, 1)
    return graph.Add(graph.Mul(share, a), graph.Mul(graph.Sub(1.0, share), b))


@layer(
    "linear_comb",
    elsewhere={"Paddle": "convex_comb"},
    terms=("linear combination", "weighted sum"),
    since=1,
)
class LinearComb:
    """Linear combination of the K concatenated vectors of a row, with one weight per vector.

    `y[n, c] = sum_k weights[n, k] * vectors[n, k * C + c]`. The number of vectors equals the number of weights, so
    Paddle's `size` is derived; the combination is convex only if a `softmax` computes the weights.
    """

    weights = Input("N K", "weight of each vector", seq=(0, 1, 2))
    vectors = Input("N D", "K concatenated vectors", seq=(0, 1, 2))
    y = Output("N C", "weighted sums")
    examples = (
        Example(weights="3", vectors="6"),
        Example(weights="1", vectors="4"),
        Example(weights="sequence of 2", vectors="sequence of 2"),
    )


@infer(LinearComb)
def linear_comb_sizes(K, D):
    require(D % K == 0, "vectors", f"{D} columns cannot be cut into {K} vectors, one for each weight")
    return {"C": D // K}


@each(LinearComb.y)
def linear_comb_y(n, c, weights, vectors, K, C):
    return sum(weights[n, k] * vectors[n, k * C + c] for k in range(K))


@gradient(LinearComb.weights)
def linear_comb_dweights(n, k, dy, vectors, C):
    return sum(dy[n, c] * vectors[n, k * C + c] for c in range(C))


@gradient(LinearComb.vectors)
def linear_comb_dvectors(n, d, dy, weights, C):
    return dy[n, d % C] * weights[n, d // C]


@onnx(LinearComb)
def linear_comb_onnx(graph, weights, vectors, K, C):
    product = graph.MatMul(graph.shaped(weights, 1, K), graph.shaped(vectors, K, C))
    return graph.shaped(product, C)


@layer(
    "dot_prod",
    elsewhere={"Paddle": "dot_prod"},
    terms=("dot product", "inner product"),
    since=1,
)
class DotProd:
    """Dot product (inner product) of two vectors: `y[n] = sum_c a[n, c] * b[n, c]`."""

    a = Input("N C", "rows", seq=(0, 1, 2))
    b = Input("N C", "vectors of the same width", seq=(0, 1, 2))
    y = Output("N 1", "one value per sample")
    examples = (Example(a="4", b="4"), Example(a="sequence of 3", b="sequence of 3"))


@each(DotProd.y)
def dot_prod_y(n, a, b, C):
    return sum(a[n, c] * b[n, c] for c in range(C))


@onnx(DotProd)
def dot_prod_onnx(graph, a, b):
    return graph.ReduceSum(graph.Mul(a, b), [1], keepdims=1)


@layer("out_prod", elsewhere={"Paddle": "out_prod"}, terms=("outer product",), since=1)
class OutProd:
    """Outer product of two vectors, in row-major order: `y[n, c * D + d] = a[n, c] * b[n, d]`."""

    a = Input("N C", "vectors that index the rows of the matrix", seq=(0, 1, 2))
    b = Input("N D", "vectors that index the columns of the matrix", seq=(0, 1, 2))
    y = Output("N E", "C * D products")
    examples = (
        Example(a="2", b="3"),
        Example(a="1", b="2"),
        Example(a="nested sequence of 2", b="nested sequence of 2"),
    )


@infer(OutProd)
def out_prod_sizes(C, D):
    return {"E": C * D}


@each(OutProd.y)
def out_prod_y(n, e, a, b, D):
    return a[n, e // D] * b[n, e % D]


@gradient(OutProd.a)
def out_prod_da(n, c, dy, b, D):
    return sum(dy[n, c * D + d] * b[n, d] for d in range(D))


@gradient(OutProd.b)
def out_prod_db(n, d, dy, a, C, D):
    return sum(dy[n, c * D + d] * a[n, c] for c in range(C))


@onnx(OutProd)
def out_prod_onnx(graph, a, b, C, D):
    return graph.shaped(graph.Mul(graph.shaped(a, C, 1), graph.shaped(b, 1, D)), C * D)


@layer(
    "cos_sim",
    elsewhere={"Paddle": "cos, cos_vm", "Keras": "CosineSimilarity", "PyTorch": "CosineSimilarity"},
    terms=("cosine similarity",),
    since=1,
)
class CosSim:
    """Cosine similarity of a vector to one or more concatenated vectors of another row.

    `y[n, k] = scale * (a . b_k) / (|a| * |b_k|)`, where `b_k` are the columns of `b` from `k * C` on. If `b` has the
    width of `a` it is one vector; Paddle's name for several is `cos_vm`. The similarity to a zero vector is 0, and so
    is its gradient; Paddle fails there.
    """

    a = Input("N C", "rows", seq=(0, 1, 2))
    b = Input("N D", "K concatenated vectors, each of the width of `a`", seq=(0, 1, 2))
    y = Output("N K", "similarity to each vector")
    scale = Float("scale of the cosine", default=1.0, aliases=("cos_scale",))
    shrink_a = Temp("N", "inverse norm of the row, 0 for zeros")
    shrink_b = Temp("N K", "inverse norm of the vector, 0 for zeros")
    examples = (
        Example(a="4", b="4"),
        Example(a="2", b="6", scale=5.0),
        Example(a="sequence of 3", b="sequence of 3"),
    )


@infer(CosSim)
def cos_sim_sizes(C, D):
    require(D % C == 0, "b", f"{D} columns cannot be cut into vectors of {C} columns, as long as those of `a`")
    return {"K": D // C}


@each(CosSim.shrink_a)
def cos_sim_shrink_a(n, a, C):
    total = sum(a[n, c] * a[n, c] for c in range(C))
    # 0 for zeros: they are similar to nothing, where 0 / 0 would be NaN.
    return 1.0 / math.sqrt(total) if total > 0.0 else 0.0


@each(CosSim.shrink_b)
def cos_sim_shrink_b(n, k, b, C):
    total = sum(b[n, d] * b[n, d] for d in range(k * C, (k + 1) * C))
    return 1.0 / math.sqrt(total) if total > 0.0 else 0.0


@each(CosSim.y)
def cos_sim_y(n, k, a, b, shrink_a, shrink_b, C, scale):
    total = sum(a[n, c] * b[n, k * C + c] for c in range(C))
    return scale * total * shrink_a[n] * shrink_b[n, k]


@gradient(CosSim.a)
def cos_sim_da(n, c, dy, y, a, b, shrink_a, shrink_b, C, K, scale):
    total = 0.0
    for k in range(K):
        # The component along `a` is removed: its length does not matter.
        total += dy[n, k] * (scale * b[n, k * C + c] * shrink_b[n, k] - y[n, k] * a[n, c] * shrink_a[n])
    return total * shrink_a[n]


@gradient(CosSim.b)
def cos_sim_db(n, d, dy, y, a, b, shrink_a, shrink_b, C, scale):
    k = d // C
    return dy[n, k] * (scale * a[n, d % C] * shrink_a[n] - y[n, k] * b[n, d] * shrink_b[n, k]) * shrink_b[n, k]


@onnx(CosSim)
def cos_sim_onnx(graph, a, b, C, K, scale):
    a, b = graph.shaped(a, 1, C), graph.shaped(b, K, C)
    lengths = graph.Mul(graph.ReduceL2(a, [2], keepdims=0), graph.ReduceL2(b, [2], keepdims=0))
    products = graph.ReduceSum(graph.Mul(a, b), [2], keepdims=0)
    cosine = graph.Div(products, graph.Where(graph.Equal(lengths, 0.0), 1.0, lengths))  # zeros are similar to nothing
    return graph.Mul(cosine, scale)
