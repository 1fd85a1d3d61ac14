"""Layers that look at results: what a row says, and how often it is right."""

import math

from paddle_layers.define import Example, Input, Int, Output, Stat, each, infer, layer, require, result

from .costs import check_labels
from .helpers import exceeds


@layer(
    "accuracy",
    elsewhere={"Paddle": "classification_error", "Caffe": "Accuracy", "Mocha": "AccuracyLayer"},
    since=1,
)
class Accuracy:
    """Share of the rows whose right class is among the `top_k` best scores.

    A row is right if fewer than `top_k` other classes score as much as the right one or more, so ties count against
    it, as in Caffe: a network that gives every class the same score is right nowhere. A score that is not a number
    counts against the row, too. Rows whose label is `ignore_label` or outside the classes are not counted; with no
    row counted there is no share (NaN), where Caffe gives 0. Counts run on over the batches until they are reset, as
    in Mocha. Paddle reports the error rate, one minus this.
    """

    x = Input("N C...", "score or probability of every class", seq=(0, 1, 2))
    label = Input("N", "right class of every row", kinds=("INT",), seq=(0, 1, 2))
    top_k = Int("how many best scores count as right", default=1, min=1)
    ignore_label = Int("rows of this class are not counted", optional=True)
    hits = Stat("N", "rows that are right")
    rows = Stat("N", "rows counted")
    examples = (
        Example(x="4", label="ids<4"),
        Example(x="5x1x1", label="ids<5", top_k=2, ignore_label=0),
        Example(x="sequence of 3", label="sequence of ids<4", ignore_label=3),
    )


@infer(Accuracy)
def accuracy_labels(label, C, top_k, ignore_label):
    check_labels(label, C, ignore_label)
    require(top_k <= C, "top_k", f"the {top_k} best of {C} classes are all of them")
    return {}


@each(Accuracy.rows)
def accuracy_rows(n, label, C, ignore_label):
    if ignore_label is not None and (label[n] == ignore_label or label[n] < 0 or label[n] >= C):
        return 0.0
    return 1.0


@each(Accuracy.hits)
def accuracy_hits(n, x, label, rows, C, top_k):
    if rows[n] == 0.0:
        return 0.0
    others = 0
    for c in range(C):
        if c != label[n] and not x[n, c] < x[n, label[n]]:
            others += 1
    return 1.0 if others < top_k else 0.0


@result(Accuracy)
def accuracy_share(hits, rows):
    return hits / rows if rows else math.nan


@layer("maxid", elsewhere={"Paddle": "maxid", "Caffe": "ArgMax", "Mocha": "ArgmaxLayer", "ONNX": "ArgMax"}, since=1)
class MaxId:
    """Number of the best score of every row; of equal scores the first, and NaN before all others.

    Paddle gives `beam_size` ids a row inside its beam search and one elsewhere, Caffe `top_k` of them as real
    numbers; here it is one id, which an embedding takes as it is.
    """

    x = Input("N C...", "score of every class", seq=(0, 1, 2), kinks=("ties",))
    y = Output("N", "id of the best score", kind="INT", size="C")
    examples = (
        Example(x="5"),
        Example(x="2x1x3"),
        Example(x="sequence of 4"),
    )


@each(MaxId.y)
def maxid_y(n, x, C):
    best = 0
    for c in range(1, C):
        if exceeds(x[n, c], x[n, best]):
            best = c
    return best
