"""Parameters and states: views into flat arenas, drawn by initializers that depend on seed and name only."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import LayerDefinition, ShapeError, State, registries
from paddle_layers.define.fields import Param

if TYPE_CHECKING:
    from paddle_layers.config import ParamSettings

Array = NDArray[Any]


@dataclass(eq=False)
class Parameter:
    """Numbers of a layer that outlive a step. `value` and `gradient` are views: write into them, don't replace them.

    States (`trained` is false) and frozen parameters have no gradient.
    """

    name: str
    shape: tuple[int, ...]
    trained: bool
    settings: ParamSettings | None
    definition: Param | State
    layer: LayerDefinition
    value: Array = field(default_factory=lambda: np.empty(0))
    gradient: Array | None = None
    offset: int = 0

    @property
    def size(self) -> int:
        """How many numbers."""
        return math.prod(self.shape)

    @property
    def fans(self) -> tuple[int, int]:
        """Inputs that one output adds up, and outputs that one input reaches.

        Axes of the parameter that are axes of the layer's output count outputs, the others inputs.
        """
        output = next(iter(self.layer.outputs.values()))
        made = {axis.name for axis in output.axes}
        axes = [axis.name for axis in self.definition.axes]
        if len(axes) != len(self.shape):
            return self.size, self.size
        inputs = [size for name, size in zip(axes, self.shape, strict=True) if name not in made]
        fan_in = math.prod(inputs)
        return fan_in, self.size // max(inputs[0], 1) if inputs else self.size

    def draw(self, seed: int) -> Array:
        """The first values: the same for a seed and a name, whatever else the network holds."""
        from paddle_layers.layers.initializers import Fans

        definition, attributes = self.initializer()
        key = (seed << 32) ^ zlib.crc32(self.name.encode())
        rng = np.random.Generator(np.random.Philox(key=key))
        drawn = definition.create(attributes).draw(self.shape, rng, Fans(*self.fans))
        if drawn.shape != self.shape:
            raise ShapeError(f"initializer `{definition.name}` drew {drawn.shape} for {self.name} {self.shape}")
        return np.asarray(drawn)

    def initializer(self) -> tuple[Any, Any]:
        """The initializer and its attributes: the config's, or the layer's."""
        if self.settings is not None and self.settings.init is not None:
            return self.settings.init
        init = self.definition.init
        name, attributes = (init, {}) if isinstance(init, str) else init
        definition = registries["initializer"][name]
        return definition, definition.bind(attributes)


class ParameterSet:
    """All parameters of a network by name, whichever phases they are in."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.by_name: dict[str, Parameter] = {}
        self.aliases: dict[str, str] = {}
        """Names of shared parameters, and the name of the one that holds the values."""
        self._shared: dict[str, Parameter] = {}
        self.values = np.zeros(0, dtype)
        self.gradients = np.zeros(0, dtype)
        self._fixed = np.zeros(0, dtype)

    def add(
        self, name: str, field: Param | State, layer: LayerDefinition, shape: tuple[int, ...], settings: Any
    ) -> Parameter:
        """The parameter of this name, made at the first call. Raises `ShapeError` when its shape differs."""
        found = self.by_name.get(self.aliases.get(name, name))
        share = settings.share if settings is not None else None
        if found is None and share is not None:
            found = self._shared.get(share)
            if found is not None:
                self.aliases[name] = found.name
        if found is not None:
            if found.shape != shape:
                raise ShapeError(
                    f"parameter `{name}` would need the shape {shape}, but `{found.name}` has {found.shape}"
                )
            return found
        trained = isinstance(field, Param) and not (settings is not None and (settings.frozen or settings.lr_mult == 0))
        made = self.by_name[name] = Parameter(name, shape, trained, settings, field, layer)
        if share is not None:
            self._shared[share] = made
        return made

    @property
    def trained(self) -> list[Parameter]:
        """Parameters that have a gradient, in the order of the arena."""
        return [parameter for parameter in self.by_name.values() if parameter.trained]

    def allocate(self, seed: int) -> None:
        """Make the arenas and draw the first values."""
        self.values, self.gradients = (self._arena(self.trained) for _ in range(2))
        self._fixed = self._arena([p for p in self.by_name.values() if not p.trained])
        for parameter in self.by_name.values():
            arena = self.values if parameter.trained else self._fixed
            span = slice(parameter.offset, parameter.offset + parameter.size)
            parameter.value = arena[span].reshape(parameter.shape)
            if parameter.trained:
                parameter.gradient = self.gradients[span].reshape(parameter.shape)
            parameter.value[...] = parameter.draw(seed)

    def _arena(self, parameters: list[Parameter]) -> Array:
        """One flat array; every parameter starts at a multiple of 64 bytes."""
        step = 64 // np.dtype(self.dtype).itemsize
        offset = 0
        for parameter in parameters:
            parameter.offset = offset
            offset += (parameter.size + step - 1) // step * step
        raw = np.zeros(offset + step, self.dtype)
        start = (-raw.ctypes.data % 64) // raw.itemsize
        return raw[start : start + offset]
