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
        raise error(f"returns {'nothing' if found is None else brief(found)}; it has to return sizes, {{{wanted}}}")
    for name, size in found.items():
        if name not in known:
            raise error(f"gives a size for `{name}`, which is no axis of the layer{suggestion(str(name), known)}")
        if not _is_size(size):
            raise error(
                f"gives {brief(size)} for the axis {name}; a size is a whole number, which `//` gives and `/` not"
            )
        if name in bound and bound[name] != size:
            raise error(f"gives {size} for the axis {name}, which is {bound[name]} already")
    if missing := sorted(layer.numbers.keys() - found.keys()):
        raise error(f"gives nothing for `{missing[0]}`, which is declared as Numbers")
    return found


def _is_size(size: Any) -> bool:
    if isinstance(size, (list, tuple)):
        return all(map(_is_size, size))
    try:
        operator.index(size)
    except TypeError:
        return False
    return True
