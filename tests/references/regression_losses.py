"""Costs of the distance to wanted rows."""

import numpy as np


def errors(inputs):
    return np.abs(inputs["x"] - inputs["target"]).reshape(len(inputs["x"]), -1)


def weighted(terms, inputs):
    weight = inputs.get("weight")
    return terms.sum(axis=1) * (1.0 if weight is None else weight)


def huber_regression(inputs, params, attributes):
    error, delta = errors(inputs), attributes["delta"]
    near, beyond = np.minimum(error, delta), np.maximum(error - delta, 0)  # the tangent starts where the parabola ends
    return {"cost": weighted(near**2 / 2 + delta * beyond, inputs)}


def smooth_l1(inputs, params, attributes):
    error, beta = errors(inputs), attributes["beta"]
    return {"cost": weighted(np.where(error < beta, error**2 / 2 / beta, error - beta / 2), inputs)}


def sum_cost(inputs, params, attributes):
    return {"cost": inputs["x"].reshape(len(inputs["x"]), -1).sum(axis=1)}


def gaussian_kl(inputs, params, attributes):
    mu, sigma = (inputs[name].reshape(len(inputs[name]), -1) for name in ("mu", "sigma"))
    variance = sigma**2
    return {"cost": (mu**2 + variance - 1 - np.log(variance)).sum(axis=1) / 2}


REFERENCES = {
    "huber_regression": huber_regression,
    "smooth_l1": smooth_l1,
    "sum_cost": sum_cost,
    "gaussian_kl": gaussian_kl,
}
