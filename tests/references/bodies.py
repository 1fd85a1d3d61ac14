"""References of layers made of layers: their formulas, with the references of other layers for the heavy parts.

`params` has the parameters and states of parts, as `gates.weight`.
"""

import numpy as np
from scipy import special

import paddle_layers as pl

from .attentions import attend
from .contexts import context, sequence_softmax
from .convolutions import conv
from .normalizations import batch_norm
from .poolings import pool
from .recurrences import grumemory, lstmemory

ACTS = {"linear": lambda v: v, "tanh": np.tanh, "relu": lambda v: np.maximum(v, 0), "sigmoid": special.expit}


def settings(layer, **given):
    """All attributes of a layer."""
    return {**pl.registry[layer].bind(given), "training": False}


def under(params, name):
    """Parameters of a part by their names in it."""
    return {key.removeprefix(f"{name}."): value for key, value in params.items() if key.startswith(f"{name}.")}


def recurrent_with_map(reference, layer):
    def run(inputs, params, attributes):
        gates = {**inputs, "x": inputs["x"] @ params["gates.weight"]}
        part = "lstm" if layer == "lstmemory" else "gru"
        return reference(gates, under(params, part), {**settings(layer), **attributes})

    return run


simple_lstm, simple_gru = recurrent_with_map(lstmemory, "lstmemory"), recurrent_with_map(grumemory, "grumemory")


def both_ways(one_way, layer):
    def run(inputs, params, attributes):
        size = attributes["size"]
        ways = [
            one_way(inputs, under(params, name), settings(layer, size=size, reverse=name == "backward"))["y"]
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
    wanted = inputs["state"] @ params["transform.weight"]
    fit = np.tanh(inputs["projected"] + np.repeat(wanted, np.diff(starts), axis=0))
    scores = {"x": fit @ params["scores.weight"], "x.starts": [starts]}
    weighted = sequence_softmax(scores, {}, {})["y"] * inputs["encoded"]
    return {"y": np.stack([piece.sum(axis=0) for piece in np.split(weighted, starts[1:-1])])}


def gated_unit(inputs, params, attributes):
    x = inputs["x"].reshape(len(inputs["x"]), -1)
    value = x @ params["value.weight"] + params.get("value.bias", 0.0)
    gate = x @ params["gate.weight"] + params.get("gate.bias", 0.0)
    return {"y": ACTS[attributes["act"]](value) * special.expit(gate)}


def normed_conv(x, params, name, training, **given):
    sums = conv({"x": x}, under(params, name), settings("conv", bias=False, **given))["y"]
    return batch_norm({"x": sums}, under(params, f"{name}_norm"), {**settings("batch_norm"), "training": training})["y"]


def residual_block(inputs, params, attributes):
    x, filters, training = inputs["x"], attributes["num_filters"], attributes["training"]
    wide = {"num_filters": filters, "filter_size": 3, "padding": 1}
    y = np.maximum(normed_conv(x, params, "conv1", training, stride=attributes["stride"], **wide), 0)
    y = normed_conv(y, params, "conv2", training, **wide)
    if "shortcut.weight" in params:
        narrow = {"num_filters": filters, "filter_size": 1, "stride": attributes["stride"]}
        x = normed_conv(x, params, "shortcut", training, **narrow)
    return {"y": np.maximum(x + y, 0)}


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

    look = brought_to_size(x, under(params, "look"), kind)
    maps = [affine(look, name) for name in ("query", "keys", "values")]
    heads = np.zeros_like(x)
    for rows in np.split(np.arange(len(x)), starts[1:-1]):
        parts = zip(*(np.split(array[rows], attributes["num_heads"], axis=1) for array in maps), strict=True)
        heads[rows] = np.hstack([attend(*part, attributes["causal"], None) for part in parts])
    seen = x + affine(heads, "merge")
    wide = affine(brought_to_size(seen, under(params, "think"), kind), "wide")
    return {"y": seen + affine(wide * special.ndtr(wide), "narrow")}


def img_conv_group(inputs, params, attributes):
    a, x = attributes, inputs["x"]
    for number, filters in enumerate(a["num_filters"], 1):
        given = {"num_filters": filters, "filter_size": a["filter_size"], "padding": a["padding"]}
        bias = not a["batch_norm"]
        x = conv({"x": x}, under(params, f"conv{number}"), settings("conv", bias=bias, **given))["y"]
        if a["batch_norm"]:
            norm = {**settings("batch_norm"), "training": a["training"]}
            x = batch_norm({"x": x}, under(params, f"norm{number}"), norm)["y"]
        x = ACTS[a["act"]](x)
    window = settings("pool", pool_type=a["pool_type"], pool_size=a["pool_size"], stride=a["pool_stride"])
    return pool({"x": x}, {}, window)


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
    return {"y": total + params.get("bias.offset", 0.0)}


REFERENCES = {
    "simple_lstm": simple_lstm,
    "simple_gru": simple_gru,
    "bidirectional_lstm": both_ways(simple_lstm, "simple_lstm"),
    "bidirectional_gru": both_ways(simple_gru, "simple_gru"),
    "sequence_conv_pool": sequence_conv_pool,
    "simple_attention": simple_attention,
    "gated_unit": gated_unit,
    "residual_block": residual_block,
    "transformer_block": transformer_block,
    "img_conv_group": img_conv_group,
    "mixed": mixed,
}
