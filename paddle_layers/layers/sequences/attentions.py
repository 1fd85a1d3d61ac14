"""Attention: rows of sequences look at the rows of others."""

import math

from paddle_layers.define import (
    Bool,
    Example,
    Float,
    Input,
    Int,
    Output,
    Temp,
    each,
    gradient,
    infer,
    layer,
    onnx,
    real,
    require,
)


@layer(
    "multi_head_attention",
    elsewhere={"ONNX": "Attention", "Keras": "MultiHeadAttention", "PyTorch": "MultiheadAttention"},
    since=1,
)
class MultiHeadAttention:
    """Every row of `query` gets the mean of the rows of `values` in its sequence, weighted by how well the keys fit.

    For each head, `y[t] = sum_k p[t, k] * values[k]` with `p[t] = softmax_k(scale * query[t] . keys[k])`, over the
    keys of the same sample (Vaswani et al. 2017). The columns of all inputs are cut into `num_heads` equal parts, one
    after the other. Give one layer three times for attention of a sequence to itself; the keys may as well be those of
    sequences with other lengths. Sequences lie end to end, so there is no padding and no mask.

    Nothing is projected: put an `fc` before every input and behind the output, as Paddle's `multi_head_attention`
    network does. Where there is no key at all the output is zero; torch gives NaN. The probabilities are never stored:
    the largest score and the logarithm of the denominator are kept and they are computed again (Dao 2023).
    """

    query = Input("T:S D", "what each row looks for", seq=(1,))
    keys = Input("K:R D", "what each row is found by", seq=(1,))
    values = Input("K:R E", "what each row contributes", seq=(1,))
    y = Output("T:S E", "a row for each row of `query`")
    num_heads = Int("parts into which the columns are cut", default=1, min=1, axis="H")
    causal = Bool("the row at a place sees keys up to the same place in their sequence only", default=False)
    scale = Float("factor of the products; when absent: one over the root of a head's columns", optional=True)
    peak = Temp("T H", "largest score")
    norm = Temp("T H", "logarithm of the sum of the exponentials, the largest one being 1")
    delta = Temp("T H", "mean of the gradients of the probabilities, weighted by them")
    examples = (
        Example(query="sequence of 2", keys="sequence of 2", values="sequence of 3"),
        Example(query="sequence of 6", keys="sequence of 6", values="sequence of 4", num_heads=2, causal=True),
        Example(query="sequence of 3", keys="sequence of 3", values="sequence of 3", num_heads=3, scale=1.5),
    )


@infer(MultiHeadAttention)
def multi_head_attention_sizes(D, E, H):
    check_heads(D, E, H)
    return {}


def check_heads(D, E, H):
    """Raises `ShapeError` where columns cannot be cut into heads."""
    require(D % H == 0, "num_heads", f"{D} columns of `query` cannot be cut into {H} equal heads")
    require(E % H == 0, "num_heads", f"{E} columns of `values` cannot be cut into {H} equal heads")


@each(MultiHeadAttention.peak, MultiHeadAttention.norm)
def multi_head_attention_moments(t, h, s, query, keys, S_start, R_start, D, H, causal, scale):
    width = D // H
    factor = 1.0 / math.sqrt(real(width)) if scale is None else scale
    peak = -math.inf
    total = 0.0
    for k in range(R_start[s], R_start[s + 1]):
        if not causal or k - R_start[s] <= t - S_start[s]:
            score = 0.0
            for d in range(h * width, (h + 1) * width):
                score += query[t, d] * keys[k, d]
            score *= factor
            if score > peak:
                total = total * math.exp(peak - score) + 1.0
                peak = score
            else:
                total += math.exp(score - peak)
    # Kept apart, since large scores would take the digits of the logarithm, and the weights would not add up to one.
    return peak, 0.0 if total == 0.0 else math.log(total)


@each(MultiHeadAttention.y)
def multi_head_attention_y(t, e, s, query, keys, values, peak, norm, S_start, R_start, D, E, H, causal, scale):
    width = D // H
    factor = 1.0 / math.sqrt(real(width)) if scale is None else scale
    h = e // (E // H)
    total = 0.0
    for k in range(R_start[s], R_start[s + 1]):
        if not causal or k - R_start[s] <= t - S_start[s]:
            score = 0.0
            for d in range(h * width, (h + 1) * width):
                score += query[t, d] * keys[k, d]
            total += math.exp(factor * score - peak[t, h] - norm[t, h]) * values[k, e]
    return total


@each(MultiHeadAttention.delta)
def multi_head_attention_delta(t, h, dy, y, E, H):
    total = 0.0
    for e in range(h * (E // H), (h + 1) * (E // H)):
        total += dy[t, e] * y[t, e]
    return total


@gradient(MultiHeadAttention.query)
def multi_head_attention_dquery(
    t, d, s, dy, query, keys, values, peak, norm, delta, S_start, R_start, D, E, H, causal, scale
):
    width = D // H
    depth = E // H
    factor = 1.0 / math.sqrt(real(width)) if scale is None else scale
    h = d // width
    total = 0.0
    for k in range(R_start[s], R_start[s + 1]):
        if not causal or k - R_start[s] <= t - S_start[s]:
            score = 0.0
            for j in range(h * width, (h + 1) * width):
                score += query[t, j] * keys[k, j]
            derivative = -delta[t, h]
            for e in range(h * depth, (h + 1) * depth):
                derivative += dy[t, e] * values[k, e]
            total += math.exp(factor * score - peak[t, h] - norm[t, h]) * derivative * keys[k, d]
    return factor * total


@gradient(MultiHeadAttention.keys)
def multi_head_attention_dkeys(
    k, d, r, dy, query, keys, values, peak, norm, delta, S_start, R_start, D, E, H, causal, scale
):
    width = D // H
    depth = E // H
    factor = 1.0 / math.sqrt(real(width)) if scale is None else scale
    h = d // width
    total = 0.0
    for t in range(S_start[r], S_start[r + 1]):
        if not causal or k - R_start[r] <= t - S_start[r]:
            score = 0.0
            for j in range(h * width, (h + 1) * width):
                score += query[t, j] * keys[k, j]
            derivative = -delta[t, h]
            for e in range(h * depth, (h + 1) * depth):
                derivative += dy[t, e] * values[k, e]
            total += math.exp(factor * score - peak[t, h] - norm[t, h]) * derivative * query[t, d]
    return factor * total


@gradient(MultiHeadAttention.values)
def multi_head_attention_dvalues(k, e, r, dy, query, keys, peak, norm, S_start, R_start, D, E, H, causal, scale):
    width = D // H
    factor = 1.0 / math.sqrt(real(width)) if scale is None else scale
    h = e // (E // H)
    total = 0.0
    for t in range(S_start[r], S_start[r + 1]):
        if not causal or k - R_start[r] <= t - S_start[r]:
            score = 0.0
            for d in range(h * width, (h + 1) * width):
                score += query[t, d] * keys[k, d]
            total += math.exp(factor * score - peak[t, h] - norm[t, h]) * dy[t, e]
    return total


@onnx(MultiHeadAttention)
def multi_head_attention_onnx(graph, query, keys, values, K_mask, D, E, H, causal, scale):
    width = D // H
    factor = 1.0 / math.sqrt(width) if scale is None else scale
    mask = graph.Unsqueeze(K_mask, [1, 2])
    values = graph.Where(graph.Unsqueeze(K_mask, [2]), values, 0.0)
    own, others = (graph.Reshape(one, [0, 0, H, width]) for one in (query, keys))
    heads = graph.Transpose(graph.Reshape(values, [0, 0, H, E // H]), perm=[0, 2, 1, 3])
    own, others = graph.Transpose(own, perm=[0, 2, 1, 3]), graph.Transpose(others, perm=[0, 2, 3, 1])
    scores = graph.Mul(graph.MatMul(own, others), factor)
    if causal:
        seen = graph.LessOrEqual(graph.places(keys), graph.Unsqueeze(graph.places(query), [1]))
        mask = graph.And(mask, seen)
    weights = graph.Softmax(graph.Where(mask, scores, -math.inf), axis=3)
    weights = graph.Where(mask, weights, 0.0)  # without any key the softmax is NaN
    return graph.Reshape(graph.Transpose(graph.MatMul(weights, heads), perm=[0, 2, 1, 3]), [0, 0, E])
