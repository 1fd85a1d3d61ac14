"""Every registered layer: a new one brings no test code."""

import pytest

import paddle_layers as pl
from paddle_layers.kernels.tuned import check_names
from paddle_layers.testing import LAYER_PROPERTIES, PROPERTIES, check_layer, compile_layer
from paddle_layers.testing.ptx import ARCHITECTURES

LAYERS = sorted(pl.registry)


@pytest.mark.parametrize("name", LAYERS)
def test_conforms(name):
    assert {*LAYER_PROPERTIES, "inference", "memory"} <= check_layer(name).checked.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_conforms_on_many_configs(name):
    check_layer(name, configs=200, properties=PROPERTIES.keys() - {"cuda"})


@pytest.mark.parametrize("name", LAYERS)
def test_kernels_compile_to_ptx_without_double_precision(name):
    for kernel in compile_layer(pl.registry[name], ((8, 0),)):
        assert ".visible .entry" in kernel.text, kernel.driver.name
        assert not kernel.has_f64, f"{kernel.driver.name} computes in float64"


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_kernels_compile_for_every_architecture(name):
    compiled = list(compile_layer(pl.registry[name]))
    assert {kernel.architecture for kernel in compiled} == (set(ARCHITECTURES) if compiled else set())


def test_tuned_kernels_replace_functions_that_exist():
    check_names({name: {f.name for f in pl.registry[name].complete().functions} for name in LAYERS})
