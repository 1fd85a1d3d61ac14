"""Statistics of rows: how often, how surely and in which order rows are classified."""

import math

from paddle_layers.define import (
    Choice,
    Example,
    Float,
    Input,
    Int,
    Stat,
    Temp,
    double,
    each,
    infer,
    layer,
    require,
    result,
)

from .costs import check_labels


@layer("classification_error", elsewhere={"Paddle": "classification_error"}, since=1)
class ClassificationError:
    """Share of the rows whose right class is not among the `top_k` best scores.

    One minus `accuracy`, which has the same rules for ties, and two things more, as in Paddle: rows may have weights,
    and a single score says yes (class 1) where it is above `threshold`. Counts run on over the batches until they are
    reset; without any weight there is no share (NaN).
    """

    x = Input("N C...", "score or probability of every class", seq=(0, 1, 2))
    label = Input("N", "right class of every row", kinds=("INT",), seq=(0, 1, 2))
    weight = Input("N", "importance of every row", optional=True, seq=(0, 1, 2))
    top_k = Int("how many best scores count as right", default=1, min=1)
    threshold = Float("where a single score says yes", default=0.5, aliases=("classification_threshold",))
    wrong = Stat("N", "rows that are wrong, weighted")
    rows = Stat("N", "weights of all rows")
    examples = (
        Example(x="4", label="ids<4"),
        Example(x="1", label="ids<2", weight="scalar", threshold=0.0),
        Example(x="sequence of 5", label="sequence of ids<5", top_k=2),
    )


@infer(ClassificationError)
def classification_error_labels(label, C, top_k):
    check_labels(label, max(C, 2))
    require(top_k <= C, "top_k", f"the {top_k} best of {C} classes are all of them")
    return {}


@each(ClassificationError.wrong)
def classification_error_wrong(n, x, label, weight, C, top_k, threshold):
    share = 1.0 if weight is None else weight[n]
    if C == 1:
        return 0.0 if (x[n, 0] > threshold) == (label[n] == 1) else share
    others = 0
    for c in range(C):
        if c != label[n] and not x[n, c] < x[n, label[n]]:
            others += 1
    return 0.0 if others < top_k else share


@each(ClassificationError.rows)
def classification_error_rows(n, weight):
    return 1.0 if weight is None else weight[n]


@result(ClassificationError)
def classification_error_share(wrong, rows):
    return wrong / rows if rows else math.nan


def f_measure(measure: str, correct: float, found: float, wanted: float) -> float:
    """Precision, recall or their harmonic mean; what is not defined is not a number."""
    parts = {"PRECISION": found, "RECALL": wanted, "F1": (found + wanted) / 2}
    return correct / parts[measure] if parts[measure] else math.nan


MEASURES = {
    "F1": "harmonic mean of precision and recall",
    "PRECISION": "share of what was found that is right",
    "RECALL": "share of what is right that was found",
}


@layer("precision_recall", elsewhere={"Paddle": "precision_recall"}, since=1)
class PrecisionRecall:
    """Precision, recall or F1 of one class: `F1 = 2 * correct / (found + wanted)`.

    A row is found to be of the class with the best score, the first of equal ones; a single score says yes (class 1)
    where it is above `threshold`. Use the layer several times for several numbers. Paddle prints all of them, and for
    all classes together where no `positive_label` is given: counted together they are all the same as `accuracy`.
    """

    x = Input("N C...", "score or probability of every class", seq=(0, 1, 2))
    label = Input("N", "right class of every row", kinds=("INT",), seq=(0, 1, 2))
    positive_label = Int("the class that is looked for", min=0)
    measure = Choice("what is reported", options=MEASURES, default="F1")
    threshold = Float("where a single score says yes", default=0.5, aliases=("classification_threshold",))
    guess = Temp("N", "class that was found", kind="INT")
    correct = Stat("N", "rows rightly found")
    found = Stat("N", "rows found")
    wanted = Stat("N", "rows of the class")
    examples = (
        Example(x="3", label="ids<3", positive_label=1),
        Example(x="1", label="ids<2", positive_label=1, measure="PRECISION", threshold=0.0),
        Example(x="sequence of 2", label="sequence of ids<2", positive_label=0, measure="RECALL"),
    )


@infer(PrecisionRecall)
def precision_recall_labels(label, C, positive_label):
    check_labels(label, max(C, 2))
    classes = max(C, 2)
    require(positive_label < classes, "positive_label", f"`positive_label` is {positive_label} of {classes} classes")
    return {}


@each(PrecisionRecall.guess)
def precision_recall_guess(n, x, C, threshold):
    if C == 1:
        return 1 if x[n, 0] > threshold else 0
    best = 0
    for c in range(1, C):
        if x[n, c] > x[n, best]:
            best = c
    return best


@each(PrecisionRecall.correct, PrecisionRecall.found, PrecisionRecall.wanted)
def precision_recall_counts(n, guess, label, positive_label):
    found = 1.0 if guess[n] == positive_label else 0.0
    wanted = 1.0 if label[n] == positive_label else 0.0
    return found * wanted, found, wanted


@result(PrecisionRecall)
def precision_recall_measure(measure, correct, found, wanted):
    return f_measure(measure, correct, found, wanted)


@layer("auc", elsewhere={"Paddle": "last-column-auc"}, since=1)
class Auc:
    """Area under the ROC curve: the share of the pairs of a row of class 1 and one of class 0 in the right order.

    In the right order, the row of class 1 has the higher score; pairs with equal scores count one half (Hanley and
    McNeil 1982). The score is the last column, as in Paddle. Pairs are made within a batch and added up over the
    batches, so a batch should not be small; Paddle puts scores into bins, which all batches share.
    """

    x = Input("N C", "scores; the last column counts", seq=(0, 1, 2))
    label = Input("N", "0 or 1", kinds=("INT",), seq=(0, 1, 2))
    ordered = Stat("N", "pairs of this row of class 1 that are in the right order")
    pairs = Stat("N", "pairs of this row of class 1")
    examples = (
        Example(x="1", label="ids<2"),
        Example(x="2", label="ids<2"),
        Example(x="sequence of 2", label="sequence of ids<2"),
    )


@infer(Auc)
def auc_labels(label):
    require(label.size <= 2, "label", f"there are {label.size} labels, but a curve is for two classes")
    return {}


@each(Auc.ordered)
def auc_ordered(n, x, label, N, C):
    total = 0.0
    if label[n] == 1:
        for m in range(N):
            if label[m] == 0 and x[m, C - 1] < x[n, C - 1]:
                total += 1.0
            elif label[m] == 0 and x[m, C - 1] == x[n, C - 1]:
                total += 0.5
    return total


@each(Auc.pairs)
def auc_pairs(n, label, N):
    total = 0.0
    if label[n] == 1:
        for m in range(N):
            if label[m] == 0:
                total += 1.0
    return total


@result(Auc)
def auc_area(ordered, pairs):
    return ordered / pairs if pairs else math.nan


@layer("row_sum", elsewhere={"Paddle": "sum"}, since=1)
class RowSum:
    """Mean over the rows of the sum of their columns, for instance of a cost that another layer computes."""

    x = Input("N C...", "rows to be added up", seq=(0, 1, 2))
    weight = Input("N", "importance of every row", optional=True, seq=(0, 1, 2))
    total = Stat("N", "sum of the columns, weighted")
    rows = Stat("N", "weights of all rows")
    examples = (
        Example(x="scalar"),
        Example(x="2x3", weight="scalar"),
        Example(x="sequence of 2", weight="sequence of scalar"),
    )


@each(RowSum.total)
def row_sum_total(n, x, weight, C):
    total = double(0.0)  # long rows of both signs would lose digits
    for c in range(C):
        total += x[n, c]
    return total if weight is None else total * weight[n]


@each(RowSum.rows)
def row_sum_rows(n, weight):
    return 1.0 if weight is None else weight[n]


@result(RowSum)
def row_sum_mean(total, rows):
    return total / rows if rows else math.nan
