"""A helper for every registered layer: `nn.conv(image, num_filters=20, filter_size=5, act="relu")`.

Helpers take the values of other helpers first, then attributes by keyword, and return the layer's output (a tuple of
several). Plugins' layers have helpers too. `paddle_layers.Network(outputs=[...])` makes the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_layers.config.builder import Value, call_layer, signature_of
from paddle_layers.define import registries
from paddle_layers.define.errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddle_layers.define import LayerDefinition

__all__ = ["Value"]

_HELPERS: dict[int, Callable[..., Any]] = {}


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("__"):
        raise AttributeError(name)
    definition: LayerDefinition | None = registries["layer"].get(name)
    if definition is None:
        raise AttributeError(f"there is no layer `{name}`{suggestion(name, registries['layer'])}")
    if id(definition) not in _HELPERS:
        _HELPERS[id(definition)] = _helper(definition)
    return _HELPERS[id(definition)]


def __dir__() -> list[str]:
    return sorted({*registries["layer"], *__all__})


def _helper(definition: LayerDefinition) -> Callable[..., Any]:
    signature = signature_of(definition)

    def helper(*inputs: Any, **settings: Any) -> Any:
        if unknown := [key for key in settings if key not in signature.parameters]:
            near = suggestion(unknown[0], signature.parameters)
            raise TypeError(f"nn.{definition.name} has no argument `{unknown[0]}`{near}")
        if not (inputs and isinstance(inputs[0], (list, tuple))):
            signature.bind(*inputs, **settings)  # the usual TypeError of a function of this signature
        return call_layer(definition, inputs, settings)

    helper.__name__ = helper.__qualname__ = definition.name
    helper.__doc__ = _document(definition)
    helper.__module__ = __name__
    helper.__signature__ = signature  # type: ignore[attr-defined]
    return helper


def _document(definition: LayerDefinition) -> str:
    lines = [definition.description, ""]
    for title, fields in (("Inputs", definition.inputs), ("Attributes", definition.attributes)):
        if fields:
            lines += [f"{title}:", *(f"    {name}: {field.doc}" for name, field in fields.items()), ""]
    return "\n".join(lines).rstrip() + "\n"
