"""References of attentions."""

import numpy as np


def pieces(rows, starts):
    return np.split(rows, starts[1:-1])


def places(starts, first=None):
    begins = np.zeros(len(starts) - 1, int) if first is None else first
    return np.concatenate([begin + np.arange(length) for begin, length in zip(begins, np.diff(starts), strict=True)])


def attend(query, keys, values, causal, scale):
    """One head of one sequence, with the probabilities written out."""
    scores = query @ keys.T * (query.shape[1] ** -0.5 if scale is None else scale)
    if causal:
        scores[~np.tri(*scores.shape, dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-1e300))
    return (
        weights / weights.sum(axis=1, keepdims=True) @ values if keys.size else np.zeros((len(query), values.shape[1]))
    )


def heads_of(rows, attributes):
    """Queries, keys and values of each head of the queries; heads of keys and values are repeated."""
    heads = attributes["num_heads"]
    few = heads if attributes["num_kv_heads"] is None else attributes["num_kv_heads"]
    query, *others = (np.split(array, count, axis=1) for array, count in zip(rows, (heads, few, few), strict=True))
    return zip(query, *(np.repeat(other, heads // few, axis=0) for other in others), strict=True)


def multi_head_attention(inputs, params, attributes):
    names, done = ("query", "keys", "values"), []
    for rows in zip(*(pieces(inputs[name], inputs[f"{name}.starts"][0]) for name in names), strict=True):
        parts = heads_of(rows, attributes)
        done.append(np.hstack([attend(*part, attributes["causal"], attributes["scale"]) for part in parts]))
    return {"y": np.concatenate(done)}


def attention_step(inputs, params, attributes):
    """The sequence of each text, put together, and attention of its last row."""
    done, heads = [], attributes["num_heads"]
    groups = heads // (attributes["num_kv_heads"] or heads)
    for n, (place, row) in enumerate(zip(inputs["place"], inputs["row"], strict=True)):
        if place > len(row) or (row[:place] >= len(inputs["row"])).any():
            done.append(np.full(groups * inputs["own_value"].shape[1], np.nan))
            continue
        kept = [
            np.vstack([inputs[before][row[:place], np.arange(place)], inputs[name][n]])
            for before, name in (("keys", "own_key"), ("values", "own_value"))
        ]
        parts = heads_of((inputs["query"][n : n + 1], *kept), attributes)
        done.append(np.hstack([attend(*part, False, attributes["scale"])[0] for part in parts]))
    return {"y": np.reshape(done, (len(inputs["query"]), groups * inputs["own_value"].shape[1]))}


def position_embedding(inputs, params, attributes):
    at = places(inputs["x.starts"][-1])
    table = np.pad(params["table"], ((0, max(at, default=0)), (0, 0)), constant_values=np.nan)
    return {"y": inputs["x"] + table[at]}


def sinusoidal_position(inputs, params, attributes):
    x = inputs["x"]
    y = x.copy()
    for row, place in enumerate(places(inputs["x.starts"][-1], inputs.get("first"))):
        for column in range(x.shape[1]):
            angle = place / 10000 ** (column // 2 * 2 / x.shape[1])
            y[row, column] += np.cos(angle) if column % 2 else np.sin(angle)
    return {"y": y}


def rotary_position(inputs, params, attributes):
    """Pairs of columns as complex numbers, turned by a factor of size 1."""
    x, heads = inputs["x"], attributes["num_heads"]
    parts = x.reshape(len(x), heads, -1)
    half = parts.shape[2] // 2
    halves = attributes["pairs"] == "HALVES"
    first, second = (parts[:, :, :half], parts[:, :, half:]) if halves else (parts[:, :, ::2], parts[:, :, 1::2])
    angle = np.outer(
        places(inputs["x.starts"][-1], inputs.get("first")), attributes["base"] ** (-np.arange(half) / half)
    )
    turned = (first + 1j * second) * np.exp(1j * angle)[:, None]
    pairs = np.concatenate if halves else lambda both, axis: np.stack(both, axis + 1)
    return {"y": pairs((turned.real, turned.imag), axis=2).reshape(x.shape)}


REFERENCES = {
    "rotary_position": rotary_position,
    "multi_head_attention": multi_head_attention,
    "attention_step": attention_step,
    "position_embedding": position_embedding,
    "sinusoidal_position": sinusoidal_position,
}
