"""Attention over a fixed number of tokens, such as the patches of an image: products of matrices."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import paddle_layers as pl
from paddle_layers.exchange.onnx_in.model import ImportFailure

CHANNELS, TOKENS, HEADS = 8, 16, 2
RNG = np.random.default_rng(0)


class Graph:
    """Nodes and constants of a model under construction."""

    def __init__(self) -> None:
        self.nodes, self.constants = [], []

    def add(self, operator, *inputs, **attributes):
        """A node; returns the name of its output."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, value):
        """A constant; returns its name."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, *shape):
        """A random constant."""
        return self.constant((RNG.standard_normal(shape) * 0.3).astype(np.float32))

    def save(self, path, inputs, output, opset=17):
        """Write the model with inputs `[N, ...]`."""
        given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", *dims]) for name, dims in inputs.items()]
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "attention", given, outputs, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)


def patches(graph):
    """Tokens of an image."""
    columns = graph.add("Conv", "x", graph.weight(CHANNELS, 3, 2, 2), strides=[2, 2], kernel_shape=[2, 2])
    flat = graph.add("Reshape", columns, graph.constant([0, CHANNELS, TOKENS]))
    return graph.add("Transpose", flat, perm=[0, 2, 1])


def attention(graph, tokens):
    """Heads of scaled dot products, and the sum with the tokens."""
    heads = graph.constant([0, TOKENS, HEADS, CHANNELS // HEADS])
    parts = []
    for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
        part = graph.add("MatMul", tokens, graph.weight(CHANNELS, CHANNELS))
        parts.append(graph.add("Transpose", graph.add("Reshape", part, heads), perm=order))
    query, keys, values = parts
    scores = graph.add("Mul", graph.add("MatMul", query, keys), graph.constant(np.float32(0.5)))
    mean = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), values)
    back = graph.add("Reshape", graph.add("Transpose", mean, perm=[0, 2, 1, 3]), graph.constant([0, TOKENS, CHANNELS]))
    return graph.add("Add", graph.add("MatMul", back, graph.weight(CHANNELS, CHANNELS)), tokens)


def equal(path, feeds):
    """Checks the import against onnxruntime, for several batches, and that every weight learns that is not frozen."""
    imported = pl.import_onnx(path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    name = session.get_outputs()[0].name
    with imported.net() as net:
        for rows in (3, 1):
            given = {key: RNG.standard_normal((rows, *dims)).astype(np.float32) for key, dims in feeds.items()}
            expected = session.run([name], given)[0]
            found = net.forward(given, phase="test")[imported.outputs[name]]
            np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-4, atol=1e-5)
        value = net.forward(given, phase="train", step=0)[imported.outputs[name]]
        net.backward(gradients={imported.outputs[name]: np.ones_like(value)})
        slopes = [one.gradient for one in net.parameters.values() if one.gradient is not None]
        assert all(np.abs(slope).max() > 0 for slope in slopes)
    return imported


def test_attention_over_the_patches_of_an_image(tmp_path):
    graph = Graph()
    graph.save(tmp_path / "m.onnx", {"x": [3, 8, 8]}, attention(graph, patches(graph)))
    imported = equal(tmp_path / "m.onnx", {"x": [3, 8, 8]})
    assert imported.text.count('type: "matmul"') == 2


@pytest.mark.parametrize("second", [[3, 4, 2], [2, 5, 4]])
def test_a_product_with_other_axes_before_the_matrices_is_refused(second, tmp_path):
    graph = Graph()
    graph.save(tmp_path / "m.onnx", {"x": [2, 3, 4], "z": second}, graph.add("MatMul", "x", "z"))
    with pytest.raises(ImportFailure, match=r"a product of|axis K of input"):
        pl.import_onnx(tmp_path / "m.onnx")


def test_a_class_token_before_the_patches(tmp_path):
    """As vision transformers have it: expanded to the batch, joined, query, key and value cut from one product."""
    graph = Graph()
    tokens = patches(graph)
    batch = graph.add("Gather", graph.add("Shape", "x"), graph.constant(np.int64(0)))
    sizes = [graph.add("Unsqueeze", batch, graph.constant([0])), graph.constant([1]), graph.constant([CHANNELS])]
    token = graph.add("Expand", graph.weight(1, 1, CHANNELS), graph.add("Concat", *sizes, axis=0))
    joined = graph.add("Concat", token, tokens, axis=1)
    placed = graph.add("Add", joined, graph.weight(1, TOKENS + 1, CHANNELS))
    product = graph.add("MatMul", placed, graph.weight(CHANNELS, 3 * CHANNELS))
    apart = graph.add("Reshape", product, graph.constant([0, TOKENS + 1, 3, HEADS, CHANNELS // HEADS]))
    turned = graph.add("Transpose", apart, perm=[2, 0, 3, 1, 4])
    query, keys, values = (graph.add("Gather", turned, graph.constant(np.int64(part)), axis=0) for part in range(3))
    scores = graph.add("MatMul", query, graph.add("Transpose", keys, perm=[0, 1, 3, 2]))
    mean = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), values)
    back = graph.constant([0, TOKENS + 1, CHANNELS])
    found = graph.add("Reshape", graph.add("Transpose", mean, perm=[0, 2, 1, 3]), back)
    graph.save(tmp_path / "m.onnx", {"x": [3, 8, 8]}, graph.add("Gather", found, graph.constant(np.int64(0)), axis=1))
    imported = equal(tmp_path / "m.onnx", {"x": [3, 8, 8]})
    assert 'type: "parameter"' in imported.text


def test_a_constant_beside_the_patches_of_one_image(tmp_path):
    """What exporters write for a batch of one."""
    graph = Graph()
    found = graph.add("Concat", graph.weight(1, 2, CHANNELS), patches(graph), axis=1)
    path = tmp_path / "m.onnx"
    graph.save(path, {"x": [3, 8, 8]}, graph.add("MatMul", found, graph.weight(CHANNELS, 2)))
    imported = pl.import_onnx(path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    image = RNG.standard_normal((1, 3, 8, 8)).astype(np.float32)
    (expected,) = session.run(None, {"x": image})
    with imported.net() as net:
        found = net.forward({"x": np.concatenate([image, image])}, phase="test")[next(iter(imported.outputs.values()))]
    np.testing.assert_allclose(found, np.concatenate([expected, expected]), rtol=1e-4, atol=1e-5)


def test_a_matrix_that_is_a_constant_of_the_graph_learns(tmp_path):
    """Paddle's exporter writes every parameter as a constant."""
    graph = Graph()
    matrix = numpy_helper.from_array(RNG.standard_normal((4, 3)).astype(np.float32))
    bias = numpy_helper.from_array(np.ones(3, np.float32))
    product = graph.add("MatMul", "x", graph.add("Constant", value=matrix))
    graph.save(tmp_path / "m.onnx", {"x": [4]}, graph.add("Add", product, graph.add("Constant", value=bias)))
    imported = equal(tmp_path / "m.onnx", {"x": [4]})
    with imported.net() as net:
        assert [one.name for one in net.parameters.values() if one.trained] == ["v3.weight"]


FOLDED = {
    "normalized table": ("BatchNormalization", [(1, 6, 4), (6,), (6,), (6,), (6,)], {}),
    "rectified table": ("Clip", [(1, 6, 4), (), ()], {}),
    "convolved table": ("Conv", [(1, 6, 4), (6, 6, 1)], {}),
}


@pytest.mark.parametrize("case", FOLDED)
def test_constants_are_computed_by_the_reference(case, tmp_path):
    """Operators between constants, as normalized weights and position tables of small networks have them."""
    operator, shapes, attributes = FOLDED[case]
    graph = Graph()
    given = [graph.constant(np.abs(RNG.standard_normal(shape)).astype(np.float32)) for shape in shapes]
    graph.save(tmp_path / "m.onnx", {"x": [6, 4]}, graph.add("Add", "x", graph.add(operator, *given, **attributes)))
    equal(tmp_path / "m.onnx", {"x": [6, 4]})


def test_a_constant_that_would_be_too_large_is_refused_before_it_is_computed(tmp_path):
    graph = Graph()
    padded = graph.add("Pad", graph.constant(np.ones((1, 2), np.float32)), graph.constant([0, 1 << 40, 0, 0]))
    graph.save(tmp_path / "m.onnx", {"x": [2]}, graph.add("Add", "x", padded))
    with pytest.raises(ImportFailure, match="exceeds the memory limit"):
        pl.import_onnx(tmp_path / "m.onnx")


def test_values_are_repeated_along_their_axes(tmp_path):
    graph = Graph()
    wide = graph.add("Expand", "x", graph.constant([1, 3, 4]))
    graph.save(tmp_path / "m.onnx", {"x": [3, 1]}, graph.add("Tile", wide, graph.constant([1, 2, 1])))
    imported = pl.import_onnx(tmp_path / "m.onnx")
    x = RNG.standard_normal((2, 3, 1)).astype(np.float32)
    with imported.net() as net:
        found = net.forward({"x": x}, phase="test")[next(iter(imported.outputs.values()))]
    np.testing.assert_array_equal(found, np.tile(np.broadcast_to(x, (2, 3, 4)), (1, 2, 1)))


def test_windows_of_an_image(tmp_path):
    """The windows are in the batch axis, as in Swin: every operator between has axes beside the batch in it."""
    graph = Graph()
    rows = graph.add("Transpose", "x", perm=[0, 2, 3, 1])
    apart = graph.add("Reshape", rows, graph.constant([0, 2, 4, 2, 4, CHANNELS]))
    windows = graph.add(
        "Reshape", graph.add("Transpose", apart, perm=[0, 1, 3, 2, 4, 5]), graph.constant([-1, TOKENS, CHANNELS])
    )
    normal = graph.add("LayerNormalization", windows, graph.weight(CHANNELS), graph.weight(CHANNELS))
    found = graph.add("Reshape", attention(graph, normal), graph.constant([-1, 2, 2, 4, 4, CHANNELS]))
    back = graph.add("Transpose", found, perm=[0, 5, 1, 3, 2, 4])
    whole = graph.add("Reshape", back, graph.constant([0, CHANNELS, 8, 8]))
    graph.save(tmp_path / "m.onnx", {"x": [CHANNELS, 8, 8]}, whole)
    equal(tmp_path / "m.onnx", {"x": [CHANNELS, 8, 8]})


EINSUMS = {
    "bhid,bhjd->bhij": ([2, 3, 4], [2, 5, 4]),
    "bhij,bjhd->bihd": ([2, 3, 5], [5, 2, 4]),
    "bij,bjk->bki": ([3, 4], [4, 2]),
}


@pytest.mark.parametrize("equation", EINSUMS)
def test_einsum_is_a_product_of_matrices(equation, tmp_path):
    shapes = dict(zip(("x", "z"), EINSUMS[equation], strict=True))
    graph = Graph()
    graph.save(tmp_path / "m.onnx", shapes, graph.add("Einsum", "x", "z", equation=equation))
    equal(tmp_path / "m.onnx", shapes)


@pytest.mark.parametrize("equation", ["bij,bjk->b", "bii,bij->bj", "bij,bij->bij", "bij,cij->bc"])
def test_other_einsums_are_refused(equation, tmp_path):
    graph = Graph()
    graph.save(tmp_path / "m.onnx", {"x": [3, 3], "z": [3, 3]}, graph.add("Einsum", "x", "z", equation=equation))
    with pytest.raises(ImportFailure, match="Einsum"):
        pl.import_onnx(tmp_path / "m.onnx")


@pytest.mark.parametrize(("left", "right"), [([4, 1, 5], [1, 3, 5]), ([1, 3], [4, 3]), ([2, 3, 4], [2, 3, 1])])
@pytest.mark.parametrize("operator", ["Add", "Sub", "Mul", "Div"])
def test_values_are_broadcast_along_any_axes(operator, left, right, tmp_path):
    graph = Graph()
    graph.save(tmp_path / "m.onnx", {"x": left, "z": right}, graph.add(operator, "x", "z"))
    equal(tmp_path / "m.onnx", {"x": left, "z": right})


WITHIN = [
    *(("Softmax", {"axis": axis}, opset) for axis in (-3, -2, -1, 0, 1, 2, None) for opset in (11, 17)),
    *(("LogSoftmax", {"axis": axis}, opset) for axis in (-3, 1, None) for opset in (11, 17)),
    *(("ReduceMean", {"axes": axes, "keepdims": 1}, 17) for axes in ([-1], [-3], [1], [-2, -1], [-3, -1], [0], None)),
    *(("ReduceMax", {"axes": axes, "keepdims": 0}, 17) for axes in ([-1], [-3], [-2])),
    *(("Split", {"axis": axis}, 11) for axis in (-1, -3, 2, 0, None)),
    *(("LayerNormalization", {"axis": axis}, 17) for axis in (-1, -2, 2, 1, 0, -3)),
    *(("Slice", {"inputs": ([1], [3], [axis], [step])}, 17) for axis in (-1, -2, 1, 2, 0, -3) for step in (1, 2)),
    *(("ReduceSum", {"inputs": ([axis],)}, 18) for axis in (-1, -2, 1, 2, 0, -3)),
]
"""Operators with an axis, on values `[N * 4, 3, 6]`."""


def along_the_batch(operator, attributes, opset):
    """Whether the merged axis, the first of three, is among those of the operator."""
    default = {"Softmax": -1 if opset >= 13 else 1, "LogSoftmax": -1 if opset >= 13 else 1, "Split": 0}.get(operator)
    axes = attributes["inputs"][2 if operator == "Slice" else 0] if "inputs" in attributes else attributes.get("axes")
    axis = attributes.get("axis", default)
    axes = axes if axis is None else [axis]
    return axes is None or any(axis is None or axis % 3 == 0 for axis in axes)


@pytest.mark.parametrize(("operator", "attributes", "opset"), WITHIN)
def test_axes_within_a_merged_batch_are_those_of_the_model(operator, attributes, opset, tmp_path):
    """What is accepted gives the values of the model: an axis is counted in its shapes, with the usual default."""
    graph, path = Graph(), tmp_path / "m.onnx"
    merged = graph.add("Reshape", "x", graph.constant([-1, 3, 6]))
    given = {name: value for name, value in attributes.items() if value is not None and name != "inputs"}
    axis = given.get("axis", -1) % 3
    more = [graph.weight(*(3, 6)[axis - 1 :])] if operator == "LayerNormalization" and axis else []
    more = more or ([graph.weight(1)] if operator == "LayerNormalization" else [])
    more += map(graph.constant, attributes.get("inputs", ()))
    found = graph.add(operator, merged, *more, **given)
    graph.save(path, {"x": [4, 3, 6]}, graph.add("Flatten", found, axis=1), opset=opset)
    try:
        imported = pl.import_onnx(path)
    except ImportFailure:
        assert along_the_batch(operator, attributes, opset)
        return
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    x = RNG.standard_normal((2, 4, 3, 6)).astype(np.float32)
    (expected,) = session.run(None, {"x": x})
    with imported.net() as net:
        result = net.forward({"x": x}, phase="test")[next(iter(imported.outputs.values()))]
    np.testing.assert_allclose(result.reshape(expected.shape), expected, rtol=1e-5, atol=1e-6)


REPEATED = {
    "as it is": [],
    "transposed": [("Transpose", {"perm": [0, 2, 1]}), ("Transpose", {"perm": [0, 2, 1]})],
    "with another axis": [("Unsqueeze", [1]), ("Squeeze", [1])],
    "in another shape": [("Reshape", [0, 6, 2]), ("Reshape", [0, 3, 4])],
    "transposed and reshaped": [("Transpose", {"perm": [0, 2, 1]}), ("Reshape", [0, 3, 4])],
    "batch behind": [("Transpose", {"perm": [1, 0, 2]}), ("Transpose", {"perm": [1, 0, 2]})],
    "batch merged": [("Reshape", [-1, 4]), ("Reshape", [-1, 3, 4])],
    "batch mixed": [("Transpose", {"perm": [1, 0, 2]}), ("Reshape", [-1, 3, 4])],
}


@pytest.mark.parametrize("name", REPEATED)
@pytest.mark.parametrize("reader", ["Concat", "Add"])
def test_axes_of_a_constant_for_each_sample(name, reader, tmp_path):
    """Whatever happens to its axes: the numbers are those of the model, or it is refused."""
    graph, path = Graph(), tmp_path / "m.onnx"
    batch = graph.add("Slice", graph.add("Shape", "x"), *map(graph.constant, ([0], [1])))
    size = graph.add("Concat", batch, graph.constant([3, 4]), axis=0)
    value = graph.add("Expand", graph.weight(1, 3, 4), size)
    for operator, setting in REPEATED[name]:
        more = [graph.constant(setting)] if isinstance(setting, list) else []
        value = graph.add(operator, value, *more, **({} if more else setting))
    found = graph.add("Concat", value, "x", axis=1) if reader == "Concat" else graph.add("Add", "x", value)
    graph.save(path, {"x": [3, 4]}, found)
    try:
        pl.import_onnx(path)
    except ImportFailure:
        assert name in ("batch mixed", "transposed and reshaped")
        return
    equal(path, {"x": [3, 4]})


def test_a_decomposed_normalization_of_windows(tmp_path):
    """As exporters write it before opset 17."""
    graph = Graph()
    windows = graph.add("Reshape", "x", graph.constant([-1, 4, 6]))
    centered = graph.add("Sub", windows, graph.add("ReduceMean", windows, axes=[-1]))
    square = graph.add("Pow", centered, graph.constant(np.float32(2)))
    variance = graph.add("Add", graph.add("ReduceMean", square, axes=[-1]), graph.constant(np.float32(1e-5)))
    normal = graph.add("Div", centered, graph.add("Sqrt", variance))
    scaled = graph.add("Add", graph.add("Mul", normal, graph.weight(6)), graph.weight(6))
    graph.save(tmp_path / "m.onnx", {"x": [2, 4, 6]}, graph.add("Reshape", scaled, graph.constant([-1, 2, 4, 6])), 13)
    equal(tmp_path / "m.onnx", {"x": [2, 4, 6]})


MERGED = {
    "Expand": ([1, 6, 5], 90, lambda graph, merged: graph.add(
        "Expand", merged, graph.add("Concat", graph.add("Slice", graph.add("Shape", merged), graph.constant([0]),
                                                        graph.constant([1])), graph.constant([3, 6, 5]), axis=0))),
    "Expand to more": ([6, 1], 30, lambda graph, merged: graph.add("Expand", merged, graph.constant([1, 1, 5]))),
    "Pad": ([6, 5], 49, lambda graph, merged: graph.add("Pad", merged, graph.constant([0, 1, 0, 0, 0, 2]))),
    "Concat": ([6, 5], 60, lambda graph, merged: graph.add("Concat", merged, graph.add("Relu", merged), axis=-1)),
    "Conv": ([2, 6, 5], 64, lambda graph, merged: graph.add(
        "Conv", merged, graph.weight(4, 1, 3, 2), graph.weight(4), group=2, pads=[1, 0, 2, 1], strides=[2, 1],
        dilations=[1, 2])),
    "Conv of 1x1": ([2, 6, 5], 90, lambda graph, merged: graph.add("Conv", merged, graph.weight(3, 2, 1, 1))),
}  # fmt: skip
"""Operators on windows in the batch axis: shape of a window, number of results, and the node."""


@pytest.mark.parametrize("name", MERGED)
def test_sizes_and_filters_of_windows(name, tmp_path):
    window, count, node = MERGED[name]
    graph = Graph()
    found = node(graph, graph.add("Reshape", "x", graph.constant([-1, *window])))
    apart = graph.add("Reshape", graph.add("Flatten", found), graph.constant([-1, 4, count]))
    graph.save(tmp_path / "m.onnx", {"x": [4, *window]}, apart)
    equal(tmp_path / "m.onnx", {"x": [4, *window]})


def test_a_table_computed_for_each_sample(tmp_path):
    """As ConViT and EdgeNeXt have it: constants are repeated, joined, multiplied and filtered before a value is met."""
    graph = Graph()
    batch = graph.add("Slice", graph.add("Shape", "x"), *map(graph.constant, ([0], [1])))
    size = graph.add("Concat", batch, graph.constant([3, 4, 6]), axis=0)
    value = graph.add("Expand", graph.weight(1, 3, 4, 6), size)
    joined = graph.add("Concat", graph.add("Sin", value), graph.add("Cos", value), axis=1)
    filtered = graph.add("Conv", joined, graph.weight(3, 6, 1, 1), graph.weight(3))
    table = graph.add("Softmax", graph.add("MatMul", filtered, graph.weight(6, 5)), axis=-1)
    graph.save(tmp_path / "m.onnx", {"x": [3, 4, 5]}, graph.add("Add", "x", table))
    equal(tmp_path / "m.onnx", {"x": [3, 4, 5]})


def test_multi_head_attention_with_the_batch_behind_the_tokens(tmp_path):
    """As `nn.TransformerEncoderLayer` has it: `[L, N, E]`, and `[L * N, E]` after the heads."""
    graph = Graph()
    tokens = graph.add("Transpose", patches(graph), perm=[1, 0, 2])
    parts = []
    for order in ([0, 1, 2, 3], [0, 1, 3, 2], [0, 1, 2, 3]):
        part = graph.add("Add", graph.weight(CHANNELS), graph.add("MatMul", tokens, graph.weight(CHANNELS, CHANNELS)))
        heads = graph.add("Reshape", part, graph.constant([TOKENS, -1, CHANNELS // HEADS]))
        heads = graph.add("Transpose", heads, perm=[1, 0, 2])
        heads = graph.add("Reshape", heads, graph.constant([-1, HEADS, TOKENS, CHANNELS // HEADS]))
        parts.append(graph.add("Transpose", heads, perm=order))
    query, keys, values = parts
    mean = graph.add("MatMul", graph.add("Softmax", graph.add("MatMul", query, keys), axis=-1), values)
    flat = graph.add("Reshape", graph.add("Transpose", mean, perm=[2, 0, 1, 3]), graph.constant([-1, CHANNELS]))
    out = graph.add("Gemm", flat, graph.weight(CHANNELS, CHANNELS), graph.weight(CHANNELS), transB=1)
    apart = graph.add("Reshape", out, graph.constant([TOKENS, -1, CHANNELS]))
    normal = graph.add("LayerNormalization", apart, graph.weight(CHANNELS), graph.weight(CHANNELS), axis=2)
    graph.save(tmp_path / "m.onnx", {"x": [3, 8, 8]}, graph.add("Transpose", normal, perm=[1, 0, 2]))
    equal(tmp_path / "m.onnx", {"x": [3, 8, 8]})


@pytest.mark.parametrize("shape", [[3, 1, 1], [2, 5], [1, 5], [5]])
@pytest.mark.parametrize("operator", ["Add", "Mul"])
def test_constants_of_values_whose_batch_comes_second(operator, shape, tmp_path):
    """A constant for each row, or for all; not one for each sample."""
    graph, path = Graph(), tmp_path / "m.onnx"
    found = graph.add(operator, graph.add("Transpose", "x", perm=[1, 0, 2]), graph.weight(*shape))
    graph.save(path, {"x": [3, 5]}, graph.add("Transpose", found, perm=[1, 0, 2]))
    if shape == [2, 5]:
        with pytest.raises(ImportFailure):
            pl.import_onnx(path)
    else:
        equal(path, {"x": [3, 5]})
