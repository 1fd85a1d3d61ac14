"""A helper for every registered layer: `nn.conv(image, num_filters=20, filter_size=5, act="relu")`.

Helpers take the values of other helpers first, then attributes by keyword, and return the layer's output, or a tuple of
several. A layer without outputs, such as `accuracy`, returns an object for the outputs of the network. Layers of
plugins have helpers, too. `paddle_layers.Network(outputs=[...])` creates the network. `nn.pyi` has the signatures for
type checkers and editors; `paddle-layers stubs` writes one that includes the plugins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_layers.config.building.builder import helper, helper_names
from paddle_layers.config.building.calls import Sink, Value

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Sink", "Value"]


def __getattr__(name: str) -> Callable[..., Any]:
    return helper(name)


def __dir__() -> list[str]:
    return sorted({*helper_names(), *__all__})
