"""Independent references: what layers compute, written from the formulas in plain NumPy.

A module per family of layers has `REFERENCES`, a dict from layer type to a function

    forward(inputs, params, attributes) -> outputs

where all values are float64 arrays (ids are int64) and
- `inputs` has an array of rows by input name, a list of arrays for a repeatable input, None for an absent optional
  one. Sequences lie end to end; `inputs["x.starts"]` is then a list of arrays of starts in rows, each with the number
  of rows at its end: [sequences], or [sequences, sub-sequences] where nested. Sparse rows are given as dense arrays.
- `params` has parameters, the bias where there is one, and running states by name; a list where there is one per item.
  Those of a layer made of layers have the names of the parts, as `gates.weight`.
- `attributes` has all attributes, filled with defaults, and `training`.
- `outputs` has an array by output name, a list for a repeatable output. None means that there is nothing to compare,
  for example because the values are random. The bias is added; `act` is not applied. Statistics have numbers for the
  rows, which are added up; those without rows have their sums. A cost whose loss is not the mean over its rows has a
  `divisor`.
"""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

Reference = Callable[[dict[str, Any], dict[str, Any], dict[str, Any]], dict[str, Any]]


def load_references() -> dict[str, Reference]:
    """All references by layer type."""
    found: dict[str, Reference] = {}
    for info in pkgutil.iter_modules(__path__):
        references = importlib.import_module(f"{__name__}.{info.name}").REFERENCES
        if twice := found.keys() & references.keys():
            raise ValueError(f"two references for {sorted(twice)}")
        found |= references
    return found
