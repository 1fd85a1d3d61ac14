"""References of ranking evaluators, pair by pair."""

from itertools import combinations

import numpy as np

from .sequence_metrics import spans


def pnpair(inputs, params, attributes):
    score, label = inputs["score"].ravel(), inputs["label"]
    weight = np.ones(len(score)) if inputs["weight"] is None else inputs["weight"].ravel()
    pairs = [
        ((weight[i] + weight[j]) / 2, np.sign(score[i] - score[j]) * np.sign(label[i] - label[j]))
        for span in spans(inputs["score.starts"][-1])
        for i, j in combinations(span, 2)
        if label[i] != label[j]
    ]
    ordered = sum(counted * (sign + 1) / 2 for counted, sign in pairs)
    total = sum(counted for counted, _ in pairs)
    return {"report": {"": ordered / total if total else np.nan}}  # weights may be negative


def rank_auc(inputs, params, attributes):
    score, clicks = inputs["score"].ravel(), inputs["clicks"].ravel()
    missed = (1 if inputs["views"] is None else inputs["views"].ravel()) - clicks
    areas = []
    for span in spans(inputs["score.starts"][-1]):
        own = slice(span.start, span.stop)
        weights = np.multiply.outer(clicks[own], missed[own])
        order = (np.sign(np.subtract.outer(score[own], score[own])) + 1) / 2
        if weights.sum() > 0:
            areas.append((weights * order).sum() / weights.sum())
    return {"report": {"": np.divide(sum(areas), len(areas))}}


REFERENCES = {"pnpair": pnpair, "rank_auc": rank_auc}
