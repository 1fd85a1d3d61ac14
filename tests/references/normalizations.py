"""Normalisations, from their formulas."""

import numpy as np


def along_channels(values, x):
    return values.reshape(-1, *[1] * (x.ndim - 2))


def batch_norm(inputs, params, attributes):
    x, fixed = inputs["x"], attributes["use_global_stats"]
    if fixed is None:
        fixed = not attributes["training"]
    axes = (0, *range(2, x.ndim))
    mean, var = (params["running_mean"], params["running_var"]) if fixed else (x.mean(axes), x.var(axes))
    deviation = np.sqrt(along_channels(var, x) + attributes["epsilon"])
    r, d = corrections(x, params, attributes)
    normal = (x - along_channels(mean, x)) / deviation
    y = (normal * along_channels(r, x) + along_channels(d, x)) * along_channels(params["gain"], x)
    if attributes["bias"]:
        y = y + along_channels(params["bias"], x)
    if attributes["use_global_stats"]:
        return {"y": y, "running_mean": params["running_mean"], "running_var": params["running_var"]}
    return {"y": y} | moved(x, params, attributes)


def corrections(x, params, attributes):
    """Factor and summand of renormalisation, from the formulas of Ioffe's paper."""
    r, d = np.ones(x.shape[1]), np.zeros(x.shape[1])
    if attributes["training"] and not attributes["use_global_stats"]:
        axes = (0, *range(2, x.ndim))
        batch, running = (np.sqrt(v + attributes["epsilon"]) for v in (x.var(axes), params["running_var"]))
        factor, summand = attributes["r_max"] or 1, attributes["d_max"] or 0
        r = np.clip(batch / running, 1 / factor, factor)
        d = np.clip((x.mean(axes) - params["running_mean"]) / running, -summand, summand)
    return r, d


def batch_norm_gradient(inputs, params, attributes, gradients):
    """By the matrix of derivatives of each channel's values by one another; r and d are constants."""
    x, fixed = inputs["x"], attributes["use_global_stats"]
    r, _ = corrections(x, params, attributes)
    dx = np.zeros_like(x)
    for c in range(x.shape[1]):
        values, delta = x[:, c].ravel(), gradients["y"][:, c].ravel()
        mean, var = (params["running_mean"][c], params["running_var"][c]) if fixed else (values.mean(), values.var())
        deviation = np.sqrt(var + attributes["epsilon"])
        normal, share = (values - mean) / deviation, 0 if fixed else 1 / values.size
        matrix = np.eye(values.size) - share * (1 + np.outer(normal, normal))
        dx[:, c] = (matrix @ delta * params["gain"][c] * r[c] / deviation).reshape(x[:, c].shape)
    return {"x": dx}


def moved(x, params, attributes):
    """Running averages after a step of training."""
    axes, stays = (0, *range(2, x.ndim)), attributes["momentum"] if attributes["training"] else 1
    count = x.size // x.shape[1]
    spread = x.var(axes, ddof=1) if attributes["unbiased"] and count > 1 else x.var(axes)
    return {
        "running_mean": np.average([params["running_mean"], x.mean(axes)], axis=0, weights=[stays, 1 - stays]),
        "running_var": np.average([params["running_var"], spread], axis=0, weights=[stays, 1 - stays]),
    }


def layer_norm(inputs, params, attributes):
    x = inputs["x"] if inputs["x"].ndim > 1 else inputs["x"][:, None]
    first, last = (axis if axis > 0 else axis + x.ndim for axis in (attributes["axis"], attributes["end_axis"]))
    axes, behind = tuple(range(first, last + 1)), [1] * (x.ndim - last - 1)
    centred = x - x.mean(axis=axes, keepdims=True)
    y = centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + attributes["epsilon"])
    y = y * params["gain"].reshape(*x.shape[first : last + 1], *behind)
    if attributes["bias"]:
        y = y + params["bias"].reshape(*x.shape[first : last + 1], *behind)
    return {"y": y.reshape(inputs["x"].shape)}


def group_norm(inputs, params, attributes):
    x = inputs["x"]
    together = x.reshape(len(x), attributes["groups"], -1)
    mean, var = (moment(axis=2, keepdims=True) for moment in (together.mean, together.var))
    y = ((together - mean) / np.sqrt(var + attributes["epsilon"])).reshape(x.shape)
    y = y * along_channels(params["gain"], x)
    return {"y": y + along_channels(params["bias"], x) if attributes["bias"] else y}


def instance_norm(inputs, params, attributes):
    own = {name.removeprefix("norm."): value for name, value in params.items()}
    return group_norm(inputs, own, {**attributes, "groups": inputs["x"].shape[1]})


def mvn(inputs, params, attributes):
    x = inputs["x"] if inputs["x"].ndim > 1 else inputs["x"][:, None]
    first, last = (axis if axis > 0 else axis + x.ndim for axis in (attributes["axis"], attributes["end_axis"]))
    axes = tuple(range(first, last + 1))
    y = x - x.mean(axis=axes, keepdims=True)
    if attributes["normalize_variance"]:
        y = y / (x.std(axis=axes, keepdims=True) + attributes["epsilon"])
    return {"y": y.reshape(inputs["x"].shape)}


def lrn(inputs, params, attributes):
    x, size = inputs["x"], attributes["size"]
    axes = (1,) if attributes["region"] == "ACROSS_CHANNELS" else (2, 3)
    mean_square = x**2 / size ** len(axes)
    for axis in axes:
        before = (size - 1) // 2
        widths = [(before, size - 1 - before) if i == axis else (0, 0) for i in range(4)]
        padded = np.pad(mean_square, widths)
        mean_square = sum(np.take(padded, np.arange(x.shape[axis]) + i, axis) for i in range(size))
    return {"y": x / (attributes["shift"] + attributes["scale"] * mean_square) ** attributes["power"]}


def cross_channel_norm(inputs, params, attributes):
    x = inputs["x"]
    length = np.linalg.norm(np.concatenate([x, np.full_like(x[:, :1], attributes["epsilon"] ** 0.5)], 1), axis=1)
    return {"y": x / length[:, None] * along_channels(params["scale"], x)}


REFERENCES = {
    "batch_norm": batch_norm, "layer_norm": layer_norm, "lrn": lrn, "cross_channel_norm": cross_channel_norm,
    "group_norm": group_norm, "instance_norm": instance_norm, "mvn": mvn,
}  # fmt: skip
REFERENCES_OF_GRADIENTS = {"batch_norm": batch_norm_gradient}
