"""References of what a network gives of itself."""

import numpy as np


def parameter(inputs, params, attributes):
    return {"y": np.broadcast_to(params["weight"], (len(inputs["x"]), *attributes["shape"]))}


REFERENCES = {"parameter": parameter}
