"""Costs of the order in which scores put things."""

import itertools

import numpy as np


def rank_cost(inputs, params, attributes):
    left, right, label = (inputs[name].reshape(-1) for name in ("left", "right", "label"))
    wins = 1 / (1 + np.exp(right - left))
    cost = -label * np.log(wins) - (1 - label) * np.log(1 - wins)
    weight = inputs.get("weight")
    return {"cost": cost if weight is None else cost * weight}


def gain_of(relevance, count):
    """Discounted cumulative gain of the first rows."""
    return sum((2**r - 1) / np.log(i + 2) for i, r in enumerate(relevance[:count]))


def cost_of(scores, relevance, attributes):
    """The list is in the best order."""
    limit, best = attributes["max_sort_size"] or len(scores), gain_of(relevance, attributes["ndcg_num"])
    cost = 0.0
    for i, j in itertools.combinations(range(len(scores)), 2):
        swapped = relevance.copy()
        swapped[[i, j]] = relevance[[j, i]]
        lost = gain_of(relevance, limit) - gain_of(swapped, limit)
        cost += lost * np.log1p(np.exp(scores[j] - scores[i])) / best
    return cost


def lambda_cost(inputs, params, attributes):
    cost, ndcg = [], []
    for first, last in itertools.pairwise(inputs["x.starts"][0]):
        scores, relevance = (inputs[name][first:last].reshape(-1) for name in ("x", "relevance"))
        order = np.argsort(-relevance, kind="stable")
        best = gain_of(relevance[order], attributes["ndcg_num"])
        found = gain_of(relevance[np.argsort(-scores, kind="stable")], attributes["ndcg_num"])
        cost.append(cost_of(scores[order], relevance[order], attributes) if best else 0.0)
        ndcg.append(found / best if best else 1.0)
    return {"cost": np.array(cost), "ndcg": np.array(ndcg)}


REFERENCES = {"rank_cost": rank_cost, "lambda_cost": lambda_cost}
