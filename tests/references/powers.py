"""References of powers."""

import numpy as np


def slope_intercept(inputs, params, attributes):
    return {"y": np.polyval([attributes["slope"], attributes["intercept"]], inputs["x"])}


def power(inputs, params, attributes):
    base = attributes["shift"] + attributes["scale"] * inputs["x"]
    return {"y": np.power(base, attributes["power"])}


def row_power(inputs, params, attributes):
    return {"y": np.exp(np.log(inputs["x"]) * inputs["exponent"].reshape(-1, 1))}


REFERENCES = {"slope_intercept": slope_intercept, "power": power, "row_power": row_power}
