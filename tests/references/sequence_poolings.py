"""References of sequence poolings."""

import numpy as np


def pieces(inputs, attributes):
    """The rows of every sequence, or of every sub-sequence."""
    starts = inputs["x.starts"][0 if attributes["level"] == "SEQUENCE" else -1]
    return np.split(inputs["x"], starts[1:-1])


def pick(choose, empty=0.0):
    """A reference that chooses one row of a piece; zeros, or another number, for an empty one."""

    def reference(inputs, params, attributes):
        width = inputs["x"].shape[1]
        return {"y": np.stack([choose(p) if len(p) else np.full(width, empty) for p in pieces(inputs, attributes)])}

    return reference


def seq_window_pool(inputs, params, attributes):
    how, rows, lengths = attributes["strategy"], [], []
    for piece in np.split(inputs["x"], inputs["x.starts"][-1][1:-1]):
        for first in range(0, len(piece), attributes["stride"]):
            window = piece[first : first + attributes["stride"]]
            total = window.sum(axis=0)
            given = {"FIRST": window[0], "LAST": window[-1], "SUM": total, "AVERAGE": total / len(window)}
            given |= {"MAX": window.max(axis=0), "SQUARE_ROOT": total / np.sqrt(len(window))}
            rows.append(given[how])
        lengths.append(-(-len(piece) // attributes["stride"]))
    return {"y": np.array(rows).reshape(-1, inputs["x"].shape[1]), "lengths": lengths}


REFERENCES = {
    "seq_arg_max": pick(lambda piece: piece.argmax(axis=0), -1.0),
    "seq_max_pool": pick(lambda piece: piece.max(axis=0)),
    "seq_last": pick(lambda piece: piece[-1]),
    "seq_first": pick(lambda piece: piece[0]),
    "seq_window_pool": seq_window_pool,
}
