"""Selection of the tuned kernel that replaces a point function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle_layers.define.errors import DefinitionError

from .loading import load_all_kernels, load_kernels
from .tuned import Tuned, is_switched_off, replaced_functions, tuned_kernels


def find_tuned(layer: str, function: str, device: str, sizes: Mapping[str, Any]) -> Tuned | None:
    """The first tuned kernel that accepts these sizes, or `None` for the point function."""
    if is_switched_off():
        return None
    load_kernels(layer, device)
    # In the order of registration: a file lists the fastest kernel of the narrowest range of sizes first.
    return next((kernel for kernel in tuned_kernels(layer, function, device) if kernel.accepts(sizes)), None)


def has_tuned(layer: str, function: str, device: str) -> bool:
    """Whether a function has a tuned kernel."""
    if is_switched_off():
        return False
    load_kernels(layer, device)
    return bool(tuned_kernels(layer, function, device))


def tuned_functions(layer: str, device: str = "cpu") -> list[str]:
    """Names of the point functions of a layer that have a tuned kernel on a device."""
    load_kernels(layer, device)
    return sorted(function for name, function, on in replaced_functions() if (name, on) == (layer, device))


def check_names(functions: Mapping[str, set[str]]) -> None:
    """Rejects tuned kernels of unknown functions; `functions` maps layer types to function names."""
    load_all_kernels()
    for layer, function, _ in replaced_functions():
        if function not in functions.get(layer, ()):
            raise DefinitionError(f"a tuned kernel replaces `{function}` of layer `{layer}`, which does not exist")
