"""Checks of the sizes that an `@infer` function returns: axes that nothing else binds."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from ..definitions.layers import LayerDefinition
from ..errors import DefinitionError, brief, suggestion
from ..fields.axes import REST


def given_sizes(layer: LayerDefinition, bound: Mapping[str, Any], found: Any) -> Mapping[str, Any]:
    """The sizes, if they are some. Raises `DefinitionError` at the function's line."""
    call = layer.hooks["infer"]

    def error(message: str) -> DefinitionError:
        code = call.__code__
        return DefinitionError(f"{call.__name__}: {message}", code.co_filename, code.co_firstlineno)

    known = {
        *layer.axis_names,
        *layer.numbers,
        REST,
        *(output.size for output in layer.outputs.values() if output.size),
    }
    if not isinstance(found, Mapping):
        free = sorted(layer.axis_names - bound.keys() - {*layer.groups, *layer.groups.values()})
        wanted = ", ".join(f'"{name}": ...' for name in free or ["K"])
        raise error(f"returns {brief(found)}; it must return a dict of sizes, {{{wanted}}}")
    for name, size in found.items():
        if name not in known:
            raise error(f"returns a size for the unknown axis `{name}`{suggestion(str(name), known)}")
        if not _is_size(size):
            raise error(f"returns {brief(size)} for axis {name}; sizes must be integers (use `//` instead of `/`)")
        if name in bound and bound[name] != size:
            raise error(f"returns {size} for axis {name}, which is already {bound[name]}")
    if missing := sorted(layer.numbers.keys() - found.keys()):
        raise error(f"returns no value for the Numbers `{missing[0]}`")
    return found


def _is_size(size: Any) -> bool:
    if isinstance(size, (list, tuple)):
        return all(map(_is_size, size))
    try:
        # Accepts NumPy integers, rejects floats such as 3.0: `/` instead of `//` would give 3.5 for other sizes.
        operator.index(size)
    except TypeError:
        return False
    return True
