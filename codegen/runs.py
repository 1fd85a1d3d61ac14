"""Executed examples: input rows, parameters and outputs, computed by the layer's own functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import Example, Input, LayerDefinition, Type
from paddle_layers.kernels.tuned import point_functions_only
from paddle_layers.runtime import Csr, Net, Sequences
from paddle_layers.runtime.devices.cpu.interpreter import interpreted
from paddle_layers.testing.cases.case import LAYER, Case

STARTS: dict[int, tuple[tuple[int, ...], ...]] = {0: (), 1: ((0, 2, 3),), 2: ((0, 2, 3), (0, 1, 3, 4))}
"""Sequence starts by level, outermost first: two sequences."""
ROWS = {0: 2, 1: 3, 2: 4}
SHOWN = 6
"""Numbers of a row that are shown."""


class ExampleResult(NamedTuple):
    """Text by name: one list of rows per tensor."""

    inputs: list[tuple[str, list[str]]]
    parameters: list[tuple[str, list[str]]]
    outputs: list[tuple[str, list[str]]]


def run_example(
    layer: LayerDefinition, example: Example, inputs: Sequence[str], outputs: Sequence[str]
) -> ExampleResult | str | None:
    """The example with numbers, in the phase train.

    The functions run as Python: an example is small, and compiling takes longer than computing.

    Returns:
        The run; the reason where it fails; None for a layer without inputs or functions.
    """
    if not layer.inputs or layer.declared_only:
        return None
    types, attributes = layer.example_inputs(example)
    case = Case(layer, example, tuple(types), attributes, "train")
    deepest = max(type_.level for type_ in types)
    given = [
        _rows(type_, field, place, deepest) for place, (type_, field) in enumerate(zip(types, case.inputs, strict=True))
    ]
    feeds = {
        f"in{place}": Sequences(rows, *map(np.array, STARTS[deepest][: type_.level])) if type_.level else rows
        for place, (type_, rows) in enumerate(zip(types, given, strict=True))
    }
    try:
        with point_functions_only(), interpreted(), Net(case.network()) as net:
            parameters = []
            for name, parameter in net.parameters.items():
                parameter.value[...] = _numbers(parameter.shape, 3)
                parameters.append((name.removeprefix(f"{LAYER}."), _texts(parameter.value)))
            found = net.forward(feeds)
    except (ArithmeticError, ValueError) as error:  # Python refuses what a kernel gives NaN for
        return f"{type(error).__name__}: {error}"
    return ExampleResult(
        [(name, _texts(rows)) for name, rows in zip(inputs, given, strict=True)],
        parameters,
        [(name, _texts(found[own])) for name, own in zip(outputs, case.outputs, strict=True)],
    )


def starts_text(types: Sequence[Type]) -> str:
    """The sequence grouping of the rows of an example; empty for samples."""
    deepest = max((type_.level for type_ in types), default=0)
    if deepest == 0:
        return ""
    ends = " and ".join(f"`{list(starts)}`" for starts in STARTS[deepest])
    what = "sequences" if deepest == 1 else "sequences and sub-sequences"
    return f"The rows are grouped in {what} that start at {ends}."


def _rows(type_: Type, field: Input, place: int, deepest: int) -> Any:
    """Rows that are easy to reckon with: halves between -2 and 2, tenths between 0 and 1, ids in turn."""
    above = deepest - type_.level
    count = ROWS[deepest] if above == 0 else len(STARTS[deepest][type_.level]) - 1
    if type_.kind == "INT":
        return ((np.arange(count * type_.columns) + place) % type_.size).reshape(count, *type_.dims)
    if field.places is not None:
        lengths = np.diff(STARTS[deepest][type_.level])[:, None]
        places = np.arange(count)[:, None] + np.arange(type_.size) + place - 1
        return np.where(lengths > 0, places % np.maximum(lengths, 1), -1)
    if type_.kind == "DENSE":
        numbers = _numbers((count, *type_.dims), place)
        return numbers if field.within is None else _tenths(numbers, *field.within)
    ids = np.stack([np.arange(count) % type_.size, (np.arange(count) + 2) % type_.size], axis=1)
    ids.sort(axis=1)
    values = _numbers((count, 2), place) if type_.kind == "SPARSE" else None
    return Csr(np.arange(count + 1) * 2, ids.ravel(), None if values is None else values.ravel())


def _numbers(shape: tuple[int, ...], shift: int) -> NDArray[np.float64]:
    size = int(np.prod(shape, dtype=np.int64))
    # 5 and 9 are coprime, so nine different halves follow each other in no visible order; readers can check results by
    # hand.
    return (((np.arange(size) * 5 + 2 * shift + 1) % 9 - 4) / 2).reshape(shape)


def _tenths(numbers: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Halves between -2 and 2, brought into a range."""
    return np.round(low + (high - low) * (numbers * 2 + 5) / 10, 6)


def _texts(value: Any) -> list[str]:
    """One string per row."""
    if isinstance(value, Sequences):
        value = value.data
    if isinstance(value, Csr):
        return [_sparse(value, row) for row in range(len(value.start) - 1)]
    array = np.asarray(value)
    if array.ndim < 2:
        return [_list(array.ravel())]
    return [_list(row.ravel()) for row in array[:4]] + (["..."] if len(array) > 4 else [])


def _sparse(value: Csr, row: int) -> str:
    at = slice(value.start[row], value.start[row + 1])
    ids = value.id[at].tolist()
    if value.value is None:
        return f"columns {ids}"
    return "{" + ", ".join(f"{column}: {_number(v)}" for column, v in zip(ids, value.value[at], strict=True)) + "}"


def _list(row: NDArray[Any]) -> str:
    texts = [_number(v) for v in row[:SHOWN]] + (["..."] if len(row) > SHOWN else [])
    return f"[{', '.join(texts)}]"


def _number(value: Any) -> str:
    """Four digits; a zero has no sign."""
    text = f"{float(value):.4g}"
    return "0" if text == "-0" else text
