"""What a batch knows of its rows: how many there are, where sequences start, which rows run in which step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.graph.domains import Domain
from paddle_layers.runtime.graph.steps import Layout, Steps

Starts = dict[tuple[Domain, Domain], NDArray[np.int64]]
"""Starts of sequences by the domain of the rows and that of what groups them."""


@dataclass(eq=False)
class BatchRows:
    """Rows of a batch, and its arrays by name: those that are fed, and indices that follow from the starts."""

    arrays: dict[str, Any] = field(default_factory=dict)
    starts: Starts = field(default_factory=dict)
    rows: dict[Domain, int] = field(default_factory=dict)
    layouts: dict[Steps, Layout] = field(default_factory=dict)
    """The steps of recurrent groups."""
