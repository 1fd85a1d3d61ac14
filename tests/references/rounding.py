"""References of rounding, sign and remainder."""

import numpy as np


def rounding(inputs, params, attributes):
    functions = {"NEAREST": np.rint, "FLOOR": np.floor, "CEIL": np.ceil}
    return {"y": functions[attributes["mode"]](inputs["x"])}


def sign(inputs, params, attributes):
    return {"y": np.sign(inputs["x"])}


def mod(inputs, params, attributes):
    divisor = attributes["value"] if inputs["other"] is None else inputs["other"]
    functions = {"FLOOR": np.mod, "TRUNCATE": np.fmod}
    return {"y": functions[attributes["rounding"]](inputs["x"], divisor)}


REFERENCES = {"round": rounding, "sign": sign, "mod": mod}
