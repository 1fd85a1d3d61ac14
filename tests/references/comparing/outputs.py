"""Outputs, statistics, the loss and states of one forward pass against what a reference says."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime import Net
from paddle_layers.testing.cases.case import LAYER, Case

from .. import activate, load_references

TOLERANCE = 1e-10


def expect(case: Case, inputs: dict[str, Any], params: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """What the reference says of a case, or of one that differs in an attribute."""
    attributes = {**case.attributes, "training": case.phase == "train", **changed}
    with np.errstate(all="ignore"):
        return load_references()[case.definition.name](inputs, params, attributes)


def compare_outputs(case: Case, net: Net, arrays: list[Any], expected: dict[str, Any]) -> bool:
    """Run the rows and compare; whether there was anything to compare."""
    net.reset_statistics()
    outputs = net.forward(case.feeds(arrays), phase=case.phase)
    _compare_statistics(case, net, expected)
    _compare_loss(case, net, expected)
    compared = bool(case.definition.stats)
    for name in case.definition.states:
        if name in expected:
            check_close(net.states[f"{LAYER}.{name}"].value, expected[name], name)
    fields = case.definition.outputs.items()
    there = [name for name, field in fields if field.when is None or case.attributes[field.when]]
    values = [item for name in there for item in _as_list(expected[name])]
    for name, value in zip(case.outputs, values, strict=True):
        if value is not None:
            compared = True
            check_close(outputs[name], _followed(case, outputs[name], value, expected), name)
            _compare_lengths(outputs[name], expected.get("lengths"))
    return compared


def check_close(found: Any, expected: NDArray[Any], name: str) -> None:
    """The numbers are the same but for rounding; NaN equals NaN."""
    found = as_array(found)
    assert found.shape == expected.shape, f"{name}: the shape is {found.shape}, expected {expected.shape}"
    np.testing.assert_allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE, err_msg=name)


def _followed(case: Case, found: Any, value: NDArray[Any], expected: dict[str, Any]) -> NDArray[Any]:
    """What the common attributes make of a value: activation, then dropout, of which the mask is taken as found."""
    common, random = case.definition.common, expected.get("random", False)
    if "act" in common:
        value = activate(value, case.attributes["act"])
    if "drop_rate" in common and case.phase == "train" and case.attributes["drop_rate"]:
        value, random = value / (1 - case.attributes["drop_rate"]), True
    return np.where(as_array(found) == 0, 0.0, value) if random else value


def _compare_lengths(found: Any, lengths: list[int] | None) -> None:
    """How many rows the sequences have that the layer makes; other outputs may have a row for each sample."""
    if lengths is not None and not isinstance(found, np.ndarray):
        starts = found.starts if found.sub_starts is None else found.sub_starts
        assert np.diff(starts).tolist() == list(lengths), "the sequences have other lengths"


def _compare_statistics(case: Case, net: Net, expected: dict[str, Any]) -> None:
    if not case.definition.stats:
        return
    statistics, report = net.statistics(), expected["report"]
    assert [name.rpartition(".")[2] for name in statistics] == [name or case.definition.name for name in report]
    check_close(np.array(list(statistics.values())), np.array(list(report.values()), float), "statistics")


def _compare_loss(case: Case, net: Net, expected: dict[str, Any]) -> None:
    """The loss is the sum of all costs, each divided by its rows or what the reference says."""
    costs = [expected[name] for name, field in case.definition.outputs.items() if field.loss]
    with np.errstate(all="ignore"):
        loss = sum(cost.sum() / expected.get("divisor", len(cost)) for cost in costs)
    check_close(np.array(net.loss), np.array(loss), "loss")


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def as_array(value: Any) -> NDArray[Any]:
    """The rows of an output."""
    rows = value if isinstance(value, np.ndarray) else getattr(value, "data", value)
    return np.asarray(rows)
