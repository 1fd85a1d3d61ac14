"""Ranking losses: RankNet, LambdaRank."""

import math

from paddle_layers.define import Example, Input, Int, Output, Temp, each, gradient, helper, infer, layer, real
from paddle_layers.layers.checks import check_answers
from paddle_layers.layers.helpers import exceeds, sigmoid

from .loss_helpers import logistic_cost

LN2 = math.log(2.0)


@helper
def softplus(v):
    """log(1 + exp(v)), without overflow."""
    return max(v, 0.0) + math.log1p(math.exp(-abs(v)))


@helper
def gain(relevance):
    """2 ** relevance - 1."""
    # `2 ** relevance - 1` cancels for small relevances.
    return math.expm1(relevance * LN2)


@helper
def discount_of(place):
    """What a gain at this place counts."""
    # The base of the logarithm cancels, since every gain is divided by the ideal one.
    return 1.0 / math.log(real(place + 2))


@layer(
    "rank_cost",
    elsewhere={"Paddle": "rank-cost"},
    terms=("pairwise ranking loss", "RankNet"),
    since=1,
)
class RankCost:
    """Pairwise ranking loss (RankNet): cross-entropy of which of two items ranks higher.

    `cost = log(1 + exp(o)) - label * o` for `o = left - right`, times `weight` if present (Burges et al., "Learning to
    rank using gradient descent", 2005). The label is 1 if `left` should rank higher, 0 if `right` should, and 0.5 for a
    tie. Paddle clips `o` to [-40, 40], and its `coeff` scales the gradient but not the loss: `loss_weight` scales both.
    """

    left = Input("N 1", "scores", seq=(0, 1, 2))
    right = Input("N 1", "scores of the second item", seq=(0, 1, 2))
    label = Input(
        "N 1",
        "target probability that the first item ranks higher",
        kinds=("DENSE", "INT"),
        seq=(0, 1, 2),
        within=(0.0, 1.0),
        derivative=False,
    )
    weight = Input("N", "sample weight of each pair", optional=True, seq=(0, 1, 2), derivative=False)
    cost = Output("N", "per-pair loss", loss=True)
    examples = (
        Example(left="scalar", right="scalar", label="scalar"),
        Example(left="1", right="1", label="ids<2", weight="scalar"),
        Example(left="sequence of scalar", right="sequence of 1", label="sequence of scalar"),
    )


@infer(RankCost)
def rank_cost_labels(label):
    if label.kind == "INT":
        check_answers(label, "label")
    return {}


@each(RankCost.cost)
def rank_cost_cost(n, left, right, label, weight):
    cost = logistic_cost(left[n] - right[n], real(label[n]))
    return cost if weight is None else cost * weight[n]


@layer(
    "lambda_cost",
    elsewhere={"Paddle": "lambda_cost"},
    terms=("LambdaRank", "listwise ranking loss", "NDCG"),
    since=1,
)
class LambdaCost:
    """Listwise ranking loss (LambdaRank): pairs in the wrong order, weighted by their effect on NDCG.

    A sequence is the result list of a query with the `relevance` of each item. The discounted cumulative gain of an
    order is `sum over positions i = 0, 1 ... of (2 ** relevance - 1) / log(i + 2)`; `ndcg` is that of the `ndcg_num`
    top scores, divided by the ideal one.
    `cost = sum over pairs i before j in the ideal order of w_ij * log(1 + exp(x_j - x_i))`, where `w_ij` is the
    fraction of the ideal gain lost if i and j are swapped (Burges, Ragno and Le, "Learning to rank with nonsmooth cost
    functions", 2006). A list without a relevant item has loss 0 and `ndcg` 1. Of equal items the first one has the
    better rank.

    The gradient is Paddle's; Paddle reports NDCG instead of the loss. The published LambdaRank uses the current order
    of the scores, and so is not the gradient of a loss.
    """

    x = Input("T:S 1", "score per item", seq=(1,), kinks=("ties",))
    relevance = Input("T:S 1", "relevance of each item, from 0 on", seq=(1,), within=(0.0, 5.0))
    cost = Output("S", "per-list loss", loss=True)
    ndcg = Output("S", "normalized discounted cumulative gain (NDCG) of each list")
    ndcg_num = Int("truncation of the NDCG: number of positions", default=5, min=1)
    max_sort_size = Int("number of positions with a weight in pairs; if absent, all", min=1, optional=True)
    rank = Temp("T:S", "rank by score", kind="INT")
    place = Temp("T:S", "rank by relevance", kind="INT")
    discount = Temp("T:S", "discount at the rank by relevance")
    best = Temp("S", "ideal discounted cumulative gain")
    examples = (
        Example(x="sequence of scalar", relevance="sequence of scalar"),
        Example(x="sequence of 1", relevance="sequence of scalar", ndcg_num=2, max_sort_size=2),
    )


@each(LambdaCost.rank)
def lambda_cost_rank(t, s, x, S_start):
    rank = 0
    for other in range(S_start[s], S_start[s + 1]):
        # Of equal scores the first one has the better rank, so that ranks are distinct.
        if exceeds(x[other], x[t]) or (other < t and not exceeds(x[t], x[other])):
            rank += 1
    return rank


@each(LambdaCost.place)
def lambda_cost_place(t, s, relevance, S_start):
    place = 0
    for other in range(S_start[s], S_start[s + 1]):
        if relevance[other] > relevance[t] or (relevance[other] == relevance[t] and other < t):
            place += 1
    return place


@each(LambdaCost.best)
def lambda_cost_best(s, relevance, place, ndcg_num, S_start):
    best = 0.0
    for t in range(S_start[s], S_start[s + 1]):
        if place[t] < ndcg_num:
            best += gain(relevance[t]) * discount_of(place[t])
    return best


@each(LambdaCost.ndcg)
def lambda_cost_ndcg(s, x, relevance, rank, best, ndcg_num, S_start):
    dcg = 0.0
    for t in range(S_start[s], S_start[s + 1]):
        # The rank of NaN is arbitrary: without this test the result would look valid.
        if math.isnan(x[t]):
            return math.nan
        if rank[t] < ndcg_num:
            dcg += gain(relevance[t]) * discount_of(rank[t])
    return dcg / best[s] if best[s] > 0.0 else 1.0


@each(LambdaCost.discount)
def lambda_cost_discount(t, place, max_sort_size):
    if max_sort_size is not None and place[t] >= max_sort_size:
        return 0.0
    return discount_of(place[t])


@each(LambdaCost.cost)
def lambda_cost_cost(s, x, relevance, place, discount, best, S_start):
    cost = 0.0
    for i in range(S_start[s], S_start[s + 1]):
        for j in range(S_start[s], S_start[s + 1]):
            if place[i] < place[j]:
                change = (gain(relevance[i]) - gain(relevance[j])) * (discount[i] - discount[j])
                cost += change * softplus(x[j] - x[i])
    return cost / best[s] if best[s] > 0.0 else 0.0


@gradient(LambdaCost.x)
def lambda_cost_dx(t, s, dcost, x, relevance, place, discount, best, S_start):
    if not best[s] > 0.0:
        return 0.0
    derivative = 0.0
    for other in range(S_start[s], S_start[s + 1]):
        # The change is the same whichever of the two items is first.
        change = (gain(relevance[t]) - gain(relevance[other])) * (discount[t] - discount[other])
        if place[t] < place[other]:
            derivative -= change * sigmoid(x[other] - x[t])
        else:
            derivative += change * sigmoid(x[t] - x[other])
    return dcost[s] * derivative / best[s]
