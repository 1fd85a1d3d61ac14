"""Layers against their references: on examples and generated configs, with ordinary and with odd values, as Python.

`compare(definition)` is all of it for one layer; it compiles nothing and needs nothing but the registry.
"""

from collections.abc import Iterator

from paddle_layers.define import LayerDefinition
from paddle_layers.testing.cases.case import Case, cases, in_phases
from paddle_layers.testing.cases.trial import as_python

from .configs import chosen_configs
from .gradients import compare_gradients
from .oddities import odd_arrays, odd_parameters
from .outputs import compare_outputs, expect
from .readings import draw_parameters, inputs_of, parameters_of
from .varied import Compared, not_varied, without_effect

__all__ = ["USUAL_CONFIGS", "Compared", "compare", "compare_case", "compared_cases", "not_varied", "without_effect"]

USUAL_CONFIGS = 16
ODD_DRAWS = 2
"""How often odd values are drawn for a case, besides the ordinary ones."""


def compare(definition: LayerDefinition, generated: bool = True, most: int = USUAL_CONFIGS) -> list[Compared]:
    """Compare a layer with its references; `AssertionError` has the config. Gives what was compared."""
    found = []
    for case in compared_cases(definition, most if generated else 0):
        try:
            compared = as_python(lambda case=case: compare_case(case))
        except AssertionError as error:
            raise AssertionError(f"{definition.name} is not its reference\n{case}\n{error}") from error
        found += [compared] if compared is not None else []
    return found


def compared_cases(definition: LayerDefinition, most: int = USUAL_CONFIGS) -> Iterator[Case]:
    """The examples, and at most so many generated configs, in the phases that matter."""
    yield from cases(definition)
    for config in chosen_configs(definition, most):
        yield from in_phases(definition, config.example, config.batch)


def compare_case(case: Case) -> Compared | None:
    """What was compared last, if anything could be."""
    compared = False
    with case.net() as net:
        for number in range(1 + ODD_DRAWS):
            arrays = odd_arrays(case, number - 1) if number else case.arrays()
            odd_parameters(net) if number == 1 else draw_parameters(net)
            inputs, params = inputs_of(case, arrays), parameters_of(net, case.definition)
            compared |= compare_outputs(case, net, arrays, expect(case, inputs, params))
    return Compared(case, inputs, params) if compare_gradients(case) or compared else None
