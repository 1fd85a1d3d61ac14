"""Hierarchical softmax."""

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

from .loss_helpers import logistic_cost, logistic_cost_derivative
from .sampled_softmax import chosen_dbias, chosen_dweight, chosen_dx, chosen_score


@layer(
    "hsigmoid",
    elsewhere={"Paddle": "hsigmoid"},
    terms=("hierarchical softmax", "Huffman tree"),
    since=1,
)
class HierarchicalSigmoid:
    """Hierarchical softmax over a binary tree of classes (Morin and Bengio 2005).

    The classes are the leaves. Each inner node has a score, `z[i] = x @ weight[i] + bias[i]`, and continues to its
    child 1 with probability `1 / (1 + exp(-z[i]))`; the probability of a class is the product along its path, and
    `cost = sum over the path of log(1 + exp(z[i])) - side * z[i]`, its negative logarithm. The probabilities of all
    classes sum to one, and the time of a step is proportional to the depth of the tree, not to the number of classes,
    which is that of the label: the gradients of `weight` and `bias` have only the rows in use.

    By default the tree is complete, as Paddle's: the path of a class is the binary form of `label + classes` after its
    first digit, and node 0 is the root. With `counts`, the frequency of each class, frequent classes have short paths
    (Huffman tree; Mikolov et al. 2013). `codes` defines any tree, as the path of each class in the digits 0 and 1; its
    nodes are numbered from the root, shorter paths first, then in lexicographic order. Paddle clips `z` to [-40, 40],
    and accepts several inputs: add a `concat`.
    """

    x = Input("N C...", "feature vectors", seq=(0, 1, 2))
    label = Input("N", "target class", kinds=("INT",), seq=(0, 1, 2))
    weight = Param("V C", "one row per inner node, of which there is one fewer than classes", init="xavier")
    bias = Param("V", "bias per class", init="zero")
    cost = Output("N", "per-sample loss", loss=True)
    counts = Floats("class counts in the order of the ids, for a Huffman tree", default=(), min=0)
    codes = Strings("path to each class from the root, such as 010, for a custom tree", default=())
    chosen = Entries("E:N V", "inner nodes on the path to the class, with the direction")
    score = Temp("E", "score of a node")
    delta = Temp("E", "gradient of the score")
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
    """The reason why codes are not the leaves of a full binary tree; empty if they are."""
    ordered = sorted(codes)
    for one, other in pairwise(ordered):
        if other.startswith(one):
            return f"the code {other!r} continues {one!r}, which is the code of another class"
    known = {code[:end] for code in codes for end in range(len(code) + 1)}
    inner = {code[:end] for code in codes for end in range(len(code))}
    missing = min((node + side for node in inner for side in "01" if node + side not in known), default=None)
    return "" if missing is None else f"no code starts with {missing!r}, but another one continues to its sibling"


@prepare(HierarchicalSigmoid)
def hsigmoid_tree(counts, codes):
    """Nodes and directions of all paths, concatenated, with their starts; None for the complete tree."""
    if codes:
        inner = {code[:end] for code in codes for end in range(len(code))}
        number = {node: place for place, node in enumerate(sorted(inner, key=lambda node: (len(node), node)))}
        nodes = [number[code[:end]] for code in codes for end in range(len(code))]
        sides = [float(digit) for code in codes for digit in code]
        return np.cumsum([0, *map(len, codes)]), np.array(nodes), np.array(sides)
    return _paths(*_huffman(counts)) if counts else None


def _huffman(counts):
    """Parent and side of every node: leaves in their order, then inner nodes as they are made, the root last."""
    # Stable: of equal counts the smaller id comes first, so that the tree is the same on every machine.
    leaves = np.argsort(counts, kind="stable").tolist()
    classes = len(leaves)
    weight = [*counts, *[0.0] * (classes - 1)]
    parent, side = np.zeros(2 * classes - 1, np.int64), np.zeros(2 * classes - 1)
    leaf, inner = 0, classes
    for new in range(classes, 2 * classes - 1):  # leaves in order, and so are the sums: two queues, no heap
        for digit in (0.0, 1.0):
            # Of equal weights a leaf is merged first, which keeps the tree as flat as possible.
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
    # From the walk's order, level by level, to one path after the other.
    order = np.argsort(leaves, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(leaves))])
    return starts, np.concatenate(nodes)[order], np.concatenate(sides)[order]


@entries(HierarchicalSigmoid)
def hsigmoid_entries(label, V, prepared):
    if prepared is None:
        # Heap numbering: the children of node i are 2i and 2i + 1, and the leaves follow the inner nodes.
        code = label + V + 1
        # The exponent of a float64 is the number of binary digits, exact below 2**53.
        depth = np.frexp(code)[1] - 1
    else:
        first = prepared[0][label]
        depth = prepared[0][label + 1] - first
    start = np.concatenate([[0], np.cumsum(depth)])
    place = np.arange(start[-1]) - np.repeat(start[:-1], depth)
    if prepared is None:
        repeated = np.repeat(code, depth)
        # A prefix of the code is the heap number of a node, the digit after it the side.
        return start, (repeated >> (place + 1)) - 1, repeated >> place & 1
    found = np.repeat(first, depth) + place
    return start, prepared[1][found], prepared[2][found]


each(HierarchicalSigmoid.score)(chosen_score)


@each(HierarchicalSigmoid.cost)
def hsigmoid_cost(n, score, chosen_value, E_start):
    return sum(logistic_cost(score[e], chosen_value[e]) for e in range(E_start[n], E_start[n + 1]))


@each(HierarchicalSigmoid.delta)
def hsigmoid_delta(e, n, dcost, score, chosen_value):
    return dcost[n] * logistic_cost_derivative(score[e], chosen_value[e])


gradient(HierarchicalSigmoid.x)(chosen_dx)
gradient(HierarchicalSigmoid.weight, used=HierarchicalSigmoid.chosen)(chosen_dweight)
gradient(HierarchicalSigmoid.bias, used=HierarchicalSigmoid.chosen)(chosen_dbias)
