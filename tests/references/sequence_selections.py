"""References of sequence selections."""

import itertools

import numpy as np


def seq_slice(inputs, params, attributes):
    pieces = np.split(inputs["x"], inputs["x.starts"][-1][1:-1])
    lasts = [None] * len(pieces) if inputs["last"] is None else inputs["last"]
    runs = [inputs["x"][:0]]
    for piece, first, last in zip(pieces, inputs["first"].astype(int), lasts, strict=True):
        if last is not None:
            pairs = zip(first, last.astype(int), strict=True)
        else:
            pairs = (
                (place, len(piece) - 1) if attributes["select_first"] or place < 0 else (0, place) for place in first
            )
        runs += [piece[i : j + 1] for i, j in itertools.takewhile(lambda pair: min(pair) >= 0, pairs)]
    return {"y": np.concatenate(runs), "lengths": [len(run) for run in runs[1:]]}


def sub_nested_seq(inputs, params, attributes):
    parts, taken = inputs["x.starts"][1], [inputs["x"][:0]]
    for first, numbers in zip(inputs["x.parts"][:-1], inputs["selected"].astype(int), strict=True):
        for number in itertools.takewhile(lambda number: number >= 0, numbers):
            taken.append(inputs["x"][parts[first + number] : parts[first + number + 1]])
    return {"y": np.concatenate(taken), "lengths": [len(piece) for piece in taken[1:]]}


REFERENCES = {"seq_slice": seq_slice, "sub_nested_seq": sub_nested_seq}
