"""Where the values of a network come from, as inference goes through its layers."""

from __future__ import annotations

from typing import NamedTuple

from paddle_layers.define import Type

from ..binding.drafts import Draft

INPUT = -1
"""Position of a `Maker` that is the first input of a group or of a use of a block, as a layer inside sees it."""

Types = tuple[Type, ...]


class Maker(NamedTuple):
    """Where an output comes from."""

    draft: Draft
    position: int
    type: Type | None
