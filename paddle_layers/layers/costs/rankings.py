"""Costs of the order in which scores put things."""

import math

from paddle_layers.define import Example, Input, Int, Output, Temp, each, gradient, helper, infer, layer, real
from paddle_layers.layers.checks import check_answers
from paddle_layers.layers.helpers import exceeds, sigmoid

from .terms import logistic_cost, logistic_derivative

LN2 = math.log(2.0)


@helper
def softplus(v):
    """log(1 + exp(v)), without overflow."""
    return max(v, 0.0) + math.log1p(math.exp(-abs(v)))


@helper
def gain(relevance):
    """2 ** relevance - 1."""
    return math.expm1(relevance * LN2)


@helper
def discount_of(place):
    """What a gain at this place counts."""
    return 1.0 / math.log(real(place + 2))


@layer("rank_cost", elsewhere={"Paddle": "rank-cost"}, since=1)
class RankCost:
    """Cross entropy of which of two scores shall be the higher one.

    `cost = log(1 + exp(o)) - label * o` for `o = left - right`, times `weight` where the pair has one (Burges et al.,
    "Learning to rank using gradient descent", 2005). The label is 1 where `left` shall win, 0 where `right` shall, and
    0.5 for a tie. Paddle keeps `o` within 40 on either side, and its `coeff` scales the gradient and not the cost:
    `loss_weight` scales both.
    """

    left = Input("N 1", "scores", seq=(0, 1, 2))
    right = Input("N 1", "scores to compare with", seq=(0, 1, 2))
    label = Input("N 1", "probability that the left one wins", kinds=("DENSE", "INT"), seq=(0, 1, 2), within=(0.0, 1.0))
    weight = Input("N", "importance of every pair", optional=True, seq=(0, 1, 2))
    cost = Output("N", "cost of every pair", loss=True)
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


@gradient(RankCost.left)
def rank_cost_dleft(n, dcost, left, right, label, weight):
    derivative = dcost[n] * logistic_derivative(left[n] - right[n], real(label[n]))
    return derivative if weight is None else derivative * weight[n]


@gradient(RankCost.right)
def rank_cost_dright(n, dcost, left, right, label, weight):
    derivative = -dcost[n] * logistic_derivative(left[n] - right[n], real(label[n]))
    return derivative if weight is None else derivative * weight[n]


@layer("lambda_cost", elsewhere={"Paddle": "lambda_cost"}, since=1)
class LambdaCost:
    """Costs of the pairs of a list that are in the wrong order, by how much they matter for NDCG.

    A sequence is the list of a query, `relevance` says how much each row answers it. The discounted cumulative gain of
    an order is `sum over places i = 0, 1 ... of (2 ** relevance - 1) / log(i + 2)`; `ndcg` is that of the `ndcg_num`
    best scores, divided by the best one that an order may have. `cost = sum over pairs i before j in the best order of
    w_ij * log(1 + exp(x_j - x_i))`, where `w_ij` is the share of the best gain that is lost when i and j change places
    (Burges, Ragno and Le, "Learning to rank with nonsmooth cost functions", 2006). A list without a relevant row costs
    nothing and has `ndcg` 1. Of rows that are equal the first one has the better place.

    The gradient is Paddle's; Paddle shows NDCG in every row in place of the cost. LambdaRank as published takes the
    places of the order that the scores give at the time, and so has no cost of which this is the gradient.
    """

    x = Input("T:S 1", "score of every row", seq=(1,), kinks=("ties",))
    relevance = Input("T:S 1", "how much every row answers the query, from 0 on", seq=(1,), within=(0.0, 5.0))
    cost = Output("S", "cost of every list", loss=True)
    ndcg = Output("S", "normalised discounted cumulative gain of every list, at most 1")
    ndcg_num = Int("places that count in a gain", default=5, min=1)
    max_sort_size = Int("places that have a weight in pairs; all if not given", min=1, optional=True)
    rank = Temp("T:S", "place by score", kind="INT")
    place = Temp("T:S", "place by relevance", kind="INT")
    discount = Temp("T:S", "what a gain at the place by relevance counts")
    best = Temp("S", "best gain of an order")
    examples = (
        Example(x="sequence of scalar", relevance="sequence of scalar"),
        Example(x="sequence of 1", relevance="sequence of scalar", ndcg_num=2, max_sort_size=2),
    )


@each(LambdaCost.rank)
def lambda_cost_rank(t, s, x, S_start):
    rank = 0
    for other in range(S_start[s], S_start[s + 1]):
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
        change = (gain(relevance[t]) - gain(relevance[other])) * (discount[t] - discount[other])
        if place[t] < place[other]:
            derivative -= change * sigmoid(x[other] - x[t])
        else:
            derivative += change * sigmoid(x[t] - x[other])
    return dcost[s] * derivative / best[s]
