"""Independent references: what layers compute, written from the formulas in plain NumPy.

A module per family of layers has `REFERENCES`, a dict from layer type to a function

    forward(inputs, params, attributes) -> outputs

where all values are float64 arrays (ids are int64) and
- `inputs` has an array of rows by input name, a list of arrays for a repeatable input, None for an absent optional
  one. Sequences lie end to end; `inputs["x.starts"]` is then a list of arrays of starts in rows, each with the number
  of rows at its end: [sequences], or [sequences, sub-sequences] where nested. `inputs["x.parts"]` has the starts of
  the sequences in sub-sequences. Sparse rows are given as dense arrays.
- `params` has parameters, the bias where there is one, and running states by name; a list where there is one per item.
  Those of a layer made of layers have the names of the parts, as `gates.weight`.
- `attributes` has all attributes, filled with defaults, and `training`.
- `outputs` has an array by output name, a list for a repeatable output. None means that there is nothing to compare.
  The bias is added; common attributes (`act`, `drop_rate`, `error_clip`) are not applied. With `random`, elements may
  be 0 instead, since they are dropped at random. A state has its value after the pass. Where the layer makes its
  sequences, `lengths` has the rows of each, of the innermost ones where nested. Layers with statistics have a `report`,
  numbers by name as they are shown. A cost whose loss is not the mean over its rows has a `divisor`.

`REFERENCES_OF_GRADIENTS` has functions with a fourth argument, the gradients of the outputs by name, that give the
gradients of inputs by name; for layers whose gradient is not the derivative.

No reference imports the package, so that they share no constant and no function with it.
"""

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def load_references(kind: str = "REFERENCES") -> dict[str, Callable[..., dict[str, Any]]]:
    """All references of a kind by layer type."""
    found: dict[str, Callable[..., dict[str, Any]]] = {}
    for info in pkgutil.iter_modules(__path__):
        if not info.ispkg:
            references = getattr(importlib.import_module(f"{__name__}.{info.name}"), kind, {})
            if twice := found.keys() & references.keys():
                raise ValueError(f"two references for {sorted(twice)}")
            found |= references
    return found


def activate(values, act):
    """What an activation makes of the values."""
    return load_references()[act](
        {"x": values}, {}, {"negative_slope": 0.0, "alpha": 1.0, "approximate": "NONE", "axis": 1}
    )["y"]
