"""ONNX's own node tests: our layers give the same numbers, and the guide says what they cannot say."""

from pathlib import Path

import pytest

from tests.exchange import onnx_nodes

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "onnx.md"


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
