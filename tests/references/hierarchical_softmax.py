"""Costs of classes that are the leaves of a tree: of every class by walking down to it."""

import heapq

import numpy as np


def hsigmoid(inputs, params, attributes):
    x, weight, bias = inputs["x"].reshape(len(inputs["x"]), -1), params["weight"], params["bias"]
    codes = _codes(len(weight) + 1, attributes)
    inner = sorted({code[:end] for code in codes for end in range(len(code))}, key=lambda node: (len(node), node))
    scores = x @ weight.T + bias
    node = _nodes(codes, attributes["counts"], inner)
    cost = np.zeros(len(x))
    for row, label in enumerate(inputs["label"]):
        for end, digit in enumerate(codes[label]):
            score = scores[row, node[codes[label][:end]]]
            cost[row] += np.logaddexp(0.0, -score if digit == "1" else score)
    return {"cost": cost}


def _codes(classes, attributes):
    if attributes["codes"]:
        return list(attributes["codes"])
    if not attributes["counts"]:
        return [f"{classes + label:b}"[1:] for label in range(classes)]
    return _merged(attributes["counts"])[0]


def _nodes(codes, counts, inner):
    """Numbers of the inner nodes: by the length of their paths; with counts, from the one that was made last."""
    if not counts:
        return {path: number for number, path in enumerate(inner)}
    order = _merged(counts)[1]
    first = {frozenset(leaf for leaf, code in enumerate(codes) if code.startswith(path)): path for path in inner}
    return {first[leaves]: len(order) - 1 - made for made, leaves in enumerate(order)}


def _merged(counts):
    """Huffman's codes, and the sets of leaves in the order in which they are joined; of equal ones, leaves first."""
    heap = [(count, 0, leaf, [leaf]) for leaf, count in enumerate(counts)]
    heapq.heapify(heap)
    codes, order = [""] * len(counts), []
    while len(heap) > 1:
        (one, _, _, zeros), (other, _, _, ones) = heapq.heappop(heap), heapq.heappop(heap)
        for digit, leaves in (("0", zeros), ("1", ones)):
            for leaf in leaves:
                codes[leaf] = digit + codes[leaf]
        order.append(frozenset(zeros + ones))
        heapq.heappush(heap, (one + other, 1, len(order), zeros + ones))
    return codes, order


REFERENCES = {"hsigmoid": hsigmoid}
