"""What single layers promise beyond their formula: refusals in words, window counts, ties, labels out of range."""

import math

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.layers.images import normalizations, pooling
from paddle_layers.layers.losses.classification import softmax_with_loss_loss
from paddle_layers.layers.metrics.classification import accuracy_right, accuracy_share


def infer(layer, *inputs, **attributes):
    definition = pl.registry[layer]
    return [str(t) for t in definition.infer([pl.Type.parse(text) for text in inputs], definition.bind(attributes))]


REFUSALS = [
    ("data", (), {"size": 784}, "size", "a dense value has a shape and no size; write `shape: [784]`"),
    ("data", (), {"data_type": "INT"}, "size", "needs its size: the number of ids"),
    ("data", (), {"data_type": "SPARSE", "size": 9, "shape": [9]}, "shape", "has a size and no shape"),
    (
        "conv", ("1x28x28",), {"num_filters": 2, "filter_size": 3, "filter_size_y": 31}, "filter_size_y",
        "a filter of 31 rows does not fit into 28 rows and 0 of padding",
    ),
    (
        "conv", ("1x9x9",), {"num_filters": 2, "filter_size": 5, "dilation": 3, "padding": 1}, "filter_size_y",
        "a filter of 5 rows spread over 13 does not fit into 9 rows and 2 of padding",
    ),
    ("conv", ("3x9x9",), {"num_filters": 4, "filter_size": 1, "groups": 2}, "groups", "the number of channels, 3"),
    ("conv", ("4x9x9",), {"num_filters": 3, "filter_size": 1, "groups": 2}, "groups", "the number of filters, 3"),
    ("pool", ("1x4x4",), {}, "pool_size", "give `pool_size`, or `global_pooling: true`"),
    ("pool", ("1x4x4",), {"pool_size": 2, "global_pooling": True}, "pool_size", "sizes its window itself"),
    ("pool", ("1x4x4",), {"stride": 2, "global_pooling": True}, "stride", "one window and no stride"),
    (
        "pool", ("1x4x4",), {"pool_size": 2, "padding": 2}, "pool_size_y",
        "a window of 2 rows would contain only padding, which is 2",
    ),
    (
        "pool", ("1x4x6",), {"pool_size": 9, "pool_size_y": 1}, "pool_size",
        "a window of 9 columns does not fit into 6 columns and 0 of padding",
    ),
    ("clip", ("3",), {}, "min", "set `min`, `max` or both"),
    ("clip", ("3",), {"min": 2, "max": 1}, "min", "`min` is 2.0, which is above `max`, 1.0"),
    ("log", ("3",), {"base": 1}, "base", "`base` is above or below 1"),
    ("cross_entropy", ("3", "ids<5"), {}, None, "the label has 5 classes, but there are 3 scores"),
    ("softmax_with_loss", ("3", "ids<5"), {"ignore_label": 1}, None, "the label has 5 classes, but there are 3 scores"),
    ("accuracy", ("3", "ids<3"), {"top_k": 4}, "top_k", "the 4 best of 3 classes are all of them"),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "inputs", "attributes", "attribute", "words"), REFUSALS)
def test_refusals_say_in_words_what_is_wrong(layer, inputs, attributes, attribute, words):
    with pytest.raises(pl.ShapeError) as caught:
        infer(layer, *inputs, **attributes)
    assert words in caught.value.message
    assert caught.value.attribute == attribute
    if attribute is None:
        assert caught.value.input == 1


@pytest.mark.parametrize(
    ("attributes", "output"),
    [
        ({}, "scalar"),
        ({"shape": [3, 8, 8]}, "3x8x8"),
        ({"data_type": "INT", "size": 10, "seq_nested_level": 2}, "nested sequence of ids<10"),
        ({"data_type": "SPARSE", "size": 10}, "sparse 10"),
        ({"data_type": "SPARSE_INT", "size": 10}, "sparse ids 10"),
    ],
)
def test_data_gives_the_type_it_declares(attributes, output):
    assert infer("data", **attributes) == [output]


def test_layer_norm_keeps_the_shape_of_an_image():
    assert infer("layer_norm", "sequence of 2x3x4") == ["sequence of 2x3x4"]


def test_an_ignored_label_may_lie_outside_the_classes():
    assert infer("softmax_with_loss", "21", "ids<256", ignore_label=255) == ["scalar"]


# ---- pools


@pytest.mark.parametrize(("rounding", "count"), [("FLOOR", 2), ("CEIL", 2), ("CEIL_ALL", 3)])
def test_pool_rounding(rounding, count):
    assert infer("pool", "1x5x5", pool_size=2, stride=3, padding=1, rounding=rounding) == [f"1x{count}x{count}"]


GEOMETRIES = [
    (extent, size, stride, padding)
    for extent in range(1, 8)
    for size in range(1, 5)
    for stride in range(1, 5)
    for padding in range(size)
    if size <= extent + 2 * padding
]


@pytest.mark.parametrize("rounding", ["FLOOR", "CEIL", "CEIL_ALL"])
def test_pool_windows_are_those_that_can_be_counted(rounding):
    for extent, size, stride, padding in GEOMETRIES:
        count = pooling.windows(extent, size, stride, padding, padding, rounding, "pool_size", "rows")
        first = [p * stride - padding for p in range(count)]
        inside = [len(set(range(start, start + size)) & set(range(extent))) for start in first]
        if rounding != "CEIL_ALL":
            assert min(inside) > 0
        if rounding == "FLOOR":
            assert first[-1] + size <= extent + padding < first[-1] + stride + size
        assert [pooling.pixels(p, size, stride, padding, extent) for p in range(count)] == [max(1, n) for n in inside]
        for h in range(extent):
            covering = [p for p, start in enumerate(first) if start <= h < start + size]
            low = pooling.first_window(h, size, stride, padding)
            assert covering == list(range(low, min(count, (h + padding) // stride + 1)))


def where_of(x, **attributes):
    values = pl.registry["pool"].bind(attributes)
    names = ("pool_size", "pool_size_y", "stride", "stride_y", "padding", "padding_y", "global_pooling")
    return pooling.pool_where(0, 0, 0, 0, x[None, None], *x.shape, *(values[name] for name in names))


def test_the_first_of_equal_maxima_wins():
    assert where_of(np.array([[0.0, 2.0], [2.0, 2.0]]), pool_size=2) == 1


def test_minus_infinity_is_a_maximum_too():
    assert where_of(np.full((2, 2), -math.inf), pool_size=2) == 0


# ---- normalisations


@pytest.mark.parametrize(("unbiased", "ddof"), [(False, 0), (True, 1)])
def test_running_variance_takes_the_estimate_that_was_asked_for(unbiased, ddof):
    x = np.random.default_rng(0).standard_normal((4, 1, 3))
    held = (np.array([0.25]), np.array([2.0]))
    batch = (np.array([x.mean()]), np.array([x.var()]))
    mean, var = normalizations.batch_norm_move(0, *held, *batch, np.array([12.0]), 0.75, None, unbiased)
    assert mean == pytest.approx(0.75 * 0.25 + 0.25 * x.mean())
    assert var == pytest.approx(0.75 * 2.0 + 0.25 * x.var(ddof=ddof))


def test_global_statistics_stand_still():
    held = (np.array([0.1]), np.array([0.3]))
    assert normalizations.batch_norm_move(0, *held, *held, np.array([12.0]), 0.9, True, False) == (0.1, 0.3)


# ---- costs and metrics


@pytest.mark.parametrize(("label", "outcome"), [(255, 0.0), (7, math.nan), (-1, math.nan)])
def test_a_label_outside_the_classes_is_ignored_or_costs_nan(label, outcome):
    one = np.ones((1, 1))
    cost = softmax_with_loss_loss(0, 0, np.zeros((1, 3, 1)), np.array([[label]]), None, one, one, 3, 255, 0.0)
    np.testing.assert_equal(cost, outcome)


@pytest.mark.parametrize(
    ("scores", "top_k", "hit"),
    [
        ([1.0, 1.0, 0.0], 1, 0.0),
        ([1.0, 1.0, 0.0], 2, 1.0),
        ([1.0, 0.5, 0.0], 1, 1.0),
        ([math.nan, 0.5, 0.0], 1, 0.0),
        ([1.0, math.nan, 0.0], 1, 0.0),
    ],
)
def test_ties_and_nan_count_against_a_row(scores, top_k, hit):
    assert accuracy_right(0, 0, np.array([scores])[:, :, None], np.array([[0]]), np.ones((1, 1)), 3, top_k) == hit


def test_accuracy_of_no_row_is_not_a_number():
    assert math.isnan(accuracy_share(0.0, 0.0))
    assert accuracy_share(3.0, 4.0) == 0.75


@pytest.mark.parametrize("name", [name for name in pl.registry if "flat" in name or "shape" in name or "pool" in name])
def test_what_changes_shapes_is_no_activation(name):
    text = 'layer { name: "x" type: "data" data { shape: [2, 3, 4] } }\n'
    text += f'layer {{ name: "y" type: "fc" input: "x" fc {{ size: 3 act: "{name}" }} }}'
    with pytest.raises(pl.ConfigError) as caught:
        pl.loads(text)
    assert [d.code for d in caught.value.diagnostics] == ["E114"]


def test_an_activation_keeps_the_shape():
    from paddle_layers.define.bodies import activation_problem

    for layer in pl.registry.values():
        if not activation_problem(layer):
            for example in layer.examples:
                types, attributes = layer.example_inputs(example)
                assert list(layer.infer(types, attributes)) == list(types), layer.name
