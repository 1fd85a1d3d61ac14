"""Costs of labels whose places are not known, by looking at everything that the rows may say."""

import itertools

import numpy as np


def labels_of(said, blank):
    """What counts of the classes that the rows say."""
    return [k for k, _ in itertools.groupby(said) if k != blank]


def ctc(inputs, params, attributes):
    blank, cost = attributes["blank"], []
    places = itertools.pairwise(inputs["x.starts"][0])
    for (first, last), (low, high) in zip(places, itertools.pairwise(inputs["label.starts"][0]), strict=True):
        x = inputs["x"][first:last]
        chances = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
        wanted = [k for k in inputs["label"][low:high] if k != blank]
        every = itertools.product(range(x.shape[1]), repeat=len(x))
        total = sum(np.prod(chances[range(len(x)), said]) for said in every if labels_of(said, blank) == wanted)
        divisor = max(len(x), 1) if attributes["norm_by_times"] else 1
        known = len(wanted) <= attributes["max_labels"]
        cost.append((-np.log(total) / divisor if total else 0.0) if known else np.nan)
    return {"cost": np.array(cost)}


def ctc_marginals(x, label, blank):
    """Cost and gradient of one sequence by enumeration, with scores that may be minus infinity."""
    x = x.astype(np.longdouble)
    logarithms = x - x.max(axis=1, keepdims=True)
    logarithms -= np.log(np.exp(logarithms).sum(axis=1, keepdims=True))
    every = itertools.product(range(x.shape[1]), repeat=len(x))
    paths = {said: logarithms[range(len(x)), said].sum() for said in every if labels_of(said, blank) == list(label)}
    peak = max(paths.values(), default=-np.inf)
    if peak == -np.inf:
        return np.inf if paths else 0.0, None
    chances = {said: np.exp(score - peak) for said, score in paths.items()}
    mass = sum(chances.values())
    dx = np.exp(logarithms)
    for said, chance in chances.items():
        dx[range(len(x)), said] -= chance / mass
    return -(peak + np.log(mass)), dx


REFERENCES = {"ctc": ctc}
