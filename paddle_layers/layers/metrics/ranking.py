"""Ranking metrics: ordered pairs, AUC per list."""

from paddle_layers.define import Example, Input, Stat, Temp, each, layer, result

from .sums import ratio


@layer(
    "pnpair",
    elsewhere={"Paddle": "pnpair, pnpair-validation"},
    terms=("positive-negative pair rate", "ordered pairs"),
    since=1,
)
class PnPair:
    """Positive-negative pair rate: the fraction of the pairs of a list in correct order.

    A list is a sequence, such as the results of a query. Pairs with different labels count; the order is correct if the
    item with the greater label has the higher score. Ties count one half. With weights, a pair counts the mean of its
    two. Paddle identifies the query by a number with every item, and reports the ratio of correct to incorrect pairs:
    for a rate `p` that is `p / (1 - p)`.
    """

    score = Input("T:S 1", "score per item", seq=(1, 2))
    label = Input("T:S", "relevance per item", kinds=("INT",), seq=(1, 2))
    weight = Input("T:S 1", "sample weight", optional=True, seq=(1, 2))
    ordered = Stat("T:S", "correctly ordered pairs with a less relevant item")
    pairs = Stat("T:S", "pairs with a less relevant item")
    examples = (
        Example(score="sequence of 1", label="sequence of ids<5"),
        Example(score="nested sequence of scalar", label="nested sequence of ids<9"),
        Example(score="sequence of 1", label="sequence of ids<4", weight="sequence of scalar"),
    )


@each(PnPair.ordered, PnPair.pairs)
def pnpair_pairs(t, s, score, label, weight, S_start):
    ordered = 0.0
    pairs = 0.0
    for u in range(S_start[s], S_start[s + 1]):
        # Each pair is counted once, at its more relevant item.
        if label[u] < label[t]:
            counted = 1.0 if weight is None else 0.5 * (weight[t] + weight[u])
            pairs += counted
            if score[u] <= score[t]:
                ordered += counted if score[u] < score[t] else 0.5 * counted
    return ordered, pairs


@result(PnPair, best="max")
def pnpair_share(ordered, pairs):
    return ratio(ordered, pairs)


@layer(
    "rank_auc",
    elsewhere={"Paddle": "rankauc"},
    terms=("AUC over lists", "mean AUC", "click-through AUC"),
    since=1,
)
class RankAuc:
    """Mean AUC over lists with clicks: the fraction of pairs of a click and a view without click in correct order.

    A sequence is a list that was shown, such as the results of a query. The order is correct if the clicked item has a
    higher score than the item that was viewed and not clicked; ties count one half, including those of an item with
    itself. Sequences without such a pair are ignored, where Paddle counts a zero.
    """

    score = Input("T:S 1", "score per item", seq=(1, 2))
    clicks = Input("T:S 1", "number of clicks per item", seq=(1, 2))
    views = Input("T:S 1", "number of views per item; if absent, one", optional=True, seq=(1, 2))
    ordered = Temp("T:S", "correctly ordered pairs of a click on this item")
    pairs = Temp("T:S", "pairs of a click on this item")
    area = Stat("S", "AUC of the sequence")
    lists = Stat("S", "1 for a sequence with a pair")
    examples = (
        Example(score="sequence of 1", clicks="sequence of scalar"),
        Example(score="nested sequence of 1", clicks="nested sequence of 1", views="nested sequence of 1"),
    )


@each(RankAuc.ordered, RankAuc.pairs)
def rank_auc_pairs(t, s, score, clicks, views, S_start):
    ordered = 0.0
    pairs = 0.0
    for u in range(S_start[s], S_start[s + 1]):
        missed = (1.0 if views is None else views[u]) - clicks[u]
        pairs += missed
        if score[u] < score[t]:
            ordered += missed
        # An item has the same score as itself, so that its own pairs count one half.
        elif score[u] == score[t]:
            ordered += 0.5 * missed
    return clicks[t] * ordered, clicks[t] * pairs


@each(RankAuc.area, RankAuc.lists)
def rank_auc_area(s, ordered, pairs, S_start):
    total = 0.0
    whole = 0.0
    for t in range(S_start[s], S_start[s + 1]):
        total += ordered[t]
        whole += pairs[t]
    return (0.0, 0.0) if whole <= 0.0 else (total / whole, 1.0)


@result(RankAuc, best="max")
def rank_auc_mean(area, lists):
    return ratio(area, lists)
