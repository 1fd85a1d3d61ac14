"""References of sequence shapes."""

import numpy as np


def expand(inputs, params, attributes):
    starts = inputs["like.starts"][0 if attributes["level"] == "SEQUENCE" else -1]
    return {"y": np.repeat(inputs["x"], np.diff(starts), axis=0)}


def seq_concat(inputs, params, attributes):
    parts = (np.split(inputs[name], inputs[f"{name}.starts"][-1][1:-1]) for name in ("x", "z"))
    pairs = [np.concatenate(pair) for pair in zip(*parts, strict=True)]
    return {"y": np.concatenate(pairs), "lengths": [len(pair) for pair in pairs]}


def class_token(inputs, params, attributes):
    pieces = np.split(inputs["x"], inputs["x.starts"][-1][1:-1])
    done = [np.vstack([params["token"], piece]) if len(piece) else piece for piece in pieces]
    return {"y": np.concatenate(done), "lengths": [len(piece) for piece in done]}


def seq_reshape(inputs, params, attributes):
    x, size = inputs["x"], attributes["size"]
    return {"y": x.reshape(-1, size), "lengths": np.diff(inputs["x.starts"][-1]) * x.shape[1] // size}


def sub_seq(inputs, params, attributes):
    pieces = np.split(inputs["x"], inputs["x.starts"][-1][1:-1])
    wanted = zip(pieces, inputs["offset"], inputs["length"], strict=True)
    runs = [piece[first : first + count] for piece, first, count in wanted]
    return {"y": np.concatenate(runs), "lengths": [len(run) for run in runs]}


def eos_id(inputs, params, attributes):
    return {"y": (inputs["x"] == attributes["eos_id"]).astype(np.int64)}


def kmax_seq_score(inputs, params, attributes):
    count, rows = attributes["beam_size"], []
    for piece in np.split(inputs["x"].reshape(-1), inputs["x.starts"][-1][1:-1]):
        order = np.argsort(-piece, kind="stable")[:count]
        rows.append(np.concatenate([order, np.full(count - len(order), -1)]))
    return {"y": np.array(rows, float)}


REFERENCES = {
    "expand": expand,
    "class_token": class_token,
    "seq_concat": seq_concat,
    "seq_reshape": seq_reshape,
    "sub_seq": sub_seq,
    "eos_id": eos_id,
    "kmax_seq_score": kmax_seq_score,
}
