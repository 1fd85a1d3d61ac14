"""Attention of a single position with a key-value cache, for text generation."""

import math

from paddle_layers.define import Example, Float, Input, Int, Output, each, infer, layer, real

from .attention import check_heads, kv_shift


@layer(
    "attention_step",
    terms=("key-value cache", "KV cache", "incremental decoding"),
    since=1,
)
class AttentionStep:
    """One step of causal `multi_head_attention` with a key-value cache, for autoregressive generation.

    `y[n] = sum_k p[k] * values[row[n, k], k] + p * own_value[n]`, where the weights are the softmax of
    `scale * query[n] . keys[row[n, k], k]`, for the positions `k` before `place[n]`, and of
    `scale * query[n] . own_key[n]`; each head has its own columns. Positions from `place` on are not read: the cache
    may have a larger capacity.

    Each generated sequence has a row of the batch. If sequences share a prefix, as in beam search, `row` gives the row
    that holds the keys and values of a position, so that nothing is copied. The caller writes `own_key` and `own_value`
    to their position after the pass. `generate` runs it instead of `multi_head_attention`; it has no gradient.
    """

    query = Input("N D", "query of the current position", derivative=False)
    own_key = Input("N F", "key of the current position", derivative=False)
    own_value = Input("N E", "value of the current position", derivative=False)
    keys = Input("N K F", "cached keys of the previous positions, by row of the batch and position", derivative=False)
    values = Input("N K E", "cached values of the previous positions", derivative=False)
    row = Input("N K", "row of the batch that holds the key and the value of a position, from 0", kinds=("INT",))
    place = Input("N", "number of previous positions", kinds=("INT",))
    y = Output("N G", "one vector per query", nan="where `row` or `place` exceeds the cache")
    num_heads = Int("number of attention heads", default=1, min=1)
    num_kv_heads = Int("number of heads of keys and values; if absent, `num_heads`", min=1, optional=True)
    scale = Float("scale of the dot products; if absent, one over the square root of the head size", optional=True)
    examples = (
        Example(query="2", own_key="2", own_value="3", keys="4x2", values="4x3", row="4 ids<2", place="ids<6"),
        Example(
            query="6", own_key="6", own_value="4", keys="2x6", values="2x4", row="2 ids<2", place="ids<3", num_heads=2,
            scale=1.5,
        ),
        Example(
            query="8", own_key="4", own_value="2", keys="3x4", values="3x2", row="3 ids<2", place="ids<4", num_heads=4,
            num_kv_heads=2,
        ),
    )  # fmt: skip


@infer(AttentionStep)
def attention_step_sizes(D, F, E, num_heads, num_kv_heads):
    return {"G": E * check_heads(D, F, E, num_heads, num_kv_heads)}


@each(AttentionStep.y)
def attention_step_y(
    n, g, query, own_key, own_value, keys, values, row, place, N, K, D, G, num_heads, num_kv_heads, scale
):
    if place[n] > K:
        return math.nan
    width = D // num_heads
    factor = 1.0 / math.sqrt(real(width)) if scale is None else scale
    groups = 1 if num_kv_heads is None else num_heads // num_kv_heads
    h = g // (G // num_heads)
    shift = kv_shift(h, groups, width)
    e = g + kv_shift(h, groups, G // num_heads)
    # Online softmax: it starts with the current position, so that the sum is never 0.
    peak = sum(query[n, d] * own_key[n, d + shift] for d in range(h * width, (h + 1) * width))
    peak *= factor
    total = 1.0
    weighted = own_value[n, e]
    for k in range(place[n]):
        r = row[n, k]
        if r >= N:
            return math.nan
        score = sum(query[n, d] * keys[r, k, d + shift] for d in range(h * width, (h + 1) * width))
        score *= factor
        # The sums so far are rescaled to the new maximum.
        best = max(peak, score)
        before = math.exp(peak - best)
        now = math.exp(score - best)
        total = before * total + now
        weighted = before * weighted + now * values[r, k, e]
        peak = best
    return weighted / total
