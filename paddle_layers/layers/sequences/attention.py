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
    helper,
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
        "grouped-query attention",
        "multi-query attention",
        "GroupedQueryAttention",
        "FlashAttention",
    ),
    since=1,
)
class MultiHeadAttention:
    """Multi-head scaled dot-product attention over sequences of any length, without padding or masks.

    For each head, `y[t] = sum_k p[t, k] * values[k]` with `p[t] = softmax_k(scale * query[t] . keys[k])`, over the keys
    of the same sample (Vaswani et al. 2017). The columns of all inputs are split into `num_heads` consecutive heads of
    equal size. For self-attention pass one layer three times; for cross-attention the keys may be sequences of other
    lengths. Sequences are concatenated, so there is no padding and no mask. With `num_kv_heads`, keys and values have
    fewer heads, each of which serves `num_heads / num_kv_heads` consecutive heads of the queries: grouped-query
    attention (Ainslie et al. 2023), or multi-query attention with 1. Nothing is copied.

    It has no parameters: add an `fc` before every input and after the output, as Paddle's `multi_head_attention`
    network does; `transformer_block` includes them. Without any key the output is zero; PyTorch returns NaN. The
    attention matrix is never stored: the maximum and the logarithm of the denominator are kept, and the probabilities
    are recomputed in the backward pass (FlashAttention, Dao 2023).
    """

    query = Input("T:S D", "queries", seq=(1,))
    keys = Input("K:R F", "keys that the queries are compared with", seq=(1,))
    values = Input("K:R E", "values that are averaged", seq=(1,))
    y = Output("T:S G", "one vector per query")
    num_heads = Int("number of attention heads", default=1, min=1, axis="H")
    num_kv_heads = Int("number of heads of keys and values; if absent, `num_heads`", min=1, optional=True)
    causal = Bool("causal mask: a position attends only to keys at the same or earlier positions", default=False)
    scale = Float("scale of the dot products; if absent, one over the square root of the head size", optional=True)
    peak = Temp("T H", "maximum score")
    norm = Temp("T H", "logarithm of the sum of the exponentials, relative to the maximum")
    delta = Temp("T H", "mean of the gradients of the probabilities, weighted by the probabilities")
    examples = (
        Example(query="sequence of 2", keys="sequence of 2", values="sequence of 3"),
        Example(query="sequence of 6", keys="sequence of 6", values="sequence of 4", num_heads=2, causal=True),
        Example(query="sequence of 3", keys="sequence of 3", values="sequence of 3", num_heads=3, scale=1.5),
        Example(
            query="sequence of 8",
            keys="sequence of 4",
            values="sequence of 2",
            num_heads=4,
            num_kv_heads=2,
            causal=True,
        ),
    )


@infer(MultiHeadAttention)
def multi_head_attention_sizes(D, F, E, H, num_kv_heads):
    groups = check_heads(D, F, E, H, num_kv_heads)
    return {"G": E * groups}


def check_heads(D, F, E, H, num_kv_heads):
    """The number of heads of queries per head of keys; raises `ShapeError` where columns cannot be cut into heads."""
    kv_heads = H if num_kv_heads is None else num_kv_heads
    require(D % H == 0, "num_heads", f"{D} columns of `query` cannot be cut into {H} equal heads")
    require(H % kv_heads == 0, "num_kv_heads", f"`num_kv_heads` is {kv_heads}, which does not divide {H} heads")
    require(E % kv_heads == 0, "num_heads", f"{E} columns of `values` cannot be cut into {kv_heads} equal heads")
    expected = D // H * kv_heads
    place = f"`keys` has {F} columns, but {kv_heads} heads of the size of `query` have {expected}"
    require(expected == F, "keys", place)
    return H // kv_heads


@helper
def kv_shift(h, groups, size):
    """Offset of the columns of a head in keys or values, whose heads have this size, from those of the queries."""
    return (h // groups - h) * size


@each(MultiHeadAttention.peak, MultiHeadAttention.norm)
def multi_head_attention_moments(t, h, s, query, keys, S_start, R_start, D, H, num_kv_heads, causal, scale):
    width = D // H
    groups = 1 if num_kv_heads is None else H // num_kv_heads
    shift = kv_shift(h, groups, width)
    factor = 1.0 / math.sqrt(real(width)) if scale is None else scale
    peak = -math.inf
    total = 0.0
    for k in range(R_start[s], R_start[s + 1]):
        # Positions count from the start of the sequence, for queries and keys.
        if not causal or k - R_start[s] <= t - S_start[s]:
            score = sum(query[t, d] * keys[k, d + shift] for d in range(h * width, (h + 1) * width))
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
def multi_head_attention_y(
    t, g, s, query, keys, values, peak, norm, S_start, R_start, D, G, H, num_kv_heads, causal, scale
):
    width = D // H
    groups = 1 if num_kv_heads is None else H // num_kv_heads
    factor = 1.0 / math.sqrt(real(width)) if scale is None else scale
    h = g // (G // H)
    shift = kv_shift(h, groups, width)
    e = g + kv_shift(h, groups, G // H)
    total = 0.0
    for k in range(R_start[s], R_start[s + 1]):
        if not causal or k - R_start[s] <= t - S_start[s]:
            score = sum(query[t, d] * keys[k, d + shift] for d in range(h * width, (h + 1) * width))
            total += math.exp(factor * score - peak[t, h] - norm[t, h]) * values[k, e]
    return total


@each(MultiHeadAttention.delta)
def multi_head_attention_delta(t, h, dy, y, G, H):
    # Equal to the sum over keys of the probability times its gradient, but without reading the keys.
    return sum(dy[t, g] * y[t, g] for g in range(h * (G // H), (h + 1) * (G // H)))


@gradient(MultiHeadAttention.query)
def multi_head_attention_dquery(
    t, d, s, dy, query, keys, values, peak, norm, delta, S_start, R_start, D, G, H, num_kv_heads, causal, scale
):
    width = D // H
    groups = 1 if num_kv_heads is None else H // num_kv_heads
    depth = G // H
    factor = 1.0 / math.sqrt(real(width)) if scale is None else scale
    h = d // width
    shift = kv_shift(h, groups, width)
    value_shift = kv_shift(h, groups, depth)
    total = 0.0
    for k in range(R_start[s], R_start[s + 1]):
        if not causal or k - R_start[s] <= t - S_start[s]:
            score = sum(query[t, j] * keys[k, j + shift] for j in range(h * width, (h + 1) * width))
            # The Jacobian of softmax: the gradient of a probability minus their weighted mean.
            derivative = -delta[t, h]
            for g in range(h * depth, (h + 1) * depth):
                derivative += dy[t, g] * values[k, g + value_shift]
            total += math.exp(factor * score - peak[t, h] - norm[t, h]) * derivative * keys[k, d + shift]
    # The scale is common to all terms.
    return factor * total


@gradient(MultiHeadAttention.keys)
def multi_head_attention_dkeys(
    k, f, r, dy, query, keys, values, peak, norm, delta, S_start, R_start, D, G, H, num_kv_heads, causal, scale
):
    width = D // H
    depth = G // H
    groups = 1 if num_kv_heads is None else H // num_kv_heads
    factor = 1.0 / math.sqrt(real(width)) if scale is None else scale
    total = 0.0
    # All heads of the queries that share this head of the keys.
    for h in range(f // width * groups, (f // width + 1) * groups):
        shift = kv_shift(h, groups, width)
        value_shift = kv_shift(h, groups, depth)
        for t in range(S_start[r], S_start[r + 1]):
            if not causal or k - R_start[r] <= t - S_start[r]:
                score = sum(query[t, j] * keys[k, j + shift] for j in range(h * width, (h + 1) * width))
                derivative = -delta[t, h]
                for g in range(h * depth, (h + 1) * depth):
                    derivative += dy[t, g] * values[k, g + value_shift]
                total += math.exp(factor * score - peak[t, h] - norm[t, h]) * derivative * query[t, f - shift]
    return factor * total


@gradient(MultiHeadAttention.values)
def multi_head_attention_dvalues(
    k, e, r, dy, query, keys, peak, norm, S_start, R_start, D, G, H, num_kv_heads, causal, scale
):
    width = D // H
    depth = G // H
    groups = 1 if num_kv_heads is None else H // num_kv_heads
    factor = 1.0 / math.sqrt(real(width)) if scale is None else scale
    total = 0.0
    for h in range(e // depth * groups, (e // depth + 1) * groups):
        shift = kv_shift(h, groups, width)
        value_shift = kv_shift(h, groups, depth)
        for t in range(S_start[r], S_start[r + 1]):
            if not causal or k - R_start[r] <= t - S_start[r]:
                score = sum(query[t, d] * keys[k, d + shift] for d in range(h * width, (h + 1) * width))
                total += math.exp(factor * score - peak[t, h] - norm[t, h]) * dy[t, e - value_shift]
    return total


@onnx(MultiHeadAttention)
def multi_head_attention_onnx(graph, query, keys, values, K_mask, D, E, G, H, num_kv_heads, causal, scale):
    width, kv_heads = D // H, H if num_kv_heads is None else num_kv_heads
    factor = 1.0 / math.sqrt(width) if scale is None else scale
    mask = graph.Unsqueeze(K_mask, [1, 2] if num_kv_heads is None else [1, 2, 3])
    # 0 times NaN or infinity in the padding would be NaN.
    values = graph.Where(graph.Unsqueeze(K_mask, [2]), values, 0.0)
    # With groups, an axis of one element is broadcast over the heads that share keys and values.
    shared = [kv_heads] if num_kv_heads is None else [kv_heads, 1]
    last = len(shared) + 1
    order = [0, *range(2, last + 1), 1, last + 1]
    own = graph.Reshape(query, [0, 0, *([H] if num_kv_heads is None else [kv_heads, H // kv_heads]), width])
    others = graph.Reshape(keys, [0, 0, *shared, width])
    heads = graph.Transpose(graph.Reshape(values, [0, 0, *shared, E // kv_heads]), perm=order)
    own, others = graph.Transpose(own, perm=order), graph.Transpose(others, perm=[*order[:-2], last + 1, 1])
    scores = graph.Mul(graph.MatMul(own, others), factor)
    if causal:
        seen = graph.LessOrEqual(graph.places(keys), graph.Unsqueeze(graph.places(query), [1]))
        mask = graph.And(mask, seen)
    weights = graph.Softmax(graph.Where(mask, scores, -math.inf), axis=last + 1)
    weights = graph.Where(mask, weights, 0.0)  # without any key the softmax is NaN
    back = [0, last, *range(1, last), last + 1]
    return graph.Reshape(graph.Transpose(graph.MatMul(weights, heads), perm=back), [0, 0, G])
