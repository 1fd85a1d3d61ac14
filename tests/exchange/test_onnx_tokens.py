"""Ids and masks of a fixed number of tokens as values of each sample, compared with onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import paddle_layers as pl
from paddle_layers.exchange.onnx_in.model import ImportFailure
from tests.exchange.test_onnx_matrices import Graph

TOKENS, WIDTH, WORDS = 6, 4, 9
RNG = np.random.default_rng(0)
TYPES = {"ids": TensorProto.INT64, "mask": TensorProto.INT64, "x": TensorProto.FLOAT, "z": TensorProto.FLOAT}


def save(graph, path, output, inputs, batch="N"):
    """Write a model; each input has a fixed shape behind the batch."""
    given = [helper.make_tensor_value_info(name, TYPES[name], [batch, *dims]) for name, dims in inputs.items()]
    outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)]
    made = helper.make_graph(graph.nodes, "tokens", given, outputs, graph.constants)
    onnx.save(helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def fed(inputs, rows):
    """Random ids, masks and numbers."""
    found = {
        "ids": lambda dims: RNG.integers(0, WORDS, (rows, *dims)),
        "mask": lambda dims: (RNG.random((rows, *dims)) < 0.7).astype(np.int64),
        "x": lambda dims: RNG.standard_normal((rows, *dims)).astype(np.float32),
        "z": lambda dims: RNG.standard_normal((rows, *dims)).astype(np.float32),
    }
    return {name: found[name](dims) for name, dims in inputs.items()}


def as_rows(net, feeds):
    """Feeds of a network that may read tokens as sequences."""
    levels = {node.name: node.output_types[0].level for node in net.network.nodes}
    return {name: list(value) if levels[name] else value for name, value in feeds.items()}


def agrees(graph, path, output, inputs, batch="N", *, again=True):
    """Checks the import for two batch sizes, and once more after an export."""
    save(graph, path, output, inputs, batch)
    imported = pl.import_onnx(path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    value = imported.outputs[output]
    with imported.net() as net:
        for rows in (3, 1) if batch == "N" else (batch,):
            feeds = fed(inputs, rows)
            (expected,) = session.run([output], feeds)
            found = net.forward(as_rows(net, feeds), phase="test")[value]
            found = found.data if isinstance(found, pl.Sequences) else found
            np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-5, atol=1e-6)
        if not again:
            return imported
        pl.export_onnx(net, path)
        twice = pl.import_onnx(path, verify=False)  # compared below
    with twice.net() as net:
        np.testing.assert_allclose(net.forward(feeds, phase="test")[twice.outputs[value]], found, rtol=1e-5, atol=1e-6)
    return imported


def sizes(graph, name):
    """The batch size and the number of tokens of an input."""
    shape = graph.add("Shape", name)
    return [graph.add("Slice", shape, graph.constant([at]), graph.constant([at + 1])) for at in (0, 1)]


def embedded(graph, ids="ids"):
    """Words of a table."""
    return graph.add("Gather", graph.weight(WORDS, WIDTH), ids)


def key_mask(graph, *, by):
    """`[N, 1, 1, T]` of a mask `[N, T]`, as Transformers has it: unsqueezed, or read by the number of the sample."""
    true = graph.add("Cast", "mask", to=TensorProto.BOOL)
    if by == "Unsqueeze":
        return graph.add("Unsqueeze", true, graph.constant([1, 2]))
    batch, tokens = (graph.add("Squeeze", one) for one in sizes(graph, "mask"))
    zero, one = graph.constant(np.int64(0)), graph.constant(np.int64(1))
    sample = graph.add("Unsqueeze", graph.add("Range", zero, batch, one), graph.constant([1, 2, 3]))
    place = graph.add("Unsqueeze", graph.add("Range", zero, tokens, one), graph.constant([0, 1, 2]))
    if by == "GatherND":
        shape = graph.add("Shape", graph.add("Max", sample, place))
        pair = [
            graph.add("Unsqueeze", graph.add("Expand", part, shape), graph.constant([-1])) for part in (sample, place)
        ]
        return graph.add("GatherND", true, graph.add("Concat", *pair, axis=-1))
    index = graph.add("Add", place, graph.add("Mul", sample, graph.constant([TOKENS])))
    found = graph.add("Gather", graph.add("Flatten", true, axis=2), index, axis=0)
    return graph.add("Reshape", found, graph.add("Shape", index))


@pytest.mark.parametrize("by", ["Unsqueeze", "Gather", "GatherND"])
def test_masked_attention_over_words(by, tmp_path):
    graph = Graph()
    words = embedded(graph)
    causal = graph.constant(np.tril(np.ones((1, 1, TOKENS, TOKENS), bool)))
    seen = graph.add("And", causal, key_mask(graph, by=by))
    added = graph.add("Where", seen, graph.constant(np.float32(0)), graph.constant(np.float32(-3.4028235e38)))
    heads = graph.add("Unsqueeze", words, graph.constant([1]))
    scores = graph.add("MatMul", heads, graph.add("Transpose", heads, perm=[0, 1, 3, 2]))
    mean = graph.add("MatMul", graph.add("Softmax", graph.add("Add", scores, added), axis=-1), heads)
    imported = agrees(graph, tmp_path / "m.onnx", mean, {"ids": [TOKENS], "mask": [TOKENS]})
    assert 'name: "ids" type: "data" data { shape: [6] data_type: INT size: 9 }' in imported.text
    assert 'name: "mask" type: "data" data { shape: [6] }' in imported.text


def test_places_of_words_that_are_no_padding(tmp_path):
    """As RoBERTa counts them: the ids of the second table are computed from those of the first."""
    graph = Graph()
    real = graph.add("Cast", graph.add("Not", graph.add("Equal", "ids", graph.constant(np.int64(1)))), to=7)
    places = graph.add("Mul", graph.add("CumSum", real, graph.constant(np.int64(1))), real)
    places = graph.add("Add", graph.add("Cast", places, to=7), graph.constant(np.int64(1)))
    found = graph.add("Add", embedded(graph), graph.add("Gather", graph.weight(WORDS, WIDTH), places))
    imported = agrees(graph, tmp_path / "m.onnx", found, {"ids": [TOKENS]}, again=False)
    assert all(f'type: "{name}"' in imported.text for name in ("to_float", "compare", "cumsum", "to_ids"))


def test_token_types_that_are_the_same_for_every_sample(tmp_path):
    """As BERT without them: zeros, gathered and expanded to the batch."""
    graph = Graph()
    zeros = graph.constant(np.zeros((1, 2 * TOKENS), np.int64))
    places = graph.constant(np.arange(TOKENS)[None])
    types = graph.add(
        "Expand", graph.add("GatherElements", zeros, places, axis=1), graph.add("Concat", *sizes(graph, "ids"), axis=0)
    )
    found = graph.add("Add", embedded(graph), graph.add("Gather", graph.weight(2, WIDTH), types))
    agrees(graph, tmp_path / "m.onnx", found, {"ids": [TOKENS]}, again=False)


@pytest.mark.parametrize("operator", ["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"])
@pytest.mark.parametrize("case", ["a number", "a number first", "a row", "a value"])
def test_comparisons_choose(operator, case, tmp_path):
    graph = Graph()
    other = graph.add("Round", graph.weight(1, 3)) if case == "a row" else graph.constant(np.float32(0.5))
    other = graph.add("ReduceMax", "x", axes=[-1]) if case == "a value" else other
    pair = (other, "x") if case == "a number first" else ("x", other)
    chosen = graph.add("Where", graph.add(operator, *pair), "x", graph.constant(np.float32(-7)))
    agrees(graph, tmp_path / "m.onnx", chosen, {"x": [2, 3]})


@pytest.mark.parametrize("operator", ["And", "Or"])
def test_logic_of_comparisons(operator, tmp_path):
    graph = Graph()
    low = graph.add("Less", "x", graph.constant(np.float32(0)))
    high = graph.add("Greater", graph.add("ReduceSum", "x", graph.constant([1])), graph.constant(np.float32(0)))
    both = graph.add(operator, graph.add("Not", low), high)
    agrees(graph, tmp_path / "m.onnx", graph.add("Cast", both, to=1), {"x": [2, 3]})


SELECTIONS = {
    "columns": ("Gather", [[2, 0, 2]], {"axis": -1}),
    "a matrix of rows": ("Gather", [[[1, 0], [0, -1]]], {"axis": 1}),
    "sums": ("CumSum", [2], {"exclusive": 1, "reverse": 1}),
}


@pytest.mark.parametrize("case", SELECTIONS)
def test_elements_of_an_axis(case, tmp_path):
    operator, constants, attributes = SELECTIONS[case]
    graph = Graph()
    constants = [graph.constant(np.array(one, np.int64)) for one in constants]
    agrees(graph, tmp_path / "m.onnx", graph.add(operator, "x", *constants, **attributes), {"x": [2, 3]})


def test_relative_positions_choose_scores_of_heads_in_the_batch_axis(tmp_path):
    """As DeBERTa does: the same indices for every sample and head."""
    graph = Graph()
    heads = graph.add("Reshape", "x", graph.constant([-1, 3, 4]))
    batch = graph.add("Slice", graph.add("Shape", heads), graph.constant([0]), graph.constant([1]))
    places = graph.constant(RNG.integers(0, 4, (1, 3, 3)))
    places = graph.add("Expand", places, graph.add("Concat", batch, graph.constant([3, 3]), axis=0))
    found = graph.add("GatherElements", heads, places, axis=-1)
    agrees(graph, tmp_path / "m.onnx", graph.add("Reshape", found, graph.constant([-1, 2, 3, 3])), {"x": [2, 3, 4]})


def test_a_root_mean_square_that_is_divided_into_one(tmp_path):
    """As T5 and Llama are exported, with a scaled input."""
    graph = Graph()
    x = graph.add("Mul", "x", graph.constant(np.float32(3)))
    mean = graph.add("ReduceMean", graph.add("Pow", x, graph.constant(np.float32(2))), axes=[-1])
    root = graph.add("Sqrt", graph.add("Add", mean, graph.constant(np.float32(1e-6))))
    normal = graph.add("Mul", x, graph.add("Div", graph.constant(np.float32(1)), root))
    found = graph.add("Mul", graph.weight(4), normal)
    assert 'type: "rms_norm"' in agrees(graph, tmp_path / "m.onnx", found, {"x": [3, 4]}).text


def numbered(graph, places):
    """Indices `[N, ..., axes]` of the sample and constants, as PyTorch writes them."""
    parts = [np.asarray(one) for one in places]
    rank = parts[0].ndim
    batch = graph.add("Squeeze", sizes(graph, "x")[0])
    sample = graph.add("Range", graph.constant(np.int64(0)), batch, graph.constant(np.int64(1)))
    sample = graph.add("Unsqueeze", sample, graph.constant(list(range(1, rank + 1))))
    both = [sample, *(graph.constant(one[None]) for one in parts)]
    shape = graph.add("Shape", graph.add("Add", sample, graph.constant(np.zeros((1, *parts[0].shape), np.int64))))
    wide = [graph.add("Unsqueeze", graph.add("Expand", one, shape), graph.constant([-1])) for one in both]
    return graph.add("Concat", *wide, axis=-1)


SCATTERED = {
    "rows": ([[3, 0]], [2, 5]),
    "elements": ([[[0, -1], [2, 2]], [[4, 0], [1, 3]]], [2, 2]),
    "a single row": ([[-1]], [1, 5]),
    "a block": (np.indices((2, 3)) + np.array([1, 2]).reshape(2, 1, 1), [2, 3]),
    "rows in a block": ([[1, 2]], [2, 5]),
}


@pytest.mark.parametrize("case", SCATTERED)
def test_elements_are_replaced(case, tmp_path):
    places, shape = SCATTERED[case]
    graph = Graph()
    found = graph.add("ScatterND", "x", numbered(graph, places), "z")
    imported = agrees(
        graph, tmp_path / "m.onnx", graph.add("Transpose", found, perm=[0, 2, 1]), {"x": [4, 5], "z": shape}
    )
    assert ("indices" in imported.text) is (case in ("rows", "elements"))


@pytest.mark.parametrize(("axis", "indices"), [(1, [[3, 0, 1], [2, -2, 0]]), (-1, [[4, 0], [1, -2], [3, 2]])])
def test_elements_are_replaced_along_an_axis(axis, indices, tmp_path):
    graph = Graph()
    shape = graph.add("Concat", sizes(graph, "x")[0], graph.constant(list(np.shape(indices))), axis=0)
    places = graph.add("Expand", graph.constant(np.array([indices])), shape)
    found = graph.add("ScatterElements", graph.add("Mul", "x", graph.constant(np.float32(2))), places, "z", axis=axis)
    agrees(graph, tmp_path / "m.onnx", found, {"x": [4, 5], "z": list(np.shape(indices))})


@pytest.mark.parametrize("axis", [-1, 1, 2])
def test_one_hot(axis, tmp_path):
    """Of a computed index; a negative one counts from the end."""
    graph = Graph()
    index = graph.add("ArgMax", "x", axis=2, keepdims=0)
    values = graph.constant(np.float32([0.5, 3]))
    some = graph.add("OneHot", index, graph.constant(np.int64(4)), values, axis=axis)
    other = graph.add("OneHot", graph.add("Neg", index), graph.constant(np.int64(4)), values, axis=axis)
    agrees(graph, tmp_path / "m.onnx", graph.add("Concat", some, other, axis=1), {"x": [3, 6]})


def test_a_dynamic_number_of_results_is_refused_with_a_remedy(tmp_path):
    graph = Graph()
    save(graph, tmp_path / "m.onnx", graph.add("Cast", graph.add("NonZero", "x"), to=1), {"x": [3]})
    with pytest.raises(ImportFailure, match=r"\(NonZero\): unsupported operator; .* write Where"):
        pl.import_onnx(tmp_path / "m.onnx")


def test_elements_of_other_samples_are_refused(tmp_path):
    graph = Graph()
    batch = graph.add("Squeeze", sizes(graph, "mask")[0])
    zero, one = graph.constant(np.int64(0)), graph.constant(np.int64(1))
    sample = graph.add("Unsqueeze", graph.add("Range", zero, batch, one), graph.constant([1]))
    index = graph.add("Add", graph.add("Mul", sample, graph.constant([TOKENS])), graph.constant([[TOKENS]]))
    flat = graph.add("Flatten", graph.add("Cast", "mask", to=1), axis=2)
    save(graph, tmp_path / "m.onnx", graph.add("Gather", flat, index, axis=0), {"mask": [TOKENS]})
    with pytest.raises(ImportFailure, match="elements of other samples"):
        pl.import_onnx(tmp_path / "m.onnx")


@pytest.mark.parametrize("by", ["Mul", "Mod"])
def test_the_number_of_a_sample_is_no_value(by, tmp_path):
    graph = Graph()
    batch = graph.add("Squeeze", sizes(graph, "ids")[0])
    sample = graph.add("Range", graph.constant(np.int64(0)), batch, graph.constant(np.int64(1)))
    numbers = graph.add("Unsqueeze", graph.add(by, sample, graph.constant(np.int64(2))), graph.constant([1, 2]))
    save(
        graph,
        tmp_path / "m.onnx",
        graph.add("Add", embedded(graph), graph.add("Cast", numbers, to=1)),
        {"ids": [TOKENS]},
    )
    with pytest.raises(ImportFailure):
        pl.import_onnx(tmp_path / "m.onnx")


@pytest.mark.parametrize(
    ("of", "by", "number", "reason"),
    [
        ("ids", "Mul", 2, "arithmetic with ids"),
        ("positions", "Max", 2, "the limit 2.0"),
        ("lengths", "Max", 3.0, "the limit 3.0"),
        ("lengths", "Clip", 3.0, "limits of sequence lengths"),
        ("positions", "Max", 0, ""),
        ("lengths", "Clip", 1.0, ""),
    ],
)
def test_ids_positions_and_lengths_are_not_changed(of, by, number, reason, tmp_path):
    """Limits that they always satisfy have no effect."""
    graph = Graph()
    table = graph.weight(WORDS, WIDTH)
    number = graph.constant(np.float32(number) if isinstance(number, float) else np.int64(number))
    if of == "ids":
        found = graph.add("Gather", table, graph.add(by, "ids", number))
    elif of == "positions":
        zero, one = graph.constant(np.int64(0)), graph.constant(np.int64(1))
        steps = graph.add("Range", zero, graph.add("Gather", graph.add("Shape", "ids"), one), one)
        places = graph.add("Gather", graph.weight(WORDS, WIDTH), graph.add(by, steps, number))
        found = graph.add("Add", graph.add("Gather", table, "ids"), places)
    else:
        real = graph.add("Cast", graph.add("Not", graph.add("Equal", "ids", graph.constant(np.int64(0)))), to=1)
        axis = graph.constant([1])
        lengths = graph.add(by, graph.add("ReduceSum", real, axis, keepdims=1), number)
        total = graph.add("ReduceSum", graph.add("Gather", table, "ids"), axis, keepdims=0)
        found = graph.add("Div", total, lengths)
    save(graph, tmp_path / "m.onnx", found, {"ids": ["T"]})
    if reason:
        with pytest.raises(ImportFailure, match=reason):
            pl.import_onnx(tmp_path / "m.onnx")
        return
    ids = np.array([[3, 1, 4], [1, 5, 8]])
    expected = onnxruntime.InferenceSession(str(tmp_path / "m.onnx")).run(None, {"ids": ids})[0]
    imported = pl.import_onnx(tmp_path / "m.onnx")
    with imported.net() as net:
        value = net.forward({"ids": list(ids)}, phase="test")[imported.outputs[found]]
    value = value.data if isinstance(value, pl.Sequences) else value
    np.testing.assert_allclose(value.reshape(expected.shape), expected, rtol=1e-5, atol=1e-6)
