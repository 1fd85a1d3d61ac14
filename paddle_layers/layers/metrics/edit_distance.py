"""Edit distance of CTC predictions."""

import math

from paddle_layers.define import Example, Input, Int, Stat, Temp, each, fill, infer, layer, real, require, result
from paddle_layers.layers.checks import check_labels
from paddle_layers.layers.helpers import exceeds

EDIT = 1 << 20
"""Cost of an edit; one that is no replacement costs 1 more, so that there are as many replacements as may be."""


@layer(
    "ctc_edit_distance",
    elsewhere={"Paddle": "ctc_edit_distance"},
    terms=("label error rate", "edit distance", "Levenshtein distance", "character error rate"),
    since=1,
)
class CtcEditDistance:
    """Label error rate of CTC predictions: the edit distance to the labels, divided by their number.

    The predicted class of each time step has the maximum score; repetitions are collapsed and blanks removed, in
    predictions and labels, as in `ctc`. An edit inserts, deletes or substitutes one class (Levenshtein 1966).
    `deletions`, `insertions` and `substitutions` are the error rates by type, with as many substitutions as the minimum
    number of edits allows; `sequences` is the fraction of the sequences with any error. Paddle divides by the longer of
    the two sequences.
    """

    x = Input("T:S C", "score per class and time step", seq=(1,))
    label = Input("K:R", "label sequence", kinds=("INT",), seq=(1,))
    blank = Int("blank class", default=0, min=0)
    guess = Temp("T:S", "predicted class", kind="INT")
    said = Temp("T:S", "class after collapsing repetitions, or -1", kind="INT")
    distance = Temp("K:R", "edit distance up to this label", kind="INT")
    edits = Stat("S", "edit distance of the sequence")
    missing = Stat("S", "deletions of the sequence")
    added = Stat("S", "insertions of the sequence")
    wrong = Stat("S", "1 for a sequence with errors")
    lists = Stat("S", "1 for a nonempty sequence")
    labels = Stat("S", "labels of the sequence")
    examples = (
        Example(x="sequence of 3", label="sequence of ids<3"),
        Example(x="sequence of 4", label="sequence of ids<3", blank=3),
    )


@infer(CtcEditDistance)
def ctc_edit_distance_labels(label, C, blank):
    check_labels(label, C)
    require(blank < C, "blank", f"the blank is class {blank}, but {C} classes have a score, from 0 on")
    return {}


@each(CtcEditDistance.guess)
def ctc_edit_distance_guess(t, x, C):
    best = 0
    for c in range(1, C):
        if exceeds(x[t, c], x[t, best]):
            best = c
    return best


@each(CtcEditDistance.said, scan="forward")
def ctc_edit_distance_said(t, before, guess, blank):
    if guess[t] == blank or (before >= 0 and guess[before] == guess[t]):
        return -1
    return guess[t]


@fill(CtcEditDistance.distance, per="R")
def ctc_edit_distance_distance(r, distance, label, said, blank, S_start, R_start):
    """Wagner-Fischer dynamic programming, one row per predicted class, updated in place."""
    count = 0
    for k in range(R_start[r], R_start[r + 1]):
        # Blanks among the labels cost nothing.
        count += 0 if label[k] == blank else EDIT + 1
        distance[k] = count
    heard = 0
    for t in range(S_start[r], S_start[r + 1]):
        if said[t] >= 0:
            # One row of the table is enough: `diagonal` is the value of the previous row on the left, `left` that of
            # this row.
            diagonal = heard
            heard += EDIT + 1
            left = heard
            for k in range(R_start[r], R_start[r + 1]):
                if label[k] != blank:
                    replaced = diagonal + (0 if label[k] == said[t] else EDIT)
                    diagonal = distance[k]
                    left = min(replaced, left + EDIT + 1, distance[k] + EDIT + 1)
                distance[k] = left


@each(
    CtcEditDistance.edits,
    CtcEditDistance.missing,
    CtcEditDistance.added,
    CtcEditDistance.wrong,
    CtcEditDistance.lists,
    CtcEditDistance.labels,
)
def ctc_edit_distance_edits(s, distance, said, label, blank, S_start, R_start):
    heard = 0
    for t in range(S_start[s], S_start[s + 1]):
        heard += 1 if said[t] >= 0 else 0
    labels = 0
    for k in range(R_start[s], R_start[s + 1]):
        labels += 1 if label[k] != blank else 0
    cost = distance[R_start[s + 1] - 1] if R_start[s + 1] > R_start[s] else heard * (EDIT + 1)
    # An edit costs EDIT, and 1 more unless it is a substitution: quotient and remainder count both.
    edits = cost // EDIT
    gaps = cost % EDIT
    # Insertions minus deletions is the difference of the lengths, their sum is `gaps`.
    added = (gaps + heard - labels) // 2
    wrong = 1.0 if edits > 0 else 0.0
    there = 1.0 if labels > 0 or S_start[s + 1] > S_start[s] else 0.0
    return real(edits), real(gaps - added), real(added), wrong, there, real(labels)


@result(CtcEditDistance, "", "deletions", "insertions", "substitutions", "sequences", best="min")
def ctc_edit_distance_rates(edits, missing, added, wrong, lists, labels):
    shares = (edits, missing, added, edits - missing - added)
    return *(share / labels if labels else math.nan for share in shares), wrong / lists if lists else math.nan
