"""Settings of a layer other than attributes: single parameters, and include and exclude rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from paddle_layers.define import Attributes, Definition


class Component(NamedTuple):
    """A registered definition with its attributes, including defaults."""

    definition: Definition
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class ParamSettings:
    """Settings `param { of: "weight" ... }` of one parameter."""

    init: tuple[Definition, Attributes] | None = None
    lr_mult: float = 1.0
    decay_mult: float = 1.0
    share: str | None = None
    frozen: bool = False
    clip: float | None = None
    clip_norm: float | None = None
    l1: float | None = None
    l2: float | None = None
    momentum: float | None = None
    max_norm: float | None = None
    prune: float | None = None


class PhaseState(NamedTuple):
    """The state a network is used in; include and exclude rules are conditions on it."""

    phase: str
    level: int = 0
    stages: frozenset[str] = frozenset()


class StateRule(NamedTuple):
    """A condition on a state; all parts must hold."""

    phase: str | None = None
    min_level: int | None = None
    max_level: int | None = None
    stage: tuple[str, ...] = ()
    not_stage: tuple[str, ...] = ()

    def meets(self, state: PhaseState) -> bool:
        """Whether the state meets the rule."""
        return (
            self.phase in (None, state.phase)
            and (self.min_level is None or state.level >= self.min_level)
            and (self.max_level is None or state.level <= self.max_level)
            and state.stages.issuperset(self.stage)
            and state.stages.isdisjoint(self.not_stage)
        )
