"""Memory limit of an import: bytes of everything that is computed from the constants of one file."""

from __future__ import annotations

from typing import Any

import numpy as np

from .layers import NotSupported
from .model import Model

BASE, SHARE = 1 << 27, 8
"""Memory budget in bytes for any file, and as a multiple of its constants.

128 MiB hold a causal mask of 4,096 tokens; the multiple is enough to cast, transpose and reorder each weight once.
"""
WIDEST = 8
"""Bytes of the widest data type."""


class Budget:
    """Bytes left to one file, for results of constant folding and for parameters of layers together."""

    def __init__(self, model: Model) -> None:
        attributes = (value for node in model.nodes for value in node.attributes.values())
        arrays: list[Any] = [*model.constants.values(), *(one for one in attributes if isinstance(one, np.ndarray))]
        # A few bytes of ConstantOfShape, Tile or Expand can ask for terabytes. The file size bounds what a legitimate
        # model needs.
        self.left = BASE + SHARE * sum(array.nbytes for array in arrays)

    def check(self, count: int) -> None:
        """Refuse numbers before they are computed. Raises `NotSupported`."""
        if count * WIDEST > self.left:
            raise NotSupported(f"a constant of {count} values exceeds the memory limit for a file of this size")

    def spend(self, size: int) -> None:
        """Count bytes that are in use. Raises `NotSupported` where none are left."""
        self.left -= size
        if self.left < 0:
            raise NotSupported("the constants exceed the memory limit for a file of this size")
