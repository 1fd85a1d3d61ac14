"""Networks written in Python, and networks written as text."""

import inspect
from dataclasses import replace
from pathlib import Path

import pytest

import paddle_layers as pl
from paddle_layers import nn
from paddle_layers.define import InvalidAttributes, ShapeError
from paddle_layers.testing.cases.case import cases
from tests.each import each

LENET = """
name: "lenet"
layer { name: "image" type: "data" data { shape: [1, 28, 28] } }
layer { name: "label" type: "data" data { data_type: INT size: 10 } }
layer { name: "conv1" type: "conv" input: "image" conv { num_filters: 20 filter_size: 5 act: "relu" } }
layer { name: "pool1" type: "pool" input: "conv1" pool { pool_size: 2 stride: 2 } }
layer { name: "fc1" type: "fc" input: "pool1" fc { size: 10 }
        param { of: "bias" init { type: "constant" constant { value: 0.1 } } lr_mult: 2 } }
layer { name: "cost" type: "softmax_with_loss" input: "fc1" input: "label" }
"""


def lenet():
    image = nn.data(shape=[1, 28, 28], name="image")
    label = nn.data(data_type="INT", size=10, name="label")
    x = nn.conv(image, num_filters=20, filter_size=5, act="relu", name="conv1")
    x = nn.pool(x, pool_size=2, stride=2, name="pool1")
    bias = {"of": "bias", "init": {"type": "constant", "constant": {"value": 0.1}}, "lr_mult": 2}
    x = nn.fc(x, size=10, param=bias, name="fc1")
    return pl.Network(outputs=[nn.softmax_with_loss(x, label, name="cost")], name="lenet")


def summary(network):
    return {
        node.name: (node.definition.name, node.inputs, dict(node.attributes), settings(node), node.output_types)
        for node in network.nodes
    }


def settings(node):
    """Settings of parameters; attributes are equal only to themselves, so those of initializers are unpacked."""
    return {
        name: (replace(own, init=None), own.init and (own.init[0].name, dict(own.init[1])))
        for name, own in node.params.items()
    }


def test_python_and_text_make_the_same_network():
    assert summary(lenet()) == summary(pl.loads(LENET))


def test_unnamed_layers_are_numbered_by_type():
    x = nn.data(shape=[4])
    network = pl.Network(outputs=[nn.fc(nn.fc(x, size=3), size=2)])
    assert [node.name for node in network.nodes] == ["data_1", "fc_1", "fc_2"]


def test_several_outputs_come_as_a_tuple():
    first, second = nn.split(nn.data(shape=[4]), copies=2)
    network = pl.Network(outputs=[nn.addto(first, second)])
    assert network.nodes[-1].inputs == ("split_1", "split_1.y_1")


@each("name", sorted(pl.registry))
def test_every_layer_has_a_helper_with_its_own_signature(name):
    definition, helper = pl.registry[name], getattr(nn, name)
    assert {*definition.inputs, *definition.attributes} <= set(inspect.signature(helper).parameters)
    assert definition.summary in helper.__doc__


@each("name", sorted(pl.registry))
def test_text_of_every_example_survives_the_round_trip(name):
    for case in cases(pl.registry[name]):
        network = case.network()
        text = pl.dumps(network)
        again = pl.loads(text)
        assert summary(again) == summary(network)
        assert pl.dumps(again) == text


def test_mistakes_are_told_at_the_call():
    image = nn.data(shape=[1, 8, 8])
    with pytest.raises(TypeError, match="no argument `num_filter`; did you mean `num_filters`"):
        nn.conv(image, num_filter=3)
    with pytest.raises(ShapeError, match="31 rows"):
        nn.conv(image, num_filters=3, filter_size=31)
    with pytest.raises(InvalidAttributes, match=">= 1"):
        nn.fc(image, size=0)
    with pytest.raises(AttributeError, match="did you mean `conv`"):
        nn.convv  # noqa: B018  (the look-up is the test)
    with pytest.raises(TypeError, match="values returned by other helpers"):
        nn.fc(3, size=2)


def test_later_mistakes_name_the_line_of_the_call():
    value = nn.fc(nn.data(shape=[4]), size=3, param={"of": "wieght"})
    with pytest.raises(pl.ConfigError) as caught:
        pl.Network(outputs=[value])
    assert Path(__file__).name in str(caught.value)
    assert "did you mean `weight`" in str(caught.value)


def test_a_layer_without_outputs_is_named_among_those_of_the_network():
    x = nn.data(shape=[4], name="x")
    label = nn.data(data_type="INT", size=3, name="label")
    right = nn.accuracy(nn.fc(x, size=3), label, name="right")
    assert repr(right) == "<accuracy: no output>"
    assert "right" in pl.Network(outputs=[right])
    with pytest.raises(
        TypeError, match=r"the inputs of `fc` must be values returned by other helpers, found <accuracy: no output>"
    ):
        nn.fc(right, size=2)
    with pytest.raises(TypeError, match=r"outputs must be a list: write Network\(outputs=\[...\]\)"):
        pl.Network(outputs=right)


def test_inputs_behind_one_that_takes_many_are_given_by_name():
    one, other, several = nn.data(shape=[3]), nn.data(shape=[2]), nn.data(shape=[1])
    chosen = nn.data(data_type="SPARSE_INT", size=4)
    scores = nn.selected_scores(one, other, several, selected=chosen)
    assert [value.type.size for value in scores.call.inputs] == [3, 2, 1, 4]
