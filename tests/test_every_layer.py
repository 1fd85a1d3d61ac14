"""Every registered layer: a new one brings no test code."""

import pytest

import paddle_layers as pl
from paddle_layers.kernels.tuned import check_names
from paddle_layers.testing import LAYER_PROPERTIES, PROPERTIES, check_layer

LAYERS = sorted(pl.registry)
QUICK, MANY = 12, 60
"""Generated configs of a layer in the usual run and in the slower one; `paddle-layers check` takes some 40."""


@pytest.mark.parametrize("name", LAYERS)
def test_conforms(name):
    assert {*LAYER_PROPERTIES, "inference", "memory"} <= check_layer(name, configs=QUICK).checked.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_conforms_on_many_configs(name):
    check_layer(name, configs=MANY, properties=PROPERTIES.keys() - {"cuda"})


def test_tuned_kernels_replace_functions_that_exist():
    check_names({name: {f.name for f in pl.registry[name].complete().functions} for name in LAYERS})
