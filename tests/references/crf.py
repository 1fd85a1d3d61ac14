"""Costs of whole sequences, by looking at every labelling and at every alignment."""

import itertools

import numpy as np

ROUNDING = 1e-12


def chains(inputs):
    """The rows of every innermost sequence, as slices."""
    starts = inputs["x.starts"][-1]
    return [slice(first, last) for first, last in itertools.pairwise(starts)]


def labellings(x, transitions):
    """All labellings of the rows with their scores."""
    start, end, steps = transitions[0], transitions[1], transitions[2:]
    for path in itertools.product(range(x.shape[1]), repeat=len(x)):
        score = sum(row[k] for row, k in zip(x, path, strict=True)) + sum(steps[k] for k in itertools.pairwise(path))
        yield path, score + (start[path[0]] + end[path[-1]] if path else 0.0)


def crf(inputs, params, attributes):
    cost = []
    for rows in chains(inputs):
        scores = dict(labellings(inputs["x"][rows], params["transitions"]))
        cost.append(np.logaddexp.reduce(list(scores.values())) - scores[tuple(inputs["label"][rows])])
    weight = inputs.get("weight")
    return {"cost": np.array(cost) if weight is None else cost * weight}


def crf_decoding(inputs, params, attributes):
    """Of equally good paths it is the one whose last class, then the one before it and so on, is the first."""
    best = [()]
    for rows in chains(inputs):
        paths = list(labellings(inputs["x"][rows], params["transitions"]))
        top = max(score for _, score in paths) - ROUNDING
        best.append(min((path for path, score in paths if score >= top), key=lambda path: path[::-1]))
    path = np.concatenate(best).astype(np.int64)
    label = inputs.get("label")
    return {"path": path, "error": np.full(len(path), np.nan) if label is None else 1.0 * (path != label)}


def crf_marginals(x, label, transitions):
    """Cost and gradients of one sequence by enumeration, with scores that may be minus infinity."""
    paths = dict(labellings(x, transitions))
    peak = max(paths.values())
    chances = {path: np.exp(score - peak) for path, score in paths.items() if score > -np.inf}
    mass = sum(chances.values())
    dx, dtransitions = np.zeros(x.shape), np.zeros(transitions.shape)
    for path, share in [*((path, chance / mass) for path, chance in chances.items()), (tuple(label), -1.0)]:
        dx[range(len(x)), path] += share
        dtransitions[0, path[0]] += share
        dtransitions[1, path[-1]] += share
        for before, after in itertools.pairwise(path):
            dtransitions[2 + before, after] += share
    return peak + np.log(mass) - paths[tuple(label)], dx, dtransitions


REFERENCES = {"crf": crf, "crf_decoding": crf_decoding}
