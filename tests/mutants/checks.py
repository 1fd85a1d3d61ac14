"""What a mutant has to pass: each check of a definition is a name and a function that says what is wrong.

`OF_LAYERS` holds where the checks of a layer come from. One more is a function from a definition to its checks.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from paddle_layers.define import Definition, LayerDefinition
from paddle_layers.kernels.tuned import point_functions_only
from paddle_layers.runtime.devices.cpu.interpreter import interpreted
from paddle_layers.testing import PROPERTIES
from paddle_layers.testing.cases.case import Case, all_cases, in_phases
from paddle_layers.testing.generated import chosen

from ..references import load_references
from ..references.comparing import compare_case, compared_cases
from ..references.comparing.configs import other_choices
from .sources import Source

CONFIGS = 4
"""Generated configs of a layer, for the properties of the kit."""
COMPARED = 8
"""The same, for the comparison with the references."""
CHEAP = ("types", "gradients", "sums", "rows", "NaN", "precision", "empty batches")
"""Properties of the kit that are quick as Python."""


class Check(NamedTuple):
    """Something that holds of a definition."""

    name: str
    problem: Callable[[], str | None]
    """What is wrong, or None."""


class Baseline(Exception):
    """A check fails without a mutant."""


# ---- layers


def reference(definition: LayerDefinition) -> Iterator[Check]:
    """The layer computes its formula, on its examples and on generated configs with odd values."""
    if definition.name in load_references():
        for case in compared_cases(definition, COMPARED):
            yield Check("reference", _raising(compare_case, case))


def properties(definition: LayerDefinition) -> Iterator[Check]:
    """The kit's cheap properties, on examples and on a few generated configs."""
    examples = list(all_cases(definition))
    configs = list(chosen(definition, CONFIGS)) if definition.examples else []
    others = list(other_choices(definition)) if definition.examples else []
    for name in CHEAP:
        drawn = configs[: PROPERTIES[name].most]
        drawn += others if name == "gradients" else []
        generated = (case for config in drawn for case in in_phases(definition, config.example, config.batch))
        fitting = (case for case in (*examples, *generated) if name not in case.unfit)
        yield from (Check(name, functools.partial(_verdict, name, case)) for case in fitting)


OF_LAYERS: tuple[Callable[[LayerDefinition], Iterable[Check]], ...] = (reference, properties)


def _verdict(name: str, case: Case) -> str | None:
    found = (f"{place} {problem}" for place, problem in PROPERTIES[name].check(case) if problem is not None)
    return next(found, None)


# ---- optimizers and regularizers


def training(definition: Definition) -> Iterator[Check]:
    """Their tests, which compare with NumPy."""
    from ..training import test_optimizers as tests

    if definition.kind == "optimizer":
        yield Check("reference", _raising(tests.test_optimizer, definition.name, "float64"))
    else:
        yield Check("reference", _raising(tests.test_regularizer_with_multipliers, definition.name))


# ---- helpers


@functools.cache
def of_helpers() -> tuple[Check, ...]:
    """The tests of the helpers that layers share, for all their parameters."""
    from ..layers import test_helpers as tests

    found = []
    for name, test in vars(tests).items():
        if name.startswith("test_"):
            found += _of_test("helpers", test)
    return tuple(found)


# ---- running them


def _of_test(name: str, test: Callable[..., None]) -> Iterator[Check]:
    """A test, once for each combination of its parameters."""
    marks = [mark.args[1] for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    for rows in itertools.product(*reversed(marks)):
        values = [value for row in rows for value in (row if isinstance(row, tuple) else (row,))]
        yield Check(name, _raising(test, *values))


def _raising(test: Callable[..., None], *arguments: Any) -> Callable[[], str | None]:
    """A check from a function that raises `AssertionError`."""

    def problem() -> str | None:
        try:
            test(*arguments)
        except AssertionError as error:
            return str(error).strip() or "differs"
        return None

    return problem


@functools.cache
def checks_of(definition: Definition) -> tuple[Check, ...]:
    """The checks that a definition passes as Python.

    Python raises where a kernel goes on with infinity or NaN: such a check says nothing. Raises `Baseline` where one
    fails.
    """
    sources = OF_LAYERS if isinstance(definition, LayerDefinition) else (training,)
    passed = []
    with point_functions_only(), interpreted():
        for check in (check for source in sources for check in source(definition)):
            try:
                problem = check.problem()
            except (ArithmeticError, ValueError):
                continue
            if problem is not None:
                raise Baseline(f"{definition.name}: {check.name} fails without a mutant: {problem}")
            passed.append(check)
    return tuple(passed)


def checks_on(source: Source) -> list[Check]:
    """The checks of all definitions that a source is a part of; call it before anything is planted."""
    own = of_helpers() if source.function is None else ()
    return [*own, *(check for definition in source.definitions for check in checks_of(definition))]


def first_problem(checks: Iterable[Check]) -> tuple[str, str] | None:
    """The first check that fails, and what it says, or None."""
    with point_functions_only(), interpreted():
        for check in checks:
            try:
                problem = check.problem()
            except Exception as error:  # a mutant may do whatever it likes
                return check.name, f"{type(error).__name__}: {error}"
            if problem is not None:
                return check.name, problem
    return None
