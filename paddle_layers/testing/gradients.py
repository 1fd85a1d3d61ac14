"""Gradients against central differences, in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import registries
from paddle_layers.runtime import Sequences

from .cases import Case

Array = NDArray[Any]
STEP = 1e-5
PER_TENSOR = 1e-6
PER_ELEMENT = 1e-5
NOTICEABLE = 1e-3
"""Elements smaller than this share of the largest are held to the tensor's tolerance only."""


def check_gradients(case: Case) -> Iterator[tuple[str, str | None]]:
    """For every differentiable input and every parameter: its name and what is wrong with its gradient, or None."""
    if case.phase != "train" or not case.definition.facts.can_do_bp:
        return
    arrays = case.arrays()
    feeds = case.feeds(arrays)
    with case.net() as net:
        outputs = net.forward(feeds, step=0)
        directions = _directions(case, outputs)
        net.backward(gradients=directions)

        def objective() -> float:
            results = net.forward(feeds, step=0)
            return sum(float(np.sum(_data(results[name]) * d)) for name, d in directions.items())

        found = {f"in{i}": (arrays[i], net.gradient(f"in{i}").copy()) for i in _wanted(case)}
        parameters = {p.name: (p.value, p.gradient.copy()) for p in net.parameters.values() if p.gradient is not None}
        for name, (values, gradient) in {**found, **parameters}.items():
            numeric, smooth = _differences(values, objective)
            yield name, _compare(gradient, numeric, smooth | (not _has_kinks(case)))


def _wanted(case: Case) -> list[int]:
    names = case.definition.facts.differentiable
    pairs = zip(case.types, case.inputs, strict=True)
    return [
        i
        for i, (type_, field) in enumerate(pairs)
        if type_.kind == "DENSE" and field.name in names and field.derivative
    ]


def _has_kinks(case: Case) -> bool:
    """Whether the layer or its activation declares points without a derivative."""
    inputs = list(case.definition.inputs.values())
    if "act" in case.definition.common:
        inputs += registries["layer"][case.attributes["act"]].inputs.values()
    return any(field.kinks for field in inputs)


def _directions(case: Case, outputs: dict[str, Any]) -> dict[str, Array]:
    rng = np.random.default_rng(3)
    types = case.definition.infer(case.types, case.attributes)
    dense = [name for name, type_ in zip(case.outputs, types, strict=True) if type_.kind == "DENSE"]
    return {name: rng.uniform(0.5, 1.5, _data(outputs[name]).shape) for name in dense}


def _data(value: Any) -> Array:
    return np.asarray(value.data if isinstance(value, Sequences) else value)


def _differences(values: Array, objective: Callable[[], float]) -> tuple[Array, NDArray[np.bool_]]:
    """Central differences, and where those to either side agree; where they don't, there is a kink in between."""
    result, smooth = np.empty(values.shape), np.empty(values.shape, bool)
    middle = objective()
    for place in np.ndindex(values.shape):
        kept = values[place]
        values[place] = kept + STEP
        above = objective()
        values[place] = kept - STEP
        below = objective()
        values[place] = kept
        result[place] = (above - below) / (2 * STEP)
        smooth[place] = abs(above + below - 2 * middle) <= 0.01 * abs(above - below) + 1e-7 * STEP
    return result, smooth


def _compare(analytic: Array, numeric: Array, comparable: NDArray[np.bool_]) -> str | None:
    if not np.isfinite(analytic).all():
        return "holds NaN or infinity"
    largest = float(np.abs(numeric).max(initial=0.0))
    error = np.abs(analytic - numeric)
    allowed = np.maximum(PER_TENSOR * largest, 1e-9)
    noticeable = np.abs(numeric) > NOTICEABLE * largest
    wrong = (error > allowed) | (noticeable & (error > PER_ELEMENT * np.abs(numeric) + 1e-9))
    wrong &= comparable
    if not wrong.any():
        return None
    place = tuple(int(i) for i in np.unravel_index(int(np.where(wrong, error, -1).argmax()), error.shape))
    return f"at {place}: {analytic[place]:.10g}, by central differences {numeric[place]:.10g}"
