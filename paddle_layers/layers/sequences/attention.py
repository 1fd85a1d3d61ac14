"""Multi-head attention."""

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
    terms=(
        "multi-head attention",
        "self-attention",
        "cross-attention",
        "scaled dot-product attention",
        "FlashAttention",
    ),
    since=1,
)
class MultiHeadAttention:
    """Multi-head scaled dot-product attention over sequences of any length, without padding or masks.

    For each head, `y[t] = sum_k p[t, k] * values[k]` with `p[t] = softmax_k(scale * query[t] . keys[k])`, over the keys
    of the same sample (Vaswani et al. 2017). The columns of all inputs are split into `num_heads` consecutive heads of
    equal size. For self-attention pass one layer three times; for cross-attention the keys may be sequences of other
    lengths. Sequences are concatenated, so there is no padding and no mask.

    It has no parameters: add an `fc` before every input and after the output, as Paddle's `multi_head_attention`
    network does; `transformer_block` includes them. Without any key the output is zero; PyTorch returns NaN. The
    attention matrix is never stored: the maximum and the logarithm of the denominator are kept, and the probabilities
    are recomputed in the backward pass (FlashAttention, Dao 2023).
    """

    query = Input("T:S D", "queries", seq=(1,))
    keys = Input("K:R D", "keys that the queries are compared with", seq=(1,))
    values = Input("K:R E", "values that are averaged", seq=(1,))
    y = Output("T:S E", "one vector per query")
    num_heads = Int("number of attention heads", default=1, min=1, axis="H")
    causal = Bool("causal mask: a position attends only to keys at the same or earlier positions", default=False)
    scale = Float("scale of the dot products; if absent, one over the square root of the head size", optional=True)
    peak = Temp("T H", "maximum score")
    norm = Temp("T H", "logarithm of the sum of the exponentials, relative to the maximum")
    delta = Temp("T H", "mean of the gradients of the probabilities, weighted by the probabilities")
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
        # Positions count from the start of the sequence, for queries and keys.
        if not causal or k - R_start[s] <= t - S_start[s]:
            score = 0.0
            for d in range(h * width, (h + 1) * width):
                score += query[t, d] * keys[k, d]
            score *= factor
            # Online softmax (Milakov and Gimelshein 2018): one pass over the keys, without memory for the scores.
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
    # Equal to the sum over keys of the probability times its gradient, but without reading the keys.
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
            # The Jacobian of softmax: the gradient of a probability minus their weighted mean.
            derivative = -delta[t, h]
            for e in range(h * depth, (h + 1) * depth):
                derivative += dy[t, e] * values[k, e]
            total += math.exp(factor * score - peak[t, h] - norm[t, h]) * derivative * keys[k, d]
    # The scale is common to all terms.
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
    # 0 times NaN or infinity in the padding would be NaN.
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
