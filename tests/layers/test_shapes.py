"""Output types and refusals of layers whose sizes are arithmetic, and what in-place use is derived."""

import pytest

from paddle_layers.define import ShapeError, Type, registries

LAYERS = registries["layer"]


def infer(name, *types, **attributes):
    definition = LAYERS[name]
    found = definition.infer([Type.parse(text) for text in types], definition.bind(attributes))
    return [str(type_) for type_ in found]


@pytest.mark.parametrize(
    ("name", "types", "attributes", "found"),
    [
        ("concat", ["2x3", "sequence of 4x3"], None, None),
        ("concat", ["sequence of 2x3", "sequence of 4x3"], {}, ["sequence of 6x3"]),
        ("slice", ["sequence of 5x2"], {"sizes": [4, 1]}, ["sequence of 4x2", "sequence of 1x2"]),
        ("slice", ["6"], {"parts": 3}, ["2", "2", "2"]),
        ("split", ["3x2"], {}, ["3x2", "3x2"]),
        ("reshape", ["sequence of 2x3x4"], {"dims": [0, -1, 2]}, ["sequence of 2x6x2"]),
        ("reshape", ["scalar"], {"dims": [1, 1]}, ["1x1"]),
        ("flatten", ["nested sequence of 2x3"], {}, ["nested sequence of 6"]),
        ("embedding", ["sequence of ids<9"], {"size": 4}, ["sequence of 4"]),
        ("seq_avg_pool", ["nested sequence of 4"], {}, ["4"]),
        ("seq_avg_pool", ["nested sequence of 4"], {"level": "SUBSEQUENCE"}, ["sequence of 4"]),
        ("prelu", ["3x2x2"], {"channel_shared": True}, ["3x2x2"]),
    ],
)
def test_output_types(name, types, attributes, found):
    if found is None:
        with pytest.raises(ShapeError):
            infer(name, *types)
    else:
        assert infer(name, *types, **attributes) == found


@pytest.mark.parametrize(
    ("name", "types", "attributes", "at", "message"),
    [
        ("slice", ["5"], {"sizes": [2, 2]}, "sizes", "`sizes` add up to 4, but there are 5 channels"),
        ("slice", ["5"], {"parts": 2}, "parts", "5 channels cannot be split into 2 equal parts"),
        ("slice", ["5"], {}, "sizes", "set either `sizes` or `parts`"),
        ("slice", ["4"], {"parts": 2, "sizes": [2, 2]}, "sizes", "set either `sizes` or `parts`"),
        ("reshape", ["6"], {"dims": [-1, -1]}, "dims", "at most one of `dims` may be -1"),
        ("reshape", ["6"], {"dims": [4, -1]}, "dims", "6 values a row are no multiple of 4"),
        ("reshape", ["6"], {"dims": [4, 2]}, "dims", "`dims` hold 8 values a row, but the input has 6"),
        ("reshape", ["6"], {"dims": [6, 0]}, "dims", "0 in place 2 of `dims` keeps an axis, but a row has 1"),
        ("eltwise", ["3", "3"], {"coefficients": [1]}, "coefficients", "there are 1 coefficients, but 2 inputs"),
        (
            "eltwise",
            ["3"],
            {"coefficients": [1], "operation": "MAX"},
            "coefficients",
            "`coefficients` are for SUM only, `operation` is MAX",
        ),
        (
            "embedding",
            ["ids<4"],
            {"size": 2, "padding_id": 4},
            "padding_id",
            "`padding_id` is 4, but the ids are smaller than 4",
        ),
    ],
)
def test_refusals_point_at_the_attribute(name, types, attributes, at, message):
    with pytest.raises(ShapeError) as caught:
        infer(name, *types, **attributes)
    assert (caught.value.attribute, caught.value.message) == (at, message)


@pytest.mark.parametrize("name", ["relu", "elu", "sigmoid", "tanh", "linear", "dropout", "reshape", "flatten", "shift"])
def test_layers_that_may_overwrite_their_input(name):
    assert LAYERS[name].facts.overwrites


@pytest.mark.parametrize("name", ["gelu", "prelu", "scale", "concat"])
def test_layers_that_must_not_overwrite_their_input(name):
    assert not LAYERS[name].facts.overwrites
