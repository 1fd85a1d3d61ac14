"""The models of docs/examples/models: their sizes are the published ones."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import paddle_layers as pl
from paddle_layers.config import format_text
from paddle_layers.runtime.graph.building import parameter_shapes

MODELS = Path(__file__).resolve().parent.parent / "docs" / "examples" / "models"
PARAMETERS = {
    "mlp": 669_706,
    "lenet": 431_080,
    "alexnet": 61_100_840,
    "vgg16": 138_357_544,
    "googlenet": 13_004_888,
    "resnet18": 11_689_512,
    "resnet50": 25_557_032,
    "squeezenet": 1_235_496,
    "mobilenet_v1": 4_231_976,
    "densenet121": 7_978_856,
    "inception_v3": 27_161_264,
}
"""Trained numbers, as torchvision counts them; of `lenet` Caffe, whose sizes it has."""


def test_every_model_is_counted() -> None:
    assert {path.stem for path in MODELS.glob("*.textproto")} == set(PARAMETERS)


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters(name: str) -> None:
    shapes = parameter_shapes(pl.load(MODELS / f"{name}.textproto"), "float32")
    states = (".running_mean", ".running_var")
    assert sum(math.prod(shape) for path, shape in shapes.items() if not path.endswith(states)) == PARAMETERS[name]


@pytest.mark.parametrize("name", PARAMETERS)
def test_formatted(name: str) -> None:
    text = (MODELS / f"{name}.textproto").read_text()
    assert format_text(text) == text
