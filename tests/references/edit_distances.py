"""References of edit distances: the recursive definition."""

from functools import cache
from itertools import groupby

import numpy as np


def pieces(rows, starts):
    return np.split(rows, starts[1:-1])


@cache
def levenshtein(one, other):
    if not one or not other:
        return len(one) + len(other)
    replaced = levenshtein(one[1:], other[1:]) + (one[0] != other[0])
    return min(replaced, levenshtein(one[1:], other) + 1, levenshtein(one, other[1:]) + 1)


def ctc_edit_distance(inputs, params, attributes):
    best, blank = inputs["x"].argmax(axis=1), attributes["blank"]
    frames, wanted = pieces(best, inputs["x.starts"][0]), pieces(inputs["label"], inputs["label.starts"][0])
    said = [tuple(c for c, _ in groupby(piece.tolist()) if c != blank) for piece in frames]
    meant = [tuple(c for c in piece.tolist() if c != blank) for piece in wanted]
    edits, labels = sum(map(levenshtein, said, meant)), sum(map(len, meant))
    return {"report": {"": edits / labels if labels else np.nan}}


REFERENCES = {"ctc_edit_distance": ctc_edit_distance}
