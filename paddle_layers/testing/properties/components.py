"""Checks of optimizers, regularizers and schedules: the numbers that their functions return."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from paddle_layers.define import Definition, InvalidAttributes, registries
from paddle_layers.define.definitions.elementwise import Elementwise
from paddle_layers.define.functions.point_functions import Function
from paddle_layers.testing.cases.values import ABSENT, usual_values

from .lazy_updates import check_lazy_update, check_linear_penalty

SAMPLES = 32
"""Number of sampled attribute sets."""
TOTAL, BASE = 100, 0.1
"""Number of steps of the training, and base rate, with which schedules are evaluated."""


def check_component(kind: str, name: str) -> int:
    """Check an optimizer, a regularizer or a schedule.

    Args:
        kind: Kind of the definition.
        name: Its registered name.

    Returns:
        Number of evaluated functions.

    Raises:
        AssertionError: The first finding.
    """
    definition = registries[kind][name]
    return _CHECKS[kind](definition)


def _check_schedule(definition: Definition) -> int:
    """The rate of every step is a finite number that is not negative."""
    checks = 0
    for attributes in _sampled(definition):
        try:
            schedule = definition.create(attributes)
        except InvalidAttributes:
            continue  # a combination that the schedule refuses
        for step in range(TOTAL):
            rate = _result(definition, attributes, partial(schedule.rate, BASE, step, TOTAL))
            if not (_is_number(rate) and math.isfinite(rate) and rate >= 0):
                what = f"`rate({BASE}, {step}, {TOTAL})` returns {rate!r}, must return a finite number >= 0"
                raise AssertionError(_finding(definition, attributes, what))
            checks += 1
    return checks


def _check_optimizer(definition: Definition) -> int:
    """The step returns the weight and the states; a lazy update matches it."""
    assert isinstance(definition, Elementwise)
    function = _function_of(definition, "step")
    states = len(definition.states)
    for attributes in _sampled(definition):
        given = {"value": 0.5, "gradient": 0.25, "value_norm": 0.5, "gradient_norm": 0.25}
        given |= dict.fromkeys(definition.states, 0.0)
        if definition.direction is not None:
            _check_count(definition, definition.direction, (attributes, given), 1 + states)
            _check_count(definition, function, (attributes, given), 1)
        else:
            _check_count(definition, function, (attributes, given), 1 + states)
    check_lazy_update(definition)
    return SAMPLES


def _check_regularizer(definition: Definition) -> int:
    """The penalty is a number; a linear penalty matches it."""
    assert isinstance(definition, Elementwise)
    function = _function_of(definition, "penalty")
    for attributes in _sampled(definition):
        _check_count(definition, function, (attributes, {"value": 0.5}), 1)
    check_linear_penalty(definition)
    return SAMPLES


_CHECKS: dict[str, Callable[[Definition], int]] = {
    "optimizer": _check_optimizer,
    "regularizer": _check_regularizer,
    "schedule": _check_schedule,
}
COMPONENTS = tuple(_CHECKS)
"""Kinds of definitions with checks, besides layers."""


def _function_of(definition: Elementwise, decorator: str) -> Function:
    if definition.function is None:
        raise AssertionError(str(definition.error(f"has no @{decorator} function")))
    return definition.function


def _check_count(
    definition: Definition, function: Function, values: tuple[Mapping[str, Any], Mapping[str, float]], count: int
) -> None:
    attributes, cells = values
    given = {**attributes, **{name: [value] for name, value in cells.items()}, "rate": 0.1, "count": 1.0}
    arguments = [given[name] for name in function.args[1:]]
    found = _result(definition, attributes, lambda: function.call(0, *arguments))
    numbers: Sequence[Any] = found if isinstance(found, tuple) else (found,)
    if len(numbers) != count or not all(map(_is_number, numbers)):
        wanted = f"{count} numbers, the weight and its {count - 1} states" if count > 1 else "one number"
        raise AssertionError(
            _finding(definition, attributes, f"`{function.name}` returns {found!r}, expected {wanted}")
        )


def _result(definition: Definition, attributes: Mapping[str, Any], call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # a plugin's function may raise anything; each is a finding, with its case
        what = f"raised {type(error).__name__}: {error}"
        raise AssertionError(_finding(definition, attributes, what)) from error


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) or (hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0)


def _finding(definition: Definition, attributes: Mapping[str, Any], what: str) -> str:
    return str(definition.error(f"{what}\n  case: {dict(attributes)}"))


def _sampled(definition: Definition) -> list[Mapping[str, Any]]:
    rng = random.Random(0)
    found: list[Mapping[str, Any]] = []
    for _ in range(SAMPLES):
        values = {name: rng.choice(usual_values(one, ())) for name, one in definition.attributes.items()}
        try:
            found.append(definition.bind({name: value for name, value in values.items() if value is not ABSENT}))
        except InvalidAttributes:
            continue
    return found
