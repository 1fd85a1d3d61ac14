"""References of sequences."""

import numpy as np


def embedding(inputs, params, attributes):
    table = params["table"].copy()
    if attributes["padding_id"] is not None:
        table[attributes["padding_id"]] = 0
    return {"y": table[inputs["ids"]]}


def seq_avg_pool(inputs, params, attributes):
    starts = inputs["x.starts"][0 if attributes["level"] == "SEQUENCE" else -1]
    pieces = np.split(inputs["x"], starts[1:-1])
    power = {"SUM": 0, "SQUARE_ROOT": 0.5, "AVERAGE": 1}[attributes["strategy"]]
    return {"y": np.stack([piece.sum(axis=0) / max(len(piece), 1) ** power for piece in pieces])}


REFERENCES = {"embedding": embedding, "seq_avg_pool": seq_avg_pool}
