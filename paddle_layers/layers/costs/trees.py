"""A cost over a large vocabulary whose classes are the leaves of a binary tree."""

from itertools import pairwise

import numpy as np

from paddle_layers.define import (
    Entries,
    Example,
    Floats,
    Input,
    Output,
    Param,
    Strings,
    Temp,
    each,
    entries,
    gradient,
    infer,
    layer,
    prepare,
    require,
)

from .candidates import chosen_dbias, chosen_dweight, chosen_dx, chosen_score
from .terms import logistic_cost, logistic_derivative


@layer("hsigmoid", elsewhere={"Paddle": "hsigmoid"}, since=1)
class HierarchicalSigmoid:
    """Cost of a class among very many: of the yes-or-no answers on the way to it through a binary tree.

    The classes are the leaves. Each inner node has a score, `z[i] = x @ weight[i] + bias[i]`, and goes on to its side 1
    with the probability `1 / (1 + exp(-z[i]))`; the probability of a class is the product along its path, and `cost =
    sum over the path of log(1 + exp(z[i])) - side * z[i]`, minus its logarithm. So the probabilities of all classes
    add up to one, and a step takes as long as the tree is deep, whatever the number of classes, which is that of the
    label: the gradients of `weight` and `bias` have only the rows in use.

    By default the tree is complete, as Paddle's: the path of a class is the binary form of `label + classes` behind its
    first digit, and node 0 the root. With `counts`, how often each class occurs, frequent classes have short paths
    (Huffman; Mikolov et al. 2013). `codes` gives any tree, as the path of each class in the digits 0 and 1; its nodes
    are numbered from the root, the shorter first, then in the order of their paths. Morin and Bengio (2005). Paddle
    keeps `z` within 40 of 0, and takes several inputs: put a `concat` before.
    """

    x = Input("N C...", "rows of features", seq=(0, 1, 2))
    label = Input("N", "right class of every row", kinds=("INT",), seq=(0, 1, 2))
    weight = Param("V C", "one row per inner node: one fewer than classes", init="xavier")
    bias = Param("V", "added to the scores", init="zero")
    cost = Output("N", "cost of every row", loss=True)
    counts = Floats("how often each class occurs, in the order of the ids: makes the tree", default=(), min=0)
    codes = Strings("path to each class from the root, such as 010: makes the tree", default=())
    chosen = Entries("E:N V", "inner nodes on the way to the class, with the side to go on to")
    score = Temp("E", "score of a node")
    delta = Temp("E", "derivative of the cost by the score")
    examples = (
        Example(x="4", label="ids<6"),
        Example(x="2x1x1", label="ids<2"),
        Example(x="sequence of 3", label="sequence of ids<5", counts=[8.0, 1.0, 1.0, 2.0, 5.0]),
        Example(x="3", label="ids<4", codes=["1", "00", "010", "011"]),
    )


@infer(HierarchicalSigmoid)
def hsigmoid_nodes(label, counts, codes):
    classes = label.size
    require(classes >= 2, "label", f"there are {classes} classes; a tree has at least 2 leaves")
    require(not counts or len(counts) == classes, "counts", f"there are {len(counts)} counts, but {classes} classes")
    require(not (counts and codes), "codes", "`counts` makes a tree, and `codes` another one; leave one of them out")
    require(not codes or len(codes) == classes, "codes", f"there are {len(codes)} codes, but {classes} classes")
    wrong = next((code for code in codes if set(code) - {"0", "1"}), None)
    require(wrong is None, "codes", f"the code {wrong!r} has other digits than 0 and 1")
    gap = _gap(codes)
    require(not gap, "codes", gap)
    return {"V": classes - 1}


def _gap(codes):
    """Why codes are not the leaves of a tree in which every inner node has two sides; empty where they are."""
    ordered = sorted(codes)
    for one, other in pairwise(ordered):
        if other.startswith(one):
            return f"the code {other!r} goes on behind {one!r}, which is the path of another class"
    known = {code[:end] for code in codes for end in range(len(code) + 1)}
    inner = {code[:end] for code in codes for end in range(len(code))}
    missing = min((node + side for node in inner for side in "01" if node + side not in known), default=None)
    return "" if missing is None else f"no code begins with {missing!r}, but one goes on to the other side there"


@prepare(HierarchicalSigmoid)
def hsigmoid_tree(counts, codes):
    """Nodes and sides of all paths, end to end, with their starts; None for the complete tree."""
    if codes:
        inner = {code[:end] for code in codes for end in range(len(code))}
        number = {node: place for place, node in enumerate(sorted(inner, key=lambda node: (len(node), node)))}
        nodes = [number[code[:end]] for code in codes for end in range(len(code))]
        sides = [float(digit) for code in codes for digit in code]
        return np.cumsum([0, *map(len, codes)]), np.array(nodes), np.array(sides)
    return _paths(*_huffman(counts)) if counts else None


def _huffman(counts):
    """Parent and side of every node: leaves in their order, then inner nodes as they are made, the root last."""
    leaves = np.argsort(counts, kind="stable").tolist()
    classes = len(leaves)
    weight = [*counts, *[0.0] * (classes - 1)]
    parent, side = np.zeros(2 * classes - 1, np.int64), np.zeros(2 * classes - 1)
    leaf, inner = 0, classes
    for new in range(classes, 2 * classes - 1):  # leaves in order, and so are the sums: two queues, no heap
        for digit in (0.0, 1.0):
            if inner == new or (leaf < classes and weight[leaves[leaf]] <= weight[inner]):
                least, leaf = leaves[leaf], leaf + 1
            else:
                least, inner = inner, inner + 1
            parent[least], side[least] = new, digit
            weight[new] += weight[least]
    return parent, side


def _paths(parent, side):
    """From each leaf up to the root; the root is node 0."""
    root = len(parent) - 1
    at, owner = np.arange(root // 2 + 1), np.arange(root // 2 + 1)
    nodes, sides, owners = [], [], []
    while len(at):
        nodes.append(root - parent[at])
        sides.append(side[at])
        owners.append(owner)
        at, owner = parent[at][parent[at] != root], owner[parent[at] != root]
    leaves = np.concatenate(owners)
    order = np.argsort(leaves, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(leaves))])
    return starts, np.concatenate(nodes)[order], np.concatenate(sides)[order]


@entries(HierarchicalSigmoid)
def hsigmoid_entries(label, V, prepared):
    if prepared is None:
        code = label + V + 1
        depth = np.frexp(code)[1] - 1
    else:
        first = prepared[0][label]
        depth = prepared[0][label + 1] - first
    start = np.concatenate([[0], np.cumsum(depth)])
    place = np.arange(start[-1]) - np.repeat(start[:-1], depth)
    if prepared is None:
        repeated = np.repeat(code, depth)
        return start, (repeated >> (place + 1)) - 1, repeated >> place & 1
    found = np.repeat(first, depth) + place
    return start, prepared[1][found], prepared[2][found]


each(HierarchicalSigmoid.score)(chosen_score)


@each(HierarchicalSigmoid.cost)
def hsigmoid_cost(n, score, chosen_value, E_start):
    cost = 0.0
    for e in range(E_start[n], E_start[n + 1]):
        cost += logistic_cost(score[e], chosen_value[e])
    return cost


@each(HierarchicalSigmoid.delta)
def hsigmoid_delta(e, n, dcost, score, chosen_value):
    return dcost[n] * logistic_derivative(score[e], chosen_value[e])


gradient(HierarchicalSigmoid.x)(chosen_dx)
gradient(HierarchicalSigmoid.weight, used=HierarchicalSigmoid.chosen)(chosen_dweight)
gradient(HierarchicalSigmoid.bias, used=HierarchicalSigmoid.chosen)(chosen_dbias)
