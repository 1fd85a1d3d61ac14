"""The rows of a batch with its arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from paddle_layers.runtime.graph.rows import Rows


@dataclass(eq=False)
class BatchRows(Rows):
    """Arrays by name: those that are fed, and indices that follow from the starts of sequences."""

    arrays: dict[str, Any] = field(default_factory=dict)
