"""ONNX's own node tests: layers and imported nodes give the same numbers, and the guide says what they cannot say."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import paddle_layers as pl
from paddle_layers.exchange.onnx_in.conversion import OPERATORS
from paddle_layers.exchange.onnx_in.model import ImportFailure
from paddle_layers.exchange.onnx_in.quantization import OF_INTEGERS
from paddle_layers.exchange.onnx_in.reading import NEWEST
from paddle_layers.testing.cases.trial import as_python
from tests.exchange import onnx_nodes, onnx_operators

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "onnx.md"
STORED = Path(__file__).parents[1] / "onnx_models"
ELSEWHERE = {
    "FusedConv": "test_onnx_import", "GatherElements": "test_onnx_tokens", "GatherND": "test_onnx_tokens",
    "LabelEncoder": "test_onnx_import", "MaxRoiPool": "test_onnx_import", "OneHot": "test_onnx_tokens",
    "MeanVarianceNormalization": "test_onnx_import", "RoiAlign": "test_onnx_import", "ScatterND": "test_onnx_tokens",
    "Tile": "test_onnx_matrices",
}  # fmt: skip
"""Files with a test of an operator that has no node test with rows, nor a place among the cases of operators."""
RECURRENT = {"GRU", "LSTM", "RNN"}
"""Their steps come first, and their results are sequences: compared in stored models."""


def imports(case: Any) -> Iterator[tuple[onnx.ModelProto, dict[str, Any]]]:
    """The node with its first input fed, or those with the same rows and all else constants; one output at most."""
    arrays = dict(zip((one.name for one in case.model.graph.input), case.data_sets[0][0], strict=False))
    if not arrays or not all(isinstance(one, np.ndarray | np.generic) for one in arrays.values()):
        return
    first, *_ = arrays.values()
    alike = [name for name, one in arrays.items() if one.dtype.kind in "fb" and one.shape[:1] == first.shape[:1]]
    for fed in ([next(iter(arrays))], alike):
        model = onnx.ModelProto()
        model.CopyFrom(case.model)
        graph, inputs = model.graph, list(model.graph.input)
        del graph.input[:], graph.output[1:]
        if graph.node[0].op_type == "LayerNormalization":  # means and deviations are not imported
            del graph.node[0].output[1:]
        model.opset_import[0].version = min(model.opset_import[0].version, NEWEST)
        graph.input.extend(one for one in inputs if one.name in fed)
        constants = (numpy_helper.from_array(np.asarray(one), name) for name, one in arrays.items() if name not in fed)
        graph.initializer.extend(constants)
        yield model, {name: arrays[name] for name in fed}


def imported_value(model: onnx.ModelProto, feeds: dict[str, Any], path: Path) -> Any:
    """The output of the network; None where the import refuses the model, or notes that it differs."""
    onnx.save(model, path)
    try:
        imported = pl.import_onnx(path, verify=False)  # the values are compared with those of the node test
    except ImportFailure:
        return None
    data = [node for node in imported.network.nodes if node.definition.name == "data"]
    given = {node.name: list(feeds[node.name]) if node.output_types[0].level else feeds[node.name] for node in data}
    given = {name: np.float64(one) if getattr(one, "dtype", None) == "bool" else one for name, one in given.items()}
    with imported.net(dtype="float64") as net:
        try:
            value = as_python(lambda: net.forward(given, phase="test"))[next(iter(imported.outputs.values()))]
        except pl.FeedError:  # infinite values, NaN
            return None
    return None if "the order of its axes differs" in imported.report else getattr(value, "data", value)


def test_every_operator_of_the_import_gives_the_numbers_of_onnx(tmp_path: Path) -> None:
    """Each has a node test that comes in, a case compared with onnxruntime, or a stored model."""
    compared = Counter[tuple[str, str]]((one.domain, one.op_type) for one in stored_nodes())
    cases = (case for case in onnx_operators.cases() if case.accepted)
    compared.update((one.domain, one.op_type) for case in cases for one in case.nodes)
    for case in onnx_nodes.node_cases():
        (node, *others), outputs = case.model.graph.node, case.data_sets[0][1]
        if others or (node.domain, node.op_type) not in OPERATORS or node.op_type in RECURRENT:
            continue
        for model, feeds in imports(case):
            value = imported_value(model, feeds, tmp_path / "m.onnx")
            if value is not None:
                found, wanted = np.asarray(value, np.float64), np.asarray(outputs[0])
                assert found.size == wanted.size, case.name
                found = found.reshape(wanted.shape)
                np.testing.assert_allclose(found, wanted, err_msg=case.name, **onnx_nodes.TOLERANCE)
                compared[node.domain, node.op_type] += 1
                break
    for name, file in ELSEWHERE.items():
        assert f'"{name}"' in (Path(__file__).with_name(f"{file}.py")).read_text(encoding="utf-8")
    # Quantized operators are compared in test_onnx_quantized.
    assert OPERATORS.keys() - OF_INTEGERS - compared.keys() == {key for key in OPERATORS if key[1] in ELSEWHERE}


def stored_nodes() -> Iterator[onnx.NodeProto]:
    for path in STORED.rglob("*.onnx"):
        yield from onnx.load(path).graph.node


@pytest.fixture(scope="module")
def outcome() -> onnx_nodes.Outcome:
    return onnx_nodes.outcome()


def test_layers_give_the_numbers_of_the_node_tests(outcome: onnx_nodes.Outcome) -> None:
    assert not outcome.wrong
    assert not outcome.done.keys() ^ onnx_nodes.NODES.keys()  # each operator has a test that a layer expresses
    assert outcome.done.total() >= 200


def test_the_guide_lists_what_is_not_expressed(outcome: onnx_nodes.Outcome) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    for reason, operator in outcome.reasons:
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {reason} |")]
        assert operator in line.replace(",", " ").split()


def test_a_wrong_layer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = onnx_nodes.reduction("MEAN")
    monkeypatch.setattr(onnx_nodes, "NODES", {"ReduceSum": wrong})
    assert onnx_nodes.outcome().wrong
