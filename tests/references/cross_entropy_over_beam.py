"""The cost over a beam: every path is written down, and the right one among them."""

import itertools

import numpy as np


def beam_expansion(inputs, params, attributes):
    starts = [int(start) for start in inputs["x.starts"][-1]]
    owners = inputs["x.parts"] if len(inputs["x.starts"]) == 2 else np.arange(len(starts))
    x = inputs["x"].ravel()
    totals, lengths, right, costs = [], [], [], []
    for sample, (first, last) in enumerate(itertools.pairwise(int(owner) for owner in owners)):
        history = np.zeros(last) if inputs["total_before"] is None else inputs["total_before"].ravel()
        paths = []
        for part in range(first, last):
            places = itertools.takewhile(lambda place: place >= 0, np.ravel(inputs["selected"][part]).astype(int))
            paths += [(part, place) for place in places]
        score = {path: history[path[0]] + x[starts[path[0]] + path[1]] for path in paths}
        came = 0 if inputs["path_before"] is None else int(inputs["path_before"].ravel()[sample])
        gold = first + came, int(inputs["gold"][sample])
        there = 0 <= came < last - first and gold[1] < starts[gold[0] + 1] - starts[gold[0]]
        cost = 0.0 if inputs["cost_before"] is None else inputs["cost_before"].ravel()[sample]
        if there:
            best = history[gold[0]] + x[starts[gold[0]] + gold[1]]
            every = [score[path] for path in paths] + ([] if gold in paths else [best])
            cost = np.log(np.sum(np.exp(every))) - best
        totals += [score[path] for path in paths]
        lengths.append(len(paths))
        right.append(paths.index(gold) if there and gold in paths else -1)
        costs.append(cost)
    return {
        "total": np.array(totals, float).reshape(-1, 1),
        "path": np.array(right, float)[:, None],
        "cost": np.array(costs, float),
        "lengths": lengths,
    }


REFERENCES = {"beam_expansion": beam_expansion}
