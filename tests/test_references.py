"""Every example of every layer that has a reference: what a network computes is what the formula says."""

import numpy as np
import pytest
from references import load_references

import paddle_layers as pl
from paddle_layers.runtime import Csr
from paddle_layers.testing.cases import LAYER, STARTS, Case

REFERENCES = load_references()
TOLERANCE = {"float64": 1e-11, "float32": 5e-5}


def cases():
    """Layers that don't mind the phase run in the test phase, where nothing is dropped."""
    for name in sorted(REFERENCES):
        definition = pl.registry[name].complete()
        for number, example in enumerate(definition.examples):
            types, attributes = definition.example_inputs(example)
            for phase in ("test", "train") if definition.facts.has_phase else ("test",):
                case = Case(definition, example, tuple(types), attributes, phase)
                yield pytest.param(case, id=f"{name}-{number}-{phase}")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", list(cases()))
def test_layer_computes_its_reference(case, dtype):
    definition, attributes, arrays = case.definition, case.attributes, case.arrays()
    with case.net(dtype) as net:
        params = parameters_of(net, definition)
        outputs = net.forward(case.feeds(arrays), phase=case.phase)
        statistics, loss = net.statistics(), net.loss
    inputs = inputs_by_name(case, [dense(type_, rows, dtype) for type_, rows in zip(case.types, arrays, strict=True)])
    wanted = REFERENCES[definition.name](inputs, params, {**attributes, "training": case.phase == "train"})
    if definition.stats:
        levels = definition.bind_axes(case.types, attributes).levels
        sums = {
            name: np.sum(wanted[name]) if field.axes[0].name in levels else list(wanted[name])
            for name, field in definition.stats.items()
        }
        reported = definition.report({**attributes, **sums})
        assert [name.rpartition(".")[2] for name in statistics] == [name or definition.name for name in reported]
        assert list(statistics.values()) == pytest.approx(list(reported.values()), rel=TOLERANCE[dtype], nan_ok=True)
    costs = [wanted[name] for name, field in definition.outputs.items() if field.loss]
    expected_loss = sum(cost.sum() / wanted.get("divisor", len(cost)) for cost in costs)
    assert loss == pytest.approx(expected_loss, rel=TOLERANCE[dtype], abs=TOLERANCE[dtype])
    compared = [item for name in definition.outputs for item in as_list(wanted[name])]
    for number, expected in enumerate(compared):
        if expected is not None:
            act = attributes["act"] if "act" in definition.common else "linear"
            check_close(outputs[f"out{number}"], activate(expected, act), TOLERANCE[dtype])


def parameters_of(net, definition):
    """Values of parameters and states by field name, a list where there is one per item; of parts as `part.weight`."""
    found = {}
    if definition.is_composite:
        held = {**net.parameters, **net.states}
        return {name.removeprefix(f"{LAYER}."): one.value.astype(np.float64) for name, one in held.items()}
    for name, field in {**definition.params, **definition.states}.items():
        items = [p for key, p in net.parameters.items() if key.removeprefix(f"{LAYER}.").rstrip("_0123456789") == name]
        values = [p.value.astype(np.float64) for p in items]
        values += [state.value.astype(np.float64) for key, state in net.states.items() if key == f"{LAYER}.{name}"]
        found[name] = values if getattr(field, "per", None) else (values or [None])[0]
    return found


def dense(type_, rows, dtype):
    """The rows as an array, in the precision in which they are fed; sparse ones as what they stand for."""
    if not isinstance(rows, Csr):
        return rows.astype(dtype).astype(rows.dtype)
    whole = np.zeros((len(rows), type_.size))
    at = np.repeat(np.arange(len(rows)), np.diff(rows.start))
    whole[at, rows.id] = 1.0 if rows.value is None else rows.value.astype(dtype)
    return whole


def as_list(value):
    return value if isinstance(value, list) else [value]


def activate(values, act):
    """What an activation makes of the values."""
    if act == "linear":
        return values
    return REFERENCES[act]({"x": values}, {}, pl.registry[act].bind({}))["y"]


def inputs_by_name(case, drawn):
    """The inputs as references want them, with the starts of sequences in rows, outermost first."""
    found = {}
    for name, places in case.definition.bind_axes(case.types, case.attributes).positions.items():
        items = [drawn[place] for place in places]
        found[name] = items if case.definition.inputs[name].repeatable else (items or [None])[0]
        if places and (level := case.types[places[0]].level):
            starts = [np.array(part) for part in STARTS[level]]
            found[f"{name}.starts"] = starts if level == 1 else [starts[1][starts[0]], starts[1]]
    return found


def check_close(found, expected, tolerance):
    found = np.asarray(getattr(found, "data", found) if not isinstance(found, np.ndarray) else found)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
