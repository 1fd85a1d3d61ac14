"""Values of the last pass of a network, as output files have them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.data.sinks.values import Values
from paddle_layers.runtime import Csr, Sequences

from .problems import TrainingError
from .value_text import words_of_ids

if TYPE_CHECKING:
    from paddle_layers.runtime import Net


def rows_and_starts(value: Any) -> tuple[NDArray[Any], tuple[NDArray[Any], ...]]:
    """The rows of a value, and where its sequences and sub-sequences begin; nothing for single rows.

    Raises `TrainingError` for sparse rows.
    """
    if isinstance(value.data if isinstance(value, Sequences) else value, Csr):
        raise TrainingError("sparse rows cannot be written as columns of a file; choose other values")
    if not isinstance(value, Sequences):
        return value, ()
    starts = (value.starts,) if value.sub_starts is None else (value.starts, value.sub_starts)
    return np.asarray(value.data), starts


def read_values(net: Net, names: Iterable[str]) -> Values:
    """The values of these names, ids as the text of their numbers, too."""
    found = Values({})
    for name in names:
        value = net.value(name)
        found.values[name], starts = rows_and_starts(value)
        if starts:
            found.starts[name] = starts
        if found.values[name].dtype.kind == "i":
            found.texts[name] = list(map(" ".join, words_of_ids(value, ())))
    return found
