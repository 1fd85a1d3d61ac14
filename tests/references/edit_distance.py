"""References of edit distances: the recursive definition."""

from functools import cache
from itertools import groupby

import numpy as np


def pieces(rows, starts):
    return np.split(rows, starts[1:-1])


@cache
def levenshtein(said, meant):
    """Edits, less important first: those that are no replacement; then deletions, insertions."""
    if not said or not meant:
        return len(said) + len(meant), len(said) + len(meant), len(meant), len(said)
    edits, gaps, deletions, insertions = levenshtein(said[1:], meant[1:])
    replaced = (edits + (said[0] != meant[0]), gaps, deletions, insertions)
    edits, gaps, deletions, insertions = levenshtein(said[1:], meant)
    inserted = (edits + 1, gaps + 1, deletions, insertions + 1)
    edits, gaps, deletions, insertions = levenshtein(said, meant[1:])
    deleted = (edits + 1, gaps + 1, deletions + 1, insertions)
    return min(replaced, inserted, deleted)


def ctc_edit_distance(inputs, params, attributes):
    best, blank = inputs["x"].argmax(axis=1), attributes["blank"]
    frames, wanted = pieces(best, inputs["x.starts"][0]), pieces(inputs["label"], inputs["label.starts"][0])
    said = [tuple(c for c, _ in groupby(piece.tolist()) if c != blank) for piece in frames]
    meant = [tuple(c for c in piece.tolist() if c != blank) for piece in wanted]
    found = np.array([levenshtein(*pair) for pair in zip(said, meant, strict=True)]).reshape(-1, 4)
    edits, gaps, deletions, insertions = found.sum(axis=0)
    counts = {"": edits, "deletions": deletions, "insertions": insertions, "substitutions": edits - gaps}
    labels = sum(map(len, meant))
    report = {name: count / labels if labels else np.nan for name, count in counts.items()}
    there = sum(len(rows) > 0 or len(own) > 0 for rows, own in zip(frames, meant, strict=True))
    return {"report": report | {"sequences": (found[:, 0] > 0).sum() / there if there else np.nan}}


REFERENCES = {"ctc_edit_distance": ctc_edit_distance}
