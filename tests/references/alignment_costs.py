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


REFERENCES = {"ctc": ctc}
