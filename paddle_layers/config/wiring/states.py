"""States (phase, level, stage) in which a network has to be valid."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from ..binding.drafts import Draft
from ..binding.settings import State, StateRule

_MOST = 8
"""Maximum number of stages and of levels that are checked."""


def states_of(drafts: Sequence[Draft]) -> list[list[State]]:
    """States to check, in one group per phase; the states of a group differ in level and stages.

    A layer may lack an input in some states of a group, since rules on stages often only make sense in combination; it
    must be valid in one of them.
    """
    rules = [rule for draft in drafts if draft.setup for rule in (*draft.setup.include, *draft.setup.exclude)]
    if not rules:
        return [[State("train")]]
    levels = _levels(rules)
    stages = [frozenset(), *map(frozenset, _stages(rules))]
    return [[State(phase, *rest) for rest in product(levels, stages)] for phase in ("train", "test")]


def _levels(rules: Sequence[StateRule]) -> list[int]:
    found = {rule.min_level for rule in rules} | {rule.max_level for rule in rules}
    return [0, *sorted(level for level in found if level)][:_MOST]


def _stages(rules: Sequence[StateRule]) -> list[tuple[str, ...]]:
    """Each stage alone, and each combination in a rule."""
    found: dict[tuple[str, ...], None] = dict.fromkeys(
        (name,) for rule in rules for name in (*rule.stage, *rule.not_stage)
    )
    found |= dict.fromkeys(rule.stage for rule in rules if len(rule.stage) > 1)
    return list(found)[:_MOST]
