"""Attention of one position, for texts that are written word by word."""

import math

from paddle_layers.define import Example, Float, Input, Int, Output, each, infer, layer, real

from .attentions import check_heads


@layer("attention_step", since=1)
class AttentionStep:
    """One position of a causal `multi_head_attention`: a row looks at itself and at what was kept of those before it.

    `y[n] = sum_k p[k] * values[row[n, k], k] + p * own_value[n]`, where the weights are the softmax of
    `scale * query[n] . keys[row[n, k], k]`, for the places `k` before `place[n]`, and of
    `scale * query[n] . own_key[n]`; each head has its own columns. What is behind `place` is not read: the cache
    may have more places.

    Each text has a row of the batch. Where texts begin alike, as those of a beam search do, `row` says in whose row the
    keys and values of a place lie, so that nothing is copied. The caller puts `own_key` and `own_value` at their place
    behind the pass. It is what `generate` runs in the place of `multi_head_attention`; nothing learns through it.
    """

    query = Input("N D", "query of each row")
    own_key = Input("N D", "key of the row itself")
    own_value = Input("N E", "value of the row itself")
    keys = Input("N K D", "keys of the places before, by row of the batch and place")
    values = Input("N K E", "values of the places before")
    row = Input("N K", "row of the batch that has the key and the value of a place, from 0", kinds=("INT",))
    place = Input("N", "how many places there are before this one", kinds=("INT",))
    y = Output("N E", "a row for each row of `query`", nan="where `row` or `place` is beyond what is kept")
    num_heads = Int("parts into which the columns are cut", default=1, min=1)
    scale = Float("factor of the products; when absent: one over the root of a head's columns", optional=True)
    examples = (
        Example(query="2", own_key="2", own_value="3", keys="4x2", values="4x3", row="4 ids<2", place="ids<6"),
        Example(
            query="6", own_key="6", own_value="4", keys="2x6", values="2x4", row="2 ids<2", place="ids<3", num_heads=2,
            scale=1.5,
        ),
    )  # fmt: skip


@infer(AttentionStep)
def attention_step_sizes(D, E, num_heads):
    check_heads(D, E, num_heads)
    return {}


@each(AttentionStep.y)
def attention_step_y(n, e, query, own_key, own_value, keys, values, row, place, N, K, D, E, num_heads, scale):
    if place[n] > K:
        return math.nan
    width = D // num_heads
    factor = 1.0 / math.sqrt(real(width)) if scale is None else scale
    first = e // (E // num_heads) * width
    peak = 0.0
    for d in range(first, first + width):
        peak += query[n, d] * own_key[n, d]
    peak *= factor
    total = 1.0
    weighted = own_value[n, e]
    for k in range(place[n]):
        r = row[n, k]
        if r >= N:
            return math.nan
        score = 0.0
        for d in range(first, first + width):
            score += query[n, d] * keys[r, k, d]
        score *= factor
        best = max(peak, score)
        before = math.exp(peak - best)
        now = math.exp(score - best)
        total = before * total + now
        weighted = before * weighted + now * values[r, k, e]
        peak = best
    return weighted / total
