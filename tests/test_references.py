"""Every example of every layer that has a reference: what a network computes is what the formula says."""

import inspect
import itertools
import zlib

import numpy as np
import pytest
from references import load_references

import paddle_layers as pl

REFERENCES = load_references()
ROWS = 7
STARTS = {0: [], 1: [[0, 2, 2, 6, 7]], 2: [[0, 3, 3, 7], [0, 1, 1, 3, 6, 7]]}
"""Starts by sequence level: one empty sequence, one empty sub-sequence."""
TOLERANCE = {"float64": 1e-11, "float32": 5e-5}


def cases():
    """Layer, example, phase; layers that don't mind the phase run in the test phase, where nothing is dropped."""
    for name in sorted(REFERENCES):
        definition = pl.registry[name].complete()
        for number, example in enumerate(definition.examples):
            for phase in ("test", "train") if definition.facts.has_phase else ("test",):
                yield pytest.param(definition, example, phase, id=f"{name}-{number}-{phase}")


def draw(type_, rng):
    """Rows of a type, sparse ones as the dense array that they stand for."""
    if type_.kind == "INT":
        return rng.integers(0, type_.size, ROWS)
    values = rng.standard_normal((ROWS, *type_.dims))
    if type_.kind.startswith("SPARSE"):
        values *= rng.random(values.shape) < 0.4
    return (values != 0) * 1.0 if type_.kind == "SPARSE_INT" else values


def feed(type_, values):
    """The same values as they are fed: lists for sparse rows and for sequences."""
    rows = values
    if type_.kind == "SPARSE_INT":
        rows = [list(np.flatnonzero(row)) for row in values]
    elif type_.kind == "SPARSE":
        rows = [[(int(i), float(row[i])) for i in np.flatnonzero(row)] for row in values]
    if not type_.level:
        return rows
    inner = STARTS[type_.level][-1]
    pieces = [rows[start:stop] for start, stop in itertools.pairwise(inner)]
    if type_.level == 1:
        return pieces
    outer = np.searchsorted(inner, STARTS[2][0])
    return [pieces[start:stop] for start, stop in itertools.pairwise(outer)]


def text_of(value):
    """A value in text format."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)


def network_of(definition, example, types, attributes):
    """The text of a network of data layers and the layer `it`."""
    lines = []
    for number, type_ in enumerate(types):
        shape = f"shape: {list(type_.dims)}" if type_.kind == "DENSE" and type_.dims else ""
        size = "" if type_.kind == "DENSE" else f"size: {type_.size}"
        block = f"data {{ data_type: {type_.kind} seq_nested_level: {type_.level} {shape} {size} }}"
        lines.append(f'layer {{ name: "in{number}" type: "data" {block} }}')
    given = {name: value for name, value in example.settings.items() if name not in definition.inputs}
    block = " ".join(
        f"{name}: [{', '.join(map(text_of, value))}]"
        if isinstance(value, (list, tuple))
        else f"{name}: {text_of(value)}"
        for name, value in given.items()
    )
    inputs = " ".join(f'input: "in{number}"' for number in range(len(types)))
    count = len(definition.infer(types, attributes))
    outputs = " ".join(f'output: "out{number}"' for number in range(count))
    lines.append(f'layer {{ name: "it" type: "{definition.name}" {inputs} {outputs} {definition.name} {{ {block} }} }}')
    return "\n".join(lines)


def parameters_of(net, definition, rng):
    """Give parameters and states random values; the values by field name, a list where there is one per item."""
    fields = {**definition.params, **definition.states}
    found = {}
    for name, field in fields.items():
        items = [p for key, p in net.parameters.items() if key.removeprefix("it.").rstrip("_0123456789") == name]
        states = [array for key, array in net.states.items() if key == f"it.{name}"]
        values = []
        for array in states or [parameter.value for parameter in items]:
            array[...] = rng.uniform(0.5, 1.5, array.shape)
            values.append(array.astype(np.float64))
        found[name] = values if getattr(field, "per", None) else (values or [None])[0]
    return found


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("definition", "example", "phase"), list(cases()))
def test_layer_computes_its_reference(definition, example, phase, dtype):
    rng = np.random.default_rng(zlib.crc32(repr(example).encode()))
    types, attributes = definition.example_inputs(example)
    drawn = [draw(type_, rng) for type_ in types]
    network = pl.loads(network_of(definition, example, types, attributes))
    with pl.Net(network, dtype=dtype) as net:
        params = parameters_of(net, definition, rng)
        feeds = {f"in{number}": feed(*pair) for number, pair in enumerate(zip(types, drawn, strict=True))}
        outputs = net.forward(feeds, phase=phase)
        statistics = net.statistics()
    rounded = [values.astype(dtype).astype(values.dtype) for values in drawn]
    inputs = inputs_by_name(definition, types, attributes, rounded)
    wanted = REFERENCES[definition.name](inputs, params, {**attributes, "training": phase == "train"})
    if definition.stats:
        sums = {name: np.sum(wanted[name]) for name in definition.stats}
        result = definition.hooks["result"]
        value = result(*(sums.get(name, attributes.get(name)) for name in inspect.signature(result).parameters))
        assert list(statistics.values()) == pytest.approx([value], rel=1e-6)
    compared = [item for name in definition.outputs for item in as_list(wanted[name])]
    for number, expected in enumerate(compared):
        if expected is not None:
            check_close(outputs[f"out{number}"], activate(expected, attributes), TOLERANCE[dtype])


def as_list(value):
    return value if isinstance(value, list) else [value]


def activate(values, attributes):
    """What `act` makes of the values."""
    act = attributes.get("act", "linear")
    if act == "linear":
        return values
    return REFERENCES[act]({"x": values}, {}, pl.registry[act].bind({}))["y"]


def inputs_by_name(definition, types, attributes, drawn):
    """The inputs as references want them, with the starts of sequences."""
    found = {}
    for name, places in definition.bind_axes(types, attributes).positions.items():
        items = [drawn[place] for place in places]
        found[name] = items if definition.inputs[name].repeatable else (items or [None])[0]
        if places and types[places[0]].level:
            found[f"{name}.starts"] = [np.array(starts) for starts in STARTS[types[places[0]].level]]
    return found


def check_close(found, expected, tolerance):
    found = np.asarray(getattr(found, "data", found) if not isinstance(found, np.ndarray) else found)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
