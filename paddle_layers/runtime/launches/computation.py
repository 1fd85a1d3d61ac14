"""What a launch computes as the definition says it, whichever kernel does the work: that is what is counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from paddle_layers.define.functions.point_functions import Function
from paddle_layers.define.functions.program import Program
from paddle_layers.runtime.graph.domains import Domain, Extent

from .arguments import Argument


class Computation(NamedTuple):
    """A point function for all elements of its targets."""

    function: Function
    program: Program
    """Its specialised text."""
    sizes: Mapping[str, Extent]
    """How far each index goes."""
    args: Mapping[str, Argument]
    accumulate: bool
    sequence: tuple[str, Domain, Domain] | None = None
    """The index of the sequence that a row belongs to, the rows and what groups them; it is no axis of the target.

    A scan may not ask for the index, which is empty then.
    """
