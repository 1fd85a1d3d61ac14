"""Activations by name: any layer that maps values to values of the same shape follows another one by `act`."""

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.testing.cases.trial import as_python
from tests.references import load_references

X = np.linspace(-8, 8, 33)[None]
DATA = f'layer {{ name: "x" type: "data" data {{ shape: {X.size} }} }}\n'
NAMES = ["relu6", "hard_sigmoid", "hard_swish", "softsign", "abs", "threshold"]
NAMES += ["exp", "softplus", "swish", "selu", "stanh", "log_softmax"]


def run(layer):
    with pl.Net(pl.loads(DATA + layer), dtype="float64") as net:
        return as_python(lambda: net.forward({"x": X})["y"])


def reference(name, **settings):
    attributes = {**pl.registry[name].bind(settings)}
    return load_references()[name]({"x": X}, {}, attributes)["y"]


@pytest.mark.parametrize("name", NAMES)
def test_act_takes_the_layer_by_its_name(name):
    found = run(f'layer {{ name: "y" type: "addto" input: "x" addto {{ act: "{name}" }} }}')
    np.testing.assert_allclose(found, reference(name), rtol=1e-12, atol=1e-15)


def test_an_activation_has_settings():
    found = run('layer { name: "y" type: "addto" input: "x" activation { type: "clip" clip { min: -1 max: 2 } } }')
    np.testing.assert_array_equal(found, np.clip(X, -1, 2))


IMAGE = 'layer { name: "x" type: "data" data { shape: [1, 4, 4] } }\n'
GROUP = "num_filters: 2 filter_size: 1 padding: 0 pool_size: 2"
REFUSED = {
    "by name": (
        DATA, 'layer { name: "y" type: "fc" input: "x" fc { size: 2 act: "clip" } }', '"clip"',
        "activation `clip` of layer `y`: set `min`",
    ),
    "with settings": (
        DATA, 'layer { name: "y" type: "addto" input: "x" activation { type: "clip" clip { min: 2 max: 1 } } }',
        "2 max", "activation `clip` of layer `y`: `min` is 2.0, which is above `max`, 1.0",
    ),
    "shape": (
        'layer { name: "x" type: "data" }\n', 'layer { name: "y" type: "addto" input: "x" addto { act: "softmax" } }',
        '"softmax"', "activation `softmax` of layer `y`: input `x` of `softmax` has shape scalar",
    ),
    "of a part": (
        IMAGE, f'layer {{ name: "y" type: "img_conv_group" input: "x" img_conv_group {{ {GROUP} act: "clip" }} }}',
        '"clip"', "its activation `clip`: set `min`",
    ),
    "of a part, required": (
        IMAGE,
        f'layer {{ name: "y" type: "img_conv_group" input: "x" img_conv_group {{ {GROUP} act: "gradient_clip" }} }}',
        '"gradient_clip"', "layer `gradient_clip` needs `threshold`",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_an_activation_that_does_not_fit_is_refused_at_its_place(name):
    data, layer, place, words = REFUSED[name]
    with pytest.raises(pl.ConfigError) as caught:
        pl.loads(data + layer)
    (found,) = caught.value.diagnostics
    assert words in found.message
    assert (found.line, found.column) == (2, 1 + layer.rindex(place))


@pytest.mark.parametrize(
    ("name", "here"),
    [("brelu", "relu6"), ("softrelu", "softplus"), ("silu", "swish"), ("BNLL", "softplus"), ("sqrt", "power")],
)
def test_names_elsewhere_are_told(name, here):
    with pytest.raises(pl.ConfigError, match=f"`{name}` is called `{here}` here"):
        run(f'layer {{ name: "y" type: "addto" input: "x" addto {{ act: "{name}" }} }}')
