"""How far what rows say is from what they should say."""

import math

from paddle_layers.define import Example, Input, Int, Stat, Temp, each, fill, infer, layer, real, require, result
from paddle_layers.layers.checks import check_labels
from paddle_layers.layers.helpers import exceeds

EDIT = 1 << 20
"""Cost of an edit; one that is no replacement costs 1 more, so that there are as many replacements as may be."""


@layer("ctc_edit_distance", elsewhere={"Paddle": "ctc_edit_distance"}, since=1)
class CtcEditDistance:
    """Edits that turn what the rows say into the labels, as a share of the labels: the label error rate.

    Every row says the class with the best score; a class that is said several times running counts once, and blanks
    are left out, here and among the labels, as in `ctc`. An edit puts in, takes out or replaces one class (Levenshtein
    1966). `deletions`, `insertions` and `substitutions` are the shares of labels that are not said, of classes that are
    said without a label, and of labels for which another class is said, with as many of the last as the fewest edits
    leave; `sequences` is the share of the sequences that need any edit. Paddle divides by the longer of the two.
    """

    x = Input("T:S C", "score of every class in every row", seq=(1,))
    label = Input("K:R", "labels in their order", kinds=("INT",), seq=(1,))
    blank = Int("class that says nothing", default=0, min=0)
    guess = Temp("T:S", "class with the best score", kind="INT")
    said = Temp("T:S", "class that counts, or -1", kind="INT")
    distance = Temp("K:R", "cost of the edits between what is said and the labels up to this one", kind="INT")
    edits = Stat("S", "edits of the sequence")
    missing = Stat("S", "deletions of the sequence")
    added = Stat("S", "insertions of the sequence")
    wrong = Stat("S", "1 for a sequence that needs an edit")
    lists = Stat("S", "1 for a sequence with rows or labels")
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
    """The table of Wagner and Fischer, a row for each class that is said, each in the place of the one before."""
    count = 0
    for k in range(R_start[r], R_start[r + 1]):
        count += 0 if label[k] == blank else EDIT + 1
        distance[k] = count
    heard = 0
    for t in range(S_start[r], S_start[r + 1]):
        if said[t] >= 0:
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
    edits = cost // EDIT
    gaps = cost % EDIT
    added = (gaps + heard - labels) // 2
    wrong = 1.0 if edits > 0 else 0.0
    there = 1.0 if labels > 0 or S_start[s + 1] > S_start[s] else 0.0
    return real(edits), real(gaps - added), real(added), wrong, there, real(labels)


@result(CtcEditDistance, "", "deletions", "insertions", "substitutions", "sequences", best="min")
def ctc_edit_distance_rates(edits, missing, added, wrong, lists, labels):
    shares = (edits, missing, added, edits - missing - added)
    return *(share / labels if labels else math.nan for share in shares), wrong / lists if lists else math.nan
