"""Gradients that differences cannot show: of layers that limit them, and of the common attribute `error_clip`."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import Example
from paddle_layers.runtime import Net
from paddle_layers.testing.cases.case import Case

from .. import load_references
from .outputs import as_array, check_close
from .readings import draw_parameters, inputs_of, parameters_of

Arrays = dict[str, NDArray[Any]]
FACTORS = (-3.0, -1.0, -0.4, 0.0, 0.3, 1.0, 2.5)
"""Gradients of outputs are these multiples of the limit."""


def compare_gradients(case: Case) -> bool:
    """Whether there was a reference to compare with."""
    reference = load_references("REFERENCES_OF_GRADIENTS").get(case.definition.name)
    if case.trains and reference is not None and not case.followed:
        _compare_with(reference, case)
        return True
    if case.trains and case.attributes.get("error_clip") and not case.attributes["drop_rate"]:
        _compare_clipped(case, case.attributes["error_clip"])
        return True
    return False


def _compare_with(reference: Any, case: Case) -> None:
    arrays, limit = case.arrays(), case.attributes.get("threshold", 1.0)
    with case.net() as net:
        draw_parameters(net)
        params = parameters_of(net, case.definition)
        given, found = _run(case, net, arrays, limit)
    by_output = dict(zip(case.definition.outputs, given.values(), strict=True))
    wanted = reference(inputs_of(case, arrays), params, {**case.attributes, "training": True}, by_output)
    positions = case.definition.bind_axes(case.types, case.attributes).positions
    for name, value in wanted.items():
        check_close(found[f"in{positions[name][0]}"], value, f"gradient of {name}")


def _compare_clipped(case: Case, limit: float) -> None:
    """With `error_clip`, gradients are what they are without it for output gradients that are clipped beforehand."""
    arrays = case.arrays()
    with case.net() as net:
        values = {name: one.value.copy() for name, one in {**net.parameters, **net.states}.items()}
        _, found = _run(case, net, arrays, limit)
    with _without_clip(case).net() as net:
        for name, value in values.items():
            {**net.parameters, **net.states}[name].value = value
        _, wanted = _run(case, net, arrays, limit, clipped=True)
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        check_close(found[name], value, f"gradient of {name}")


def _without_clip(case: Case) -> Case:
    settings = {name: value for name, value in case.example.settings.items() if name != "error_clip"}
    return replace(case, example=Example(**settings), attributes={**case.attributes, "error_clip": None})


def _run(case: Case, net: Net, arrays: list[Any], limit: float, clipped: bool = False) -> tuple[Arrays, Arrays]:
    """Gradients of the outputs, on either side of the limit, and those of inputs and parameters."""
    rng = np.random.default_rng(11)
    outputs = net.forward(case.feeds(arrays), phase=case.phase, step=0)
    dense = [name for name, type_ in zip(case.outputs, case.output_types, strict=True) if type_.kind == "DENSE"]
    given = {name: rng.choice(FACTORS, as_array(outputs[name]).shape) * limit for name in dense}
    if clipped:
        given = {name: np.sign(one) * np.minimum(abs(one), limit) for name, one in given.items()}
    net.backward(gradients=given)
    found = {p.name: p.gradient.copy() for p in net.parameters.values() if p.gradient is not None}
    wanted = [f"in{place}" for place, wants in enumerate(case.wanted) if wants]
    return given, found | {name: net.gradient(name) for name in wanted}
