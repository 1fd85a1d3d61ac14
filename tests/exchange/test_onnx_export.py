"""Every layer as ONNX: the checker takes it, and onnxruntime gives what the library gives."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import Fail

import paddle_layers as pl
from paddle_layers.exchange.onnx_out.forms import BY_THE_EXPORT, WITHOUT_FORM
from paddle_layers.testing.cases.case import Case
from paddle_layers.testing.cases.trial import as_python
from paddle_layers.testing.generated import chosen
from paddle_layers.training.inference.outputs import WITHOUT_LABELS
from tests.exchange.onnx_helpers import model_feeds, real_rows, rows_of, run_model
from tests.selection import compiled_layers

REFUSED = {"batch_norm-3", "grumemory-1", "simple_gru-1"}
"""Examples with attributes that have no ONNX form."""
GENERATED = 12
"""Configs of each layer that are made up, each with something that none before it has."""
RELATIVE, ABSOLUTE = 1e-4, 2e-5
"""How far onnxruntime may be from the library, both in float32."""


def example_cases(*, refused):
    found = []
    for layer in pl.registry.built_in():
        for number, example in enumerate(layer.examples if layer.onnx is not None or layer.is_composite else ()):
            types, attributes = layer.example_inputs(example)
            name = f"{layer.name}-{number}"
            if (name in REFUSED) is refused:
                found.append(pytest.param(Case(layer, example, tuple(types), attributes, "test"), id=name))
    return found


def forward(case, feeds):
    with case.net("float32") as net:
        return net.forward(feeds, phase="test")


@pytest.mark.parametrize("case", example_cases(refused=False))
def test_example_gives_the_same(case, tmp_path):
    agree(case, tmp_path / "model.onnx")


@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("conv", pl.Example(x="2x8x6", num_filters=2, filter_size=3, padding=2, padding_y=1, dilation_y=2, stride=2)),
        ("pool", pl.Example(x="1x7x6", pool_size=3, pool_size_y=2, stride=2, stride_y=3, padding=2, padding_y=1)),
        ("pool", pl.Example(x="1x5x5", pool_size=2, stride=3, padding=1, padding_y=0, rounding="CEIL_ALL")),
    ],
)
def test_rows_and_columns_are_not_exchanged(name, example, tmp_path):
    layer = pl.registry[name]
    types, attributes = layer.example_inputs(example)
    agree(Case(layer, example, tuple(types), attributes, "test"), tmp_path / "model.onnx")


def layers_with_a_form():
    found = [layer for layer in pl.registry.built_in() if layer.inputs and (layer.onnx or layer.is_composite)]
    return compiled_layers(layer.name for layer in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", layers_with_a_form())
def test_generated_configs_give_the_same(name, tmp_path):
    layer = pl.registry[name]
    for config in chosen(layer.complete(), GENERATED):
        case = Case(layer, config.example, config.places, layer.bind(config.attributes), "test", config.batch)
        try:
            agree(case, tmp_path / "model.onnx")
        except Fail as fault:  # onnxruntime's own arithmetic, of boxes far outside of an image
            if layer.name != "roi_align" or "Integer overflow" not in str(fault):
                raise
        except pl.ConfigError as refused:
            if {one.code for one in refused.diagnostics} != {"E501"}:
                raise


def agree(case, path):
    feeds = case.feeds(case.arrays())
    expected = as_python(lambda: forward(case, feeds))
    with case.net("float32") as net:
        pl.export_onnx(net, path, values=case.outputs)
    onnx.checker.check_model(str(path), full_check=True)
    result = run_model(path, model_feeds(feeds, {name: type_ for name, type_, _ in case.fed}))
    fields = list(case.definition.outputs.values())
    for name, field in zip(case.outputs, fields * len(case.outputs), strict=False):
        if field.nan == WITHOUT_LABELS:  # labels are no input of a model
            continue
        wanted, given = rows_of(expected[name]), real_rows(result, name)
        assert wanted.shape == given.shape
        np.testing.assert_allclose(given, wanted, rtol=RELATIVE, atol=ABSOLUTE)


@pytest.mark.parametrize("case", example_cases(refused=True))
def test_example_is_refused(case, tmp_path):
    with case.net("float32") as net, pytest.raises(pl.ConfigError, match=r"E501.*cannot be exported to ONNX"):
        pl.export_onnx(net, tmp_path / "model.onnx", values=case.outputs)
    assert not list(tmp_path.iterdir())


def test_list_of_layers_without_a_form_is_exact():
    layers = [layer for layer in pl.registry.built_in() if layer.inputs and not layer.is_composite]
    assert {layer.name for layer in layers if layer.onnx is None} == {*WITHOUT_FORM, *BY_THE_EXPORT}
