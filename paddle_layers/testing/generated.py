"""Generated configs: sampled by Hypothesis, the same in every run; selected so that each covers something new."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from paddle_layers.define import LayerDefinition

from .cases.case import Case
from .cases.configs import Config
from .cases.strategies import draw_configs, find_smallest
from .properties.definitions import check_text

FEWEST = 45
"""Minimum number of sampled configs; five per computed one if that is more."""
FAR = 0.3
"""One in this many configs is sampled far from the examples."""
MANY = 100
"""Configs from which on pairs of features are looked at."""
TRIES = {False: 60, True: 8}
"""Configs that are tried to find a smaller one that fails: as Python, and where each has to be compiled."""
LARGEST = 600
"""Most numbers that are fed, since functions run as Python."""

Failing = Callable[[Config], Iterator[tuple[Case, str]]]


def answers(definition: LayerDefinition, most: int) -> Iterator[tuple[str, str | None]]:
    """Sampled configs, legal or not, near the examples and far, each with the error in the answer to it, or None.

    As many are sampled as are needed to select `most` of them for computation.
    """
    for far, count in ((False, draws(most)), (True, int(FAR * draws(most)))):
        for config in draw_configs(definition, count, far=far):
            problem = _answer(config)
            # The first error ends the search: all others would be reported under the same property.
            if problem is not None:
                known, problem = _smallest_answer(definition, config, problem, far, count)
                yield known.text, problem
                return
            yield config.text, None


def _answer(config: Config) -> str | None:
    return check_text(config.definition, config.places, config.attributes, config.text)


def _smallest_answer(
    definition: LayerDefinition, config: Config, problem: str, far: bool, count: int
) -> tuple[Config, str]:
    small = find_smallest(definition, count, config, lambda c: _answer(c) is not None, far=far, tries=TRIES[False])
    return small or config, (_answer(small) if small is not None else None) or problem


def chosen(definition: LayerDefinition, most: int, drawn: int | None = None) -> Iterator[Config]:
    """At most so many legal configs, each with a value, type, level or batch that none before it has.

    Where many are asked for, a pair of these is enough that none before it has. `drawn` says out of how many.
    """
    seen: set[Any] = set()
    count = 0
    for config in draw_configs(definition, drawn or draws(most), far=False):
        shown: set[Any] = set(config.features)
        # Single features are soon exhausted: so many configs are only worth their time for pairs.
        if most > MANY:
            shown |= set(itertools.combinations(sorted(shown, key=repr), 2))
        # The order of the tests is that of their cost.
        if count < most and not shown <= seen and config.elements <= LARGEST and is_legal(config):
            seen |= shown
            count += 1
            yield config


def draws(most: int) -> int:
    """Number of configs to sample in order to select this many."""
    return max(FEWEST, 5 * most)


def is_legal(config: Config) -> bool:
    """Whether inference takes the config."""
    try:
        config.definition.infer(config.places, config.definition.bind(config.attributes))
    except Exception:  # any exception means that the config is illegal; `check_text` reports real errors
        return False
    return True


def smallest(
    definition: LayerDefinition, known: Config | None, failing: Failing, *, most: int, compiled: bool
) -> tuple[Case, str] | None:
    """The smallest failing case that is found, starting at `known`, which is one of `most` that were chosen."""

    def fails(config: Config) -> bool:
        return config.elements <= LARGEST and is_legal(config) and any(True for _ in failing(config))

    small = find_smallest(definition, draws(most), known, fails, far=False, tries=TRIES[compiled])
    return next(failing(small), None) if small is not None else None
