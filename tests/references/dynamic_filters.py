"""References of convolutions whose filters are an input: image by image, by those whose filters are learned."""

import numpy as np

from .convolutions import conv, conv_trans


def conv_operator(inputs, params, attributes):
    x = inputs["x"]
    size = (attributes["filter_size_y"], attributes["filter_size"])
    channels, filters = x.shape[1], attributes["num_filters"]
    first = (channels, filters) if attributes["trans"] else (filters, channels)
    settings = {**attributes, "groups": 1, "bias": False}
    for end in ("", "_y"):
        settings |= {f"padding_end{end}": attributes[f"padding{end}"], f"dilation{end}": 1, f"output_padding{end}": 0}
    run = conv_trans if attributes["trans"] else conv
    made = [
        run({"x": image[None]}, {"weight": own.reshape(*first, *size)}, settings)["y"][0]
        for image, own in zip(x, inputs["filter"], strict=True)
    ]
    return {"y": np.array(made)}


REFERENCES = {"conv_operator": conv_operator}
