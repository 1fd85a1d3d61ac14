"""References of layers made of layers: their formulas, with the references of other layers for the heavy parts.

`params` has the parameters and states of parts, as `gates.weight`.
"""

import numpy as np
from scipy import special

from .attentions import attend
from .contexts import context, sequence_softmax
from .convolutions import conv
from .normalizations import batch_norm
from .poolings import pool
from .recurrences import grumemory, lstmemory

ACTS = {"linear": lambda v: v, "tanh": np.tanh, "relu": lambda v: np.maximum(v, 0), "sigmoid": special.expit}


GATES = {"act": "tanh", "gate_act": "sigmoid", "state_act": "tanh", "peepholes": True, "reset_after": False}
"""What the parts with gates have where the layer has no attribute for it."""
NORM = {
    "epsilon": 1e-5, "momentum": 0.9, "unbiased": False, "use_global_stats": None, "bias": True,
    "r_max": None, "d_max": None,
}  # fmt: skip


def window(size, stride, padding):
    """Attributes of a square window that a convolution and a pool share in meaning."""
    both = {"filter_size": size, "pool_size": size, "stride": stride, "dilation": 1}
    both |= {"padding": padding, "padding_end": padding}
    return both | {f"{name}_y": value for name, value in both.items()}


def convolved(x, params, name, size, stride, padding, *, bias):
    """What a convolution without groups makes of images."""
    attributes = {**window(size, stride, padding), "groups": 1, "bias": bias}
    return conv({"x": x}, under(params, name), attributes)["y"]


def normed(x, params, name, training):
    return batch_norm({"x": x}, under(params, name), {**NORM, "training": training})["y"]


def under(params, name):
    """Parameters of a part by their names in it."""
    return {key.removeprefix(f"{name}."): value for key, value in params.items() if key.startswith(f"{name}.")}


def recurrent_with_map(reference, part):
    def run(inputs, params, attributes):
        gates = {**inputs, "x": inputs["x"] @ params["gates.weight"]}
        return reference(gates, under(params, part), {**GATES, **attributes})

    return run


simple_lstm, simple_gru = recurrent_with_map(lstmemory, "lstm"), recurrent_with_map(grumemory, "gru")


def both_ways(one_way):
    def run(inputs, params, attributes):
        ways = [
            one_way(inputs, under(params, name), {"reverse": name == "backward"})["y"]
            for name in ("forward", "backward")
        ]
        if attributes["return_seq"]:
            return {"y": np.hstack(ways)}
        starts = inputs["x.starts"][-1]
        ends = ways[0][starts[1:] - 1], ways[1][np.minimum(starts[:-1], len(inputs["x"]) - 1)]
        filled = (np.diff(starts) > 0)[:, None]
        return {"y": np.where(filled, np.hstack(ends), 0.0)}

    return run


def sequence_conv_pool(inputs, params, attributes):
    runs = context(inputs, {}, {"length": attributes["context_len"], "start": attributes["context_start"]})["y"]
    features = ACTS[attributes["fc_act"]](runs @ params["features.weight"] + params["features.bias"])
    pieces = np.split(features, inputs["x.starts"][0][1:-1])
    reduce = np.max if attributes["pool_type"] == "MAX" else np.mean
    return {"y": np.stack([reduce(p, axis=0) if len(p) else np.zeros(features.shape[1]) for p in pieces])}


def simple_attention(inputs, params, attributes):
    starts = inputs["encoded.starts"][0]
    wanted = inputs["state"] @ params["query.weight"]
    fit = np.tanh(inputs["projected"] + np.repeat(wanted, np.diff(starts), axis=0))
    scores = {"x": fit @ params["scores.weight"], "x.starts": [starts]}
    weighted = sequence_softmax(scores, {}, {})["y"] * inputs["encoded"]
    return {"y": np.stack([piece.sum(axis=0) for piece in np.split(weighted, starts[1:-1])])}


def gated_unit(inputs, params, attributes):
    x = inputs["x"].reshape(len(inputs["x"]), -1)
    value = x @ params["value.weight"] + (params["value.bias"] if attributes["bias"] else 0.0)
    gate = x @ params["gate.weight"] + (params["gate.bias"] if attributes["gate_bias"] else 0.0)
    return {"y": ACTS[attributes["act"]](value) * special.expit(gate)}


def residual_block(inputs, params, attributes):
    x, stride, training = inputs["x"], attributes["stride"], attributes["training"]

    def normed_conv(x, name, *how):
        return normed(convolved(x, params, name, *how, bias=False), params, f"{name}_norm", training)

    y = normed_conv(np.maximum(normed_conv(x, "conv1", 3, stride, 1), 0), "conv2", 3, 1, 1)
    shortcut = normed_conv(x, "shortcut", 1, stride, 0) if "shortcut.weight" in params else x
    return {"y": np.maximum(shortcut + y, 0)}


def brought_to_size(x, params, kind):
    centred = x - x.mean(axis=1, keepdims=True) if kind == "LAYER_NORM" else x
    rows = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * params["gain"]
    return rows + params["bias"] if kind == "LAYER_NORM" else rows


def transformer_block(inputs, params, attributes):
    if attributes["drop_rate"] and attributes["training"]:
        return {"y": None}
    x, starts, kind = inputs["x"], inputs["x.starts"][0], attributes["norm"]

    def affine(rows, name):
        return rows @ params[f"{name}.weight"] + params.get(f"{name}.bias", 0.0)

    norm1 = brought_to_size(x, under(params, "norm1"), kind)
    maps = [affine(norm1, name) for name in ("query", "key", "value")]
    heads = np.zeros_like(x)
    for rows in np.split(np.arange(len(x)), starts[1:-1]):
        parts = zip(*(np.split(array[rows], attributes["num_heads"], axis=1) for array in maps), strict=True)
        heads[rows] = np.hstack([attend(*part, attributes["causal"], None) for part in parts])
    residual = x + affine(heads, "out_proj")
    hidden = affine(brought_to_size(residual, under(params, "norm2"), kind), "ffn_in")
    return {"y": residual + affine(hidden * special.ndtr(hidden), "ffn_out")}


def img_conv_group(inputs, params, attributes):
    a, x = attributes, inputs["x"]
    for number, filters in enumerate(a["num_filters"], 1):
        x = convolved(x, params, f"conv{number}", a["filter_size"], 1, a["padding"], bias=not a["batch_norm"])
        assert x.shape[1] == filters
        if a["batch_norm"]:
            x = normed(x, params, f"norm{number}", a["training"])
        x = ACTS[a["act"]](x)
    how = {"pool_type": a["pool_type"], "rounding": "CEIL", "divisor": "VALID", "global_pooling": False}
    return pool({"x": x}, {}, {**window(a["pool_size"], a["pool_stride"], 0), **how})


def mixed(inputs, params, attributes):
    arrays, total = list(inputs["x"]), 0.0
    for number, term in enumerate(attributes["terms"]):
        same = attributes["terms"].count(term) > 1
        name = f"{term}_{attributes['terms'][:number].count(term)}" if same else term
        own, x = under(params, name), arrays.pop(0)
        if term != "table":
            x = x.reshape(len(x), -1)
        match term:
            case "full_matrix":
                x = x @ own["weight"]
            case "trans_full_matrix":
                x = x @ own["weight"].T
            case "table":
                x = own["table"][x]
            case "dot_mul" | "scaling":
                x = x * own["gain"]
            case "dot_mul_operator":
                x = x * arrays.pop(0)
            case "context":
                window = {"length": attributes["context_len"], "start": attributes["context_start"]}
                x = context({"x": x, "x.starts": inputs["x.starts"]}, {}, window)["y"]
            case "identity" if attributes["offset"] is not None:
                x = x[:, attributes["offset"] :][:, : attributes["size"]]
        total = total + x
    return {"y": total + (params["bias.offset"] if attributes["bias"] else 0.0)}


REFERENCES = {
    "simple_lstm": simple_lstm,
    "simple_gru": simple_gru,
    "bidirectional_lstm": both_ways(simple_lstm),
    "bidirectional_gru": both_ways(simple_gru),
    "sequence_conv_pool": sequence_conv_pool,
    "simple_attention": simple_attention,
    "gated_unit": gated_unit,
    "residual_block": residual_block,
    "transformer_block": transformer_block,
    "img_conv_group": img_conv_group,
    "mixed": mixed,
}
