"""Every registered layer: a new one brings no test code."""

import pytest

import paddle_layers as pl
from paddle_layers.define.checks.function_checks import check_texts
from paddle_layers.kernels.selection import check_names
from paddle_layers.testing import LAYER_PROPERTIES, PROPERTIES, check_layer
from paddle_layers.testing.kit import CONFIGS
from paddle_layers.testing.properties.cuda import Breadth, narrowed
from tests.each import each
from tests.selection import (
    ARCHITECTURE,
    ARCHITECTURES,
    architecture_of,
    is_changed,
    is_compiled,
    is_touched,
    thoroughly_compiled_layers,
)

LAYERS = sorted(pl.registry)
COMPILED = [name for name, property_ in PROPERTIES.items() if property_.compiled]
QUICK = 4
"""Generated configs of a selected layer; the slow run takes as many as `paddle-layers check`."""
FEW = 1
"""Examples of an unchanged layer; the slow run, and the comparison with references, take all."""
OF_LAYERS = 8
"""Generated configs of a layer made of layers, which have as many as `paddle-layers check` of their own."""


@pytest.mark.parametrize("name", LAYERS)
def test_conforms(name, monkeypatch):
    definition = pl.registry[name]
    if not is_touched(name):
        monkeypatch.setattr(definition, "examples", definition.examples[:FEW])
    computes = definition.functions and not definition.networks
    expected = {*LAYER_PROPERTIES, "inference", *(("memory",) if computes else ())}
    configs = QUICK if is_compiled(name) else 0
    assert expected <= check_layer(name, configs=configs, compiled=False).checked.keys()


@pytest.mark.parametrize("name", [name for name in LAYERS if is_compiled(name)])
def test_compiled_kernels_conform(name, monkeypatch):
    if not is_changed(name):
        monkeypatch.setattr(pl.registry[name], "examples", pl.registry[name].examples[:FEW])
    with narrowed(Breadth((ARCHITECTURE,), ("float32",))):
        check_layer(name, configs=QUICK if is_changed(name) else 0, properties=COMPILED)


@pytest.mark.slow
@pytest.mark.parametrize("name", thoroughly_compiled_layers(LAYERS))
def test_conforms_compiled_and_on_all_configs(name):
    with narrowed(Breadth((architecture_of(name),), ("float32",))):
        check_layer(name, configs=OF_LAYERS if pl.registry[name].is_composite else CONFIGS)


@pytest.mark.slow
@pytest.mark.later
@pytest.mark.parametrize("name", LAYERS)
def test_compiled_kernels_conform_in_every_precision_and_architecture(name):
    with narrowed(Breadth(ARCHITECTURES, ("float32", "float64"))):
        check_layer(name, configs=QUICK, properties=COMPILED)


def test_tuned_kernels_replace_functions_that_exist():
    check_names({name: {f.name for f in pl.registry[name].complete().functions} for name in LAYERS})


@each("name", LAYERS)
def test_functions_write_what_is_theirs_only(name):
    for function in pl.registry[name].functions:
        function.check_writes()


@each("name", LAYERS)
def test_functions_read_and_return_what_there_is(name):
    check_texts(pl.registry[name].complete())
