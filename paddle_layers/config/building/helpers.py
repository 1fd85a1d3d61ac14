"""Helpers: a function with a real signature per layer, generated on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_layers.define import registries
from paddle_layers.define.errors import UnknownName, suggestion

from .builder import call_layer, signature_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddle_layers.define import LayerDefinition

_HELPERS: dict[int, Callable[..., Any]] = {}


def helper(name: str) -> Callable[..., Any]:
    """The helper of a layer type. Raises `AttributeError` with the suggested name for an unknown type."""
    # `inspect`, `copy` and others probe modules for dunder names; these must not load plugins.
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        definition: LayerDefinition = registries["layer"][name]
    except UnknownName as error:
        raise AttributeError(str(error)) from None
    # By identity, not by name: a plugin that is loaded again has a new definition under its name.
    if id(definition) not in _HELPERS:
        _HELPERS[id(definition)] = _made(definition)
    return _HELPERS[id(definition)]


def helper_names() -> list[str]:
    """Names of all helpers."""
    return list(registries["layer"])


def _made(definition: LayerDefinition) -> Callable[..., Any]:
    signature = signature_of(definition)

    def call(*inputs: Any, **settings: Any) -> Any:
        if unknown := [key for key in settings if key not in signature.parameters]:
            near = suggestion(unknown[0], signature.parameters)
            raise TypeError(f"nn.{definition.name} has no argument `{unknown[0]}`{near}")
        if (setting := next((one for one in inputs if isinstance(one, (bool, int, float, str))), None)) is not None:
            named = next((name for name, one in definition.attributes.items() if one.required), "NAME")
            raise TypeError(
                f"the inputs of `{definition.name}` must be values returned by other helpers, found {setting!r}; "
                f"attributes are keyword arguments: write {named}={setting!r}"
            )
        # A list instead of separate inputs is legal, but the signature cannot describe it.
        if not (inputs and isinstance(inputs[0], (list, tuple))):
            try:
                signature.bind(*inputs, **settings)
            except TypeError as error:
                raise TypeError(f"nn.{definition.name}: {error}") from None
        return call_layer(definition, inputs, settings)

    made: Any = call
    made.__name__ = made.__qualname__ = definition.name
    made.__doc__ = _document(definition)
    made.__module__ = "paddle_layers.nn"
    made.__signature__ = signature
    return call


def _document(definition: LayerDefinition) -> str:
    lines = [definition.description, ""]
    for title, fields in (("Inputs", definition.inputs), ("Attributes", definition.attributes)):
        if fields:
            lines += [f"{title}:", *(f"    {name}: {field.doc}" for name, field in fields.items()), ""]
    return "\n".join(lines).rstrip() + "\n"
