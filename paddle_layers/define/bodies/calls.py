"""Arguments of a layer call in Python, in a body or by a helper of `nn`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..definitions.layers import LayerDefinition


def inputs_of_call(definition: LayerDefinition, positional: Sequence[Any], settings: dict[str, Any]) -> Iterator[Any]:
    """Input values in the order of declaration, by position or name; removes them from the settings and flattens lists.

    The values of a repeatable input are passed by name.
    """
    inputs = list(definition.inputs.values())
    behind = next((at + 1 for at, field in enumerate(inputs) if field.repeatable), len(inputs))
    names = [field.name for field in inputs[min(len(positional), behind) :]]
    by_name = [settings.pop(name) for name in names if name in settings]
    for item in (*positional, *(value for value in by_name if value is not None)):
        yield from item if isinstance(item, (list, tuple)) else (item,)
