"""Layers whose types decide how many outputs they have: the later ones are read by name, whatever stands beside."""

from __future__ import annotations

import pytest

import paddle_layers as pl

SLICE = """
layer { name: "x" type: "data" data { shape: 6 } }
layer { name: "s" type: "slice" input: "x" slice { sizes: [2, 4] } }
layer { name: "a" type: "fc" input: "%s" fc { size: 2 } }
layer { name: "b" type: "fc" input: "x" %s fc { size: 2 } }
"""
BESIDES = ["", 'param { of: "weight" share: "w" }', 'include { phase: "train" }', "propagate_down: true"]


@pytest.mark.parametrize("beside", BESIDES)
def test_a_later_output_is_read(beside: str) -> None:
    (found,) = (node for node in pl.loads(SLICE % ("s.y_1", beside)).select("train").nodes if node.name == "a")
    assert [type_.dims for type_ in found.input_types] == [(4,)]


@pytest.mark.parametrize("beside", BESIDES)
@pytest.mark.parametrize(
    ("name", "told"),
    [("s.y_2", "the outputs of layer `s` are `s`, `s.y_1`"), ("s.y_0", "the output of another layer"), ("s.z", "")],
)
def test_one_that_is_not_made_is_told(beside: str, name: str, told: str) -> None:
    with pytest.raises(pl.ConfigError) as caught:
        pl.loads(SLICE % (name, beside))
    (fault,) = caught.value.diagnostics
    assert fault.code == "E203"
    assert told in f"{fault.message} {fault.help}"


def test_where_the_layer_is_wrong_only_that_is_told() -> None:
    with pytest.raises(pl.ConfigError) as caught:
        pl.loads((SLICE % ("s.y_2", BESIDES[1])).replace("[2, 4]", "[2, 3]"))
    assert [fault.code for fault in caught.value.diagnostics] == ["E209"]
