"""Attribute names of other frameworks in helpers; those in files are among the golden mistakes."""

from __future__ import annotations

import pytest

import paddle_layers as pl
from paddle_layers import nn
from paddle_layers.define import registries
from paddle_layers.define.definitions.search import _EQUIVALENT, equivalent_attribute


@pytest.mark.parametrize(
    ("layer", "name", "message"),
    [
        ("fc", "units", "nn.fc has no argument `units`; `units` is called `size` here"),
        ("fc", "out_features", "nn.fc has no argument `out_features`; `out_features` is called `size` here"),
        ("dropout", "p", "nn.dropout has no argument `p`; `p` is called `drop_rate` here"),
        ("conv", "filters", "nn.conv has no argument `filters`; `filters` is called `num_filters` here"),
        ("fc", "sise", "nn.fc has no argument `sise`; did you mean `size`?"),
    ],
)
def test_helpers_name_the_attribute(layer: str, name: str, message: str) -> None:
    x = nn.data(name="x", shape=[8])
    with pytest.raises(TypeError) as refused:
        getattr(nn, layer)(x, **{name: 3})
    assert str(refused.value) == message


def test_every_name_here_exists() -> None:
    names = {name for kind in registries.values() for one in kind.values() for name in one.attribute_by_name}
    assert {own for listed in _EQUIVALENT.values() for own in listed} <= names


def test_only_attributes_of_the_layer_are_suggested() -> None:
    assert equivalent_attribute("units", ["axis"]) == ""
    assert equivalent_attribute("filters", ["size"]) == "size"


@pytest.mark.parametrize(
    ("name", "here"),
    [
        *(("Linear", "fc"), ("Dense", "fc"), ("LSTM", "simple_lstm"), ("mse_loss", "square_error")),
        # The basic one of several.
        *(("maxpool", "pool"), ("ConvTranspose", "conv_trans"), ("index_select", "gather"), ("last_seq", "seq_last")),
    ],
)
def test_layers_of_other_frameworks(name: str, here: str) -> None:
    with pytest.raises(AttributeError, match=f"is called `{here}` here"):
        getattr(nn, name)


def test_mistakes_are_reported_by_the_call_of_the_helper():
    x, label = nn.data(shape=[4]), nn.data(data_type="INT", size=2)
    with pytest.raises(ValueError, match=r"nn.fc: act='rellu': unknown layer `rellu`; did you mean `relu`"):
        nn.fc(x, size=3, act="rellu")
    with pytest.raises(ValueError, match="swap the inputs: `x`, then `label`"):
        nn.softmax_with_loss(label, nn.fc(x, size=2))


@pytest.mark.parametrize(
    ("name", "here"), [("fit", "`train`"), ("Sequential", "`Network`"), ("DataLoader", "`datasets`")]
)
def test_functions_of_other_frameworks(name: str, here: str) -> None:
    with pytest.raises(AttributeError, match=here):
        getattr(pl, name)
