"""Abstract computation of a launch as defined by the layer, whichever kernel implements it.

Operation counts are based on it.
"""

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
    """Its specialized source."""
    sizes: Mapping[str, Extent]
    """Size of each index."""
    args: Mapping[str, Argument]
    accumulate: bool
    sequence: tuple[str, Domain, Domain] | None = None
    """The index of the sequence of a row, the rows and their groups; it is not an axis of the target.

    A scan may not request the index, which is empty then.
    """
