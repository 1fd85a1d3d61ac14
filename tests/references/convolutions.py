"""2-D convolutions and pools as those of any number of axes, with a number for rows and columns each."""

from .conv3d import convolve, spread, with_bias


def of_images(attributes):
    """Attributes of images, by name with and without `_y`, as lists along both axes."""
    both = {name: [attributes[f"{name}_y"], value] for name, value in attributes.items() if f"{name}_y" in attributes}
    return attributes | both


def conv(inputs, params, attributes):
    return with_bias(convolve(inputs["x"], params["weight"], of_images(attributes)), params, "bias", attributes)


def conv_trans(inputs, params, attributes):
    return with_bias(spread(inputs["x"], params["weight"], of_images(attributes)), params, "bias", attributes)


REFERENCES = {"conv": conv, "conv_trans": conv_trans}
