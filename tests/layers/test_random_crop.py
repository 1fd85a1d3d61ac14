"""random_crop while training: windows of the images, at all places and both ways around, the same by the same seed."""

import numpy as np

import paddle_layers as pl
from paddle_layers.testing.cases.trial import as_python

ROWS, HEIGHT, WIDTH, SIZE = 300, 4, 3, 2
NETWORK = """
layer { name: "x" type: "data" data { shape: [2, 4, 3] } }
layer { name: "y" type: "random_crop" input: "x" propagate_down: true random_crop { size: 2 %s } }
"""
X = np.arange(ROWS * 2 * HEIGHT * WIDTH, dtype=float).reshape(ROWS, 2, HEIGHT, WIDTH)


def trained(settings="", seed=0):
    """What the layer gives while training, and the gradient of ones."""
    with pl.Net(pl.loads(NETWORK % settings), dtype="float64", seed=seed) as net:
        y = np.array(net.forward({"x": X}, phase="train")["y"])
        net.backward(gradients={"y": np.ones_like(y)})
        return y, np.array(net.gradient("x"))


def places_of(y):
    """Row, column and way around of the window that each result is."""
    found = []
    for image, part in zip(X, y, strict=True):
        top, left = np.argwhere(image[0] == min(part[0, 0]))[0]
        window = image[:, top : top + SIZE, left : left + SIZE]
        turned = part[0, 0, 0] > part[0, 0, 1]
        np.testing.assert_array_equal(part, window[:, :, ::-1] if turned else window)
        found.append((int(top), int(left), bool(turned)))
    return found


def test_windows_lie_everywhere():
    y, gradient = as_python(trained)
    counts = {place: places_of(y).count(place) for place in set(places_of(y))}
    assert len(counts) == (HEIGHT - SIZE + 1) * (WIDTH - SIZE + 1) * 2
    assert min(counts.values()) >= ROWS / len(counts) / 3
    np.testing.assert_array_equal(gradient, [np.isin(image, part) for image, part in zip(X, y, strict=True)])


def test_draws_repeat_with_the_seed():
    first, other = as_python(lambda: (trained(seed=1), trained(seed=2)))
    np.testing.assert_array_equal(first[0], as_python(lambda: trained(seed=1))[0])
    assert (first[0] != other[0]).any()


def test_nothing_is_mirrored_without_mirror():
    assert {turned for _, _, turned in places_of(as_python(lambda: trained("mirror: false"))[0])} == {False}
