"""Producers of the values of a network, during type inference."""

from __future__ import annotations

from typing import NamedTuple

from paddle_layers.define import Type

from ..binding.drafts import Draft

INPUT = -1
"""Position of a `Producer` that is the first input of a group or of a block, seen from inside."""

Types = tuple[Type, ...]


class Producer(NamedTuple):
    """Producer of an output."""

    draft: Draft
    position: int
    type: Type | None
