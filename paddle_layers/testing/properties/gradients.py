"""Gradient checks: central differences in float64, and derived gradients beside hand-written ones."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import DefinitionError, LayerDefinition, registries
from paddle_layers.define.definitions.derived_gradients import derived_gradient
from paddle_layers.define.functions.point_functions import Function
from paddle_layers.testing.findings import Verdicts, all_close, at

from ..cases.case import Case
from ..cases.trial import Trial, kept_nets

Array = NDArray[Any]
# In float64, the error of a central difference is about STEP**2 for truncation and eps / STEP for rounding; both are
# near 1e-10 to 1e-11 here.
STEP = 1e-5
PER_TENSOR = 1e-6
PER_ELEMENT = 1e-5
NOTICEABLE = 1e-3
"""Elements smaller than this share of the largest are held to the tensor's tolerance only."""
ROUNDING = 16 * np.finfo(np.float64).eps
"""Rounding of the objective, as a share of the sum of its terms' sizes."""


def check_gradients(case: Case) -> Verdicts:
    """For every differentiable input and every parameter: its name and what is wrong with its gradient, or None.

    Slopes along two directions are compared first, which takes four passes however large a tensor is; only where
    they differ, every element is.
    """
    if not case.trains or case.attributes.get("error_clip") is not None:
        return
    with Trial(case) as trial:
        found = trial.step()
        if not all(np.isfinite(found[name]).all() for name in trial.directions()):
            return  # the types say so, unless it is deliberate
        for variable in _variables(trial):
            analytic = found[f"gradient of {variable.name}"]
            if np.isfinite(analytic).all() and _slopes_agree(variable, analytic):
                yield variable.name, None
            else:
                yield variable.name, _compare(case, variable, analytic)


class Variable(NamedTuple):
    """The variable of a gradient: its values, and the objective as a function of them."""

    name: str
    values: Array
    objective: Callable[[Array], ObjectiveSum]


class ObjectiveSum(NamedTuple):
    """The objective, and the sum of its terms' sizes."""

    value: float
    size: float


def _variables(trial: Trial) -> list[Variable]:
    def of_input(place: int) -> Callable[[Array], ObjectiveSum]:
        def objective(values: Array) -> ObjectiveSum:
            trial.arrays[place] = values
            return _objective(trial)

        return objective

    def of_parameter(name: str) -> Callable[[Array], ObjectiveSum]:
        def objective(values: Array) -> ObjectiveSum:
            trial.set_parameter(name, values)
            return _objective(trial)

        return objective

    wanted = zip(trial.case.wanted, trial.case.inputs, strict=True)
    places = [place for place, (wants, field) in enumerate(wanted) if wants and field.derivative]
    variables = [Variable(f"in{place}", trial.arrays[place], of_input(place)) for place in places]
    return variables + [Variable(name, values, of_parameter(name)) for name, values in trial.parameters().items()]


def _objective(trial: Trial) -> ObjectiveSum:
    outputs = trial.forward()
    terms = [outputs[name] * direction for name, direction in trial.directions().items()]
    return ObjectiveSum(sum(float(np.sum(term)) for term in terms), sum(float(np.sum(np.abs(term))) for term in terms))


def _slopes_agree(variable: Variable, analytic: Array) -> bool:
    rng = np.random.default_rng(5)
    agree = True
    for _ in range(2):
        # Signs, not a single axis: an error in any element changes the slope. Two directions, since errors may cancel
        # in one.
        direction = rng.choice((-1.0, 1.0), variable.values.shape)
        above, below = (variable.objective(variable.values + sign * STEP * direction) for sign in (1, -1))
        slope = (above.value - below.value) / (2 * STEP)
        allowed = PER_TENSOR * 0.1 * float(np.linalg.norm(analytic)) + ROUNDING * above.size / STEP
        agree = agree and bool(abs(slope - float(np.sum(analytic * direction))) <= allowed)
    # Restores the values: objectives write to the trial.
    variable.objective(variable.values)
    return agree


def _compare(case: Case, variable: Variable, analytic: Array) -> str | None:
    """Every element; where the slopes to either side differ by a kink, the derivative may be anything in between."""
    if not np.isfinite(analytic).all():
        return "the gradient contains NaN or infinity"
    numeric, doubt, rounding = _differences(variable)
    slack = rounding + (doubt if _has_kinks(case) else 0.0)
    largest = float(np.abs(numeric).max(initial=0.0))
    error = np.abs(analytic - numeric)
    noticeable = np.abs(numeric) > NOTICEABLE * largest
    wrong = error > PER_TENSOR * largest + slack
    wrong |= noticeable & (error > PER_ELEMENT * np.abs(numeric) + slack)
    if not wrong.any():
        return None
    place = tuple(int(i) for i in np.unravel_index(int(np.where(wrong, error, -1).argmax()), error.shape))
    return f"{at(place)}expected {numeric[place]:.10g} by central differences, got {analytic[place]:.10g}"


def _differences(variable: Variable) -> tuple[Array, Array, float]:
    """Central differences, how far those to either side are from them, and what rounding may add."""
    values = variable.values.copy()
    result, doubt = np.empty(values.shape), np.empty(values.shape)
    middle = variable.objective(values)
    for place in np.ndindex(values.shape):
        kept = float(values[place])
        above, below = (_at(variable, values, place, kept + sign * STEP) for sign in (1, -1))
        values[place] = kept
        result[place] = (above - below) / (2 * STEP)
        # A kink within the step: the one-sided slopes differ by this, wherever in the step it is. Near its end, the
        # central difference moves by less than a fixed threshold, and a correct gradient of relu was rejected.
        doubt[place] = 1.01 * abs(above + below - 2 * middle.value) / (2 * STEP)
    variable.objective(variable.values)
    return result, doubt, max(1e-9, ROUNDING * middle.size / STEP)


def _at(variable: Variable, values: Array, place: tuple[int, ...], value: float) -> float:
    values[place] = value
    return variable.objective(values).value


def _has_kinks(case: Case) -> bool:
    """Whether the layer, its activation or one of its parts declares points without a derivative."""
    layers = [case.definition]
    if "act" in case.definition.common:
        layers.append(registries["layer"][case.attributes["act"]])
    if case.definition.is_composite:
        body = case.definition.bind_axes(case.types, case.attributes).body
        layers += body.layers() if body is not None else ()
    return any(field.kinks for layer in layers for field in layer.inputs.values())


# ---- derived gradients


def check_derived(case: Case) -> Verdicts:
    """Compare hand-written gradients with those that can be derived, which are more accurate than differences."""
    functions = derived_functions(case.definition) if case.trains else []
    if not functions or case.attributes.get("error_clip") is not None:
        return
    with Trial(case) as trial:
        results = trial.step()
        if not all(np.isfinite(results[name]).all() for name in trial.directions()):
            return
        expected = {name: values for name, values in results.items() if name.startswith("gradient of ")}
    with replaced_gradients(case.definition, functions), kept_nets(), Trial(case) as trial:
        found = {name: values for name, values in trial.step().items() if name in expected}
    yield from all_close(found, expected, "float64", "as the derived gradient")


def derived_functions(definition: LayerDefinition) -> list[Function]:
    """The derived gradients of what has a hand-written one, as far as they can be derived."""
    found = []
    for function in definition.functions:
        target = function.targets[0]
        if function.role != "gradient" or function.derived or function.used or len(function.targets) > 1:
            continue
        if getattr(target, "derivative", True) and definition.bias is not target:
            with contextlib.suppress(DefinitionError):  # it cannot be derived, which is why it is written
                found.append(derived_gradient(definition, target))
    return [function for function in found if function is not None]


@contextlib.contextmanager
def replaced_gradients(definition: LayerDefinition, gradients: list[Function]) -> Iterator[None]:
    """Context in which a layer has these gradients instead of its functions."""
    functions, facts = definition.functions, definition.facts
    targets = {function.target_names for function in gradients}
    definition.functions = [f for f in functions if f.target_names not in targets] + gradients
    vars(definition).pop("facts")
    try:
        yield
    finally:
        definition.functions = functions
        vars(definition)["facts"] = facts
