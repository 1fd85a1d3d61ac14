"""References of powers."""

import numpy as np


def slope_intercept(inputs, params, attributes):
    product = np.multiply(inputs["x"], attributes["slope"])
    return {"y": np.add(product, attributes["intercept"], where=attributes["intercept"] != 0, out=product.copy())}


def power(inputs, params, attributes):
    product = np.multiply(inputs["x"], attributes["scale"])
    base = np.add(product, attributes["shift"], where=attributes["shift"] != 0, out=product.copy())
    return {"y": np.power(base, attributes["power"])}


def row_power(inputs, params, attributes):
    return {"y": np.exp(np.log(inputs["x"]) * inputs["exponent"].reshape(-1, 1))}


def sine(inputs, params, attributes):
    return {"y": np.exp(1j * inputs["x"]).imag}


def cosine(inputs, params, attributes):
    return {"y": np.exp(1j * inputs["x"]).real}


REFERENCES = {"sin": sine, "cos": cosine, "slope_intercept": slope_intercept, "power": power, "row_power": row_power}
