"""Statistics of ranked lists: pairs of rows of one sequence that scores put in order."""

from paddle_layers.define import Example, Input, Stat, Temp, each, layer, result

from .ratios import ratio


@layer("pnpair", elsewhere={"Paddle": "pnpair, pnpair-validation"}, since=1)
class PnPair:
    """Share of the pairs of rows of one sequence, such as the answers to a query, that the scores put in order.

    Pairs with different labels count; in order, the row with the greater label has the higher score. Equal scores
    count one half. Where rows have weights, a pair counts the mean of its two. Paddle gives the query as a number with
    every row, and reports the ratio of the pairs in order to those that are not: of a share `p` that is `p / (1 - p)`.
    """

    score = Input("T:S 1", "score of every row", seq=(1, 2))
    label = Input("T:S", "relevance of every row", kinds=("INT",), seq=(1, 2))
    weight = Input("T:S 1", "importance of every row", optional=True, seq=(1, 2))
    ordered = Stat("T:S", "pairs with a less relevant row that are in order")
    pairs = Stat("T:S", "pairs with a less relevant row")
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
        if label[u] < label[t]:
            counted = 1.0 if weight is None else 0.5 * (weight[t] + weight[u])
            pairs += counted
            if score[u] <= score[t]:
                ordered += counted if score[u] < score[t] else 0.5 * counted
    return ordered, pairs


@result(PnPair, best="max")
def pnpair_share(ordered, pairs):
    return ratio(ordered, pairs)


@layer("rank_auc", elsewhere={"Paddle": "rankauc"}, since=1)
class RankAuc:
    """Mean over the sequences of the share of the pairs of a click and a view without one that scores put in order.

    A sequence is a list that was shown, such as the answers to a query. In order, the row of the click has the higher
    score than the row that was seen and not clicked; pairs with equal scores count one half, those of a row with itself
    too. Sequences without such a pair are not counted, where Paddle counts a zero.
    """

    score = Input("T:S 1", "score of every row", seq=(1, 2))
    clicks = Input("T:S 1", "how often the row was clicked", seq=(1, 2))
    views = Input("T:S 1", "how often the row was seen; once when absent", optional=True, seq=(1, 2))
    ordered = Temp("T:S", "pairs of a click on this row that are in order")
    pairs = Temp("T:S", "pairs of a click on this row")
    area = Stat("S", "share of the sequence's pairs that are in order")
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
