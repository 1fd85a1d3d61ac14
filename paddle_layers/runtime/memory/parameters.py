"""Parameters and states in flat arenas, with initial values that depend on seed and name only."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config.diagnostics.suggestions import nearest
from paddle_layers.define import LayerDefinition, ShapeError, State, registries
from paddle_layers.define.errors import first_line, has_masked
from paddle_layers.define.fields.tensors import Param
from paddle_layers.define.machine import as_bytes
from paddle_layers.define.name_patterns import listed
from paddle_layers.runtime.memory.blocks import too_large

from .blocks import Allocator, DeviceError, Flat, MemoryBlock
from .write_tracking import Changes, GradientOwner

if TYPE_CHECKING:
    from paddle_layers.config import ParamSettings

Array = NDArray[Any]
DRAWN = 1 << 18
"""Initial values generated at a time: 2 MiB, which stay in the cache until they are converted."""


class RowGradients(Protocol):
    """A sparse gradient with only the rows that a batch uses."""

    @property
    def ids(self) -> NDArray[np.int64]:
        """Row numbers, in increasing order."""

    def read(self) -> tuple[Array, Array]:
        """Row numbers, and the rows: copies."""


@dataclass(eq=False, slots=True, weakref_slot=True)
class Parameter:
    """Parameter or state of a layer.

    States (`trained` is false) and frozen parameters have no gradient.
    """

    name: str
    """Name in files and reports, such as `conv1.weight`."""
    shape: tuple[int, ...]
    """Shape of the array."""
    trained: bool
    """Whether an optimizer updates it; false for states and frozen parameters."""
    settings: ParamSettings | None
    """Settings in the config, if any."""
    definition: Param | State
    """Field of the layer."""
    layer: LayerDefinition
    """Definition of the layer."""
    dtype: str
    """`"float32"` or `"float64"`."""
    offset: int = 0
    """Bytes from the start of the arena."""
    blocks: dict[str, MemoryBlock] = field(default_factory=dict)
    """The arenas of `value` and `gradient`."""
    by_rows: bool = False
    """Whether the gradient is sparse. It is then in no arena, but in the plans."""
    sparse_gradient: RowGradients | None = None
    """The result of the last backward pass, if sparse; None if the pass does not reach the parameter."""
    changes: Changes = field(default_factory=Changes)
    """Shared by all parameters of a net."""
    gradient_owner: GradientOwner = field(default_factory=GradientOwner)
    """Shared by all parameters of a net."""
    before_read: Callable[[NDArray[np.int64] | None], None] | None = None
    """Called before these rows of the value, or all of them, are read; set by optimizers with pending steps."""

    @property
    def value(self) -> Array:
        """Values as a view on the CPU, otherwise as a read-only copy. Assign to it to change them.

        Assign before a forward pass or after its backward pass: a backward pass reads the new values together with the
        results of the old ones. Read it again after a step: pending steps of an optimizer are made on access. Writes to
        a view are detected as long as it, or a view of it, is alive; meanwhile passes of the test phase recompute what
        depends on parameters only.
        """
        self.catch_up()
        return self.changes.lend(self.stored)

    @value.setter
    def value(self, values: Any) -> None:
        self.catch_up()
        self.stored = values

    @property
    def stored(self) -> Array:
        """As `value`, but the raw memory without pending steps, which must not be written to."""
        return self.blocks["value"].read(self.offset, self.size, self.dtype).reshape(self.shape)

    @stored.setter
    def stored(self, values: Any) -> None:
        checked = self._checked(values)
        with self.changes.made():
            self.blocks["value"].write(self.offset, checked, self.dtype)

    def _checked(self, values: Any) -> Array:
        """Values with the parameter's shape; a scalar is broadcast. Raises `ValueError`."""
        if has_masked(values):
            raise ValueError(f"`{self.name}` cannot have masked elements; replace them: array.filled(value)")
        try:
            array = np.asarray(values)
        except ValueError as error:  # ragged rows
            raise ValueError(f"`{self.name}`: cannot convert to an array: {first_line(error)}") from None
        if array.dtype.kind not in "fiub":
            raise ValueError(f"`{self.name}` requires a real dtype, not {array.dtype}")
        if array.shape not in ((), self.shape):
            same = array.size == self.size
            meant = "; assign array.T" if same and array.shape == self.shape[::-1] and array.ndim > 1 else ""
            raise ValueError(f"`{self.name}` has shape {self.shape}; cannot assign shape {array.shape}{meant}")
        whole = np.broadcast_to(array, self.shape)
        if too_large(array, self.dtype):  # for a scalar, the first affected index is named
            raise ValueError(f"`{self.name}` {too_large(whole, self.dtype)}")
        return whole

    @property
    def gradient(self) -> Array | None:
        """The gradient of the last backward pass, as `value`; `None` if it does not exist.

        It is a read-only copy if it is in `gradient_rows`. Raises `RuntimeError` if another thread ran that pass, or an
        interrupt ended it.
        """
        self.gradient_owner.check()
        if self.by_rows:
            return self._spread()
        if "gradient" not in self.blocks:
            return None
        return self.blocks["gradient"].read(self.offset, self.size, self.dtype).reshape(self.shape)

    @property
    def gradient_rows(self) -> tuple[Array, Array] | None:
        """Row numbers of the last batch, in increasing order, and their gradients; all other rows are zero.

        `None` if the gradient is not sparse, or the last backward pass does not reach the parameter. Raises
        `RuntimeError` as `gradient`.
        """
        self.gradient_owner.check()
        return None if self.sparse_gradient is None else self.sparse_gradient.read()

    def _spread(self) -> Array:
        dense = np.zeros(self.shape, self.dtype)
        if self.sparse_gradient is not None:
            ids, rows = self.sparse_gradient.read()
            dense[ids] = rows
        dense.flags.writeable = False  # the next step of an optimizer would not see what is written
        return dense

    def catch_up(self, rows: NDArray[np.int64] | None = None) -> None:
        """Applies the pending steps of an optimizer with lazy updates.

        Args:
            rows: Indices of the rows that are read; all if None.
        """
        if self.before_read is not None:
            self.before_read(rows)

    def __reduce_ex__(self, _: object) -> NoReturn:
        """A copy would share the memory, and change with the parameter."""
        raise TypeError(f"`{self.name}` cannot be copied: copy its value, `parameter.value.copy()`")

    def address(self, part: str) -> int:
        """Device address of an array.

        Args:
            part: `"value"` or `"gradient"`.

        Returns:
            The address in bytes.
        """
        return self.blocks[part].address + self.offset

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def fans(self) -> tuple[int, int]:
        """Fan-in and fan-out, the numbers of inputs per output and of outputs per input.

        Axes of the parameter that are axes of the layer's output count as outputs, the others as inputs.
        """
        output = next(iter(self.layer.outputs.values()))
        made = {axis.name for axis in output.axes}
        axes = [axis.name for axis in self.definition.axes]
        if len(axes) != len(self.shape):
            return self.size, self.size
        inputs = [size for name, size in zip(axes, self.shape, strict=True) if name not in made]
        fan_in = math.prod(inputs)
        return fan_in, self.size // max(inputs[0], 1) if inputs else self.size

    def initialize(self, seed: int) -> None:
        """Generates the initial values: the same for a seed and a name, whatever else the network contains.

        Args:
            seed: Random seed.

        Raises:
            ShapeError: The initializer returned another shape.
            ValueError: A value exceeds the range of the precision.
        """
        from paddle_layers.layers.initializers import Fans

        definition, attributes = self.initializer()
        # By name, not by order: adding a layer does not change the initial values of the others, and all processes have
        # the same values without communication.
        key = (seed << 32) ^ zlib.crc32(self.name.encode())
        rng = np.random.Generator(np.random.Philox(key=key))
        drawer, fans = definition.create(attributes), Fans(*self.fans)
        # In parts and in the same sequence of random numbers: a large table is never in memory a second time in
        # float64.
        if getattr(drawer, "is_elementwise", False):
            itemsize = np.dtype(self.dtype).itemsize
            for first in range(0, self.size, DRAWN):
                drawn = drawer.draw((min(DRAWN, self.size - first),), rng, fans)
                if problem := too_large(drawn[np.argmax(np.abs(drawn))], self.dtype):
                    raise ValueError(f"`{self.name}` {problem}")
                self.blocks["value"].write(self.offset + first * itemsize, drawn, self.dtype)
            return
        drawn = drawer.draw(self.shape, rng, fans)
        if drawn.shape != self.shape:
            raise ShapeError(
                f"initializer `{definition.name}` returned shape {drawn.shape} for `{self.name}`; expected {self.shape}"
            )
        self.stored = drawn

    def initializer(self) -> tuple[Any, Any]:
        """The initializer and its attributes: the config's, or the layer's."""
        if self.settings is not None and self.settings.init is not None:
            return self.settings.init
        init = self.definition.init
        name, attributes = (init, {}) if isinstance(init, str) else init
        definition = registries["initializer"][name]
        return definition, definition.bind(attributes)


class ParametersByName(dict[str, Parameter]):
    """Parameters by name, for lookup: assignments set the `value` of a parameter."""

    def __missing__(self, name: str) -> Parameter:
        near = nearest(str(name), self)
        hint = f"did you mean `{near}`?" if near else f"available: {listed(self) or 'none'}"
        raise KeyError(f"no parameter or state `{name}`; {hint}")

    def __setitem__(self, name: str, value: object) -> None:
        raise TypeError(f"parameters cannot be replaced; assign `[{name!r}].value = ...`")


class ParameterSet:
    """All parameters of a network by name, whichever phases they are in."""

    def __init__(self, dtype: str) -> None:
        self.dtype, self.changes, self.gradient_owner = dtype, Changes(), GradientOwner()
        self.by_name: dict[str, Parameter] = {}
        self.aliases: dict[str, str] = {}
        """Names of shared parameters, and the name of the one that holds the values."""
        self._shared: dict[str, Parameter] = {}
        self.data = ""
        """The names of ids and columns of the training data, in JSON: stored with the values."""
        self._complete = False
        """Whether memory is allocated: from then on there are no new parameters."""
        self.values: Flat
        """The arena of the trained parameters, padding included."""
        self.gradients: Flat
        """Their gradients, in the same layout; those that are by rows are left out."""

    def add(
        self, name: str, field: Param | State, layer: LayerDefinition, shape: tuple[int, ...], settings: Any
    ) -> Parameter:
        """Create a parameter at the first call with its name.

        Returns:
            The parameter of this name.

        Raises:
            ShapeError: Its shape differs, or it is new after the allocation.
        """
        found = self.by_name.get(self.aliases.get(name, name))
        share = settings.share if settings is not None else None
        if found is None and share is not None:
            found = self._shared.get(share)
            if found is not None:
                self.aliases[name] = found.name
        if found is not None:
            if found.shape != shape:
                raise ShapeError(f"parameter `{name}` requires shape {shape}, but `{found.name}` has {found.shape}")
            # The layer with the settings of a shared parameter need not be the first one.
            if share is not None and settings.given and found.settings is not None and not found.settings.given:
                found.settings, found.trained = settings, _is_trained(field, settings)
            return found
        if self._complete:  # a batch of other sizes
            raise ShapeError(f"it requires the parameter `{name}`, which this net does not have")
        trained = _is_trained(field, settings)
        made = self.by_name[name] = Parameter(name, shape, trained, settings, field, layer, self.dtype)
        made.changes, made.gradient_owner = self.changes, self.gradient_owner
        if share is not None:
            self._shared[share] = made
        return made

    @property
    def trained(self) -> list[Parameter]:
        """Parameters with a gradient, in the order of the arena: those with sparse gradients are last."""
        trained = [parameter for parameter in self.by_name.values() if parameter.trained]
        # Dense gradients are contiguous this way, and the arena of the gradients ends where sparse ones begin. The sort
        # is stable, so that the order of layers, which determines buckets, is kept.
        return sorted(trained, key=lambda parameter: parameter.by_rows)

    @property
    def states(self) -> ParametersByName:
        """Running states by name."""
        return ParametersByName((name, one) for name, one in self.by_name.items() if isinstance(one.definition, State))

    def copy_states(self) -> dict[str, Array]:
        """The values of all states, for `restore_states`."""
        return {name: state.stored.copy() for name, state in self.states.items()}

    def restore_states(self, values: Mapping[str, Array]) -> None:
        """Restores the values of states."""
        for name, value in values.items():
            self.by_name[name].value = value

    def take_sparse_gradients(self, found: Mapping[str, RowGradients]) -> None:
        """Sets the sparse gradients of a backward pass: where it does not reach, no rows of an earlier one remain."""
        for name, parameter in self.by_name.items():
            parameter.sparse_gradient = found.get(name)

    def release_gradients(self) -> None:
        """Frees the arena of the gradients: plans hold them from now on, as long as they need them."""
        for parameter in self.trained:
            parameter.blocks.pop("gradient", None)  # they share one dict
        del self.gradients

    def allocate(self, seed: int, device: Allocator, for_gradients: Allocator) -> None:
        """Allocates the arenas and generates the initial values.

        Trained parameters are contiguous, as are their gradients.
        """
        try:
            self._allocate(device, for_gradients)
        except DeviceError as error:
            largest = sorted(self.by_name.values(), key=lambda parameter: -parameter.size)[:3]
            sizes = ", ".join(f"{p.name} ({' x '.join(map(str, p.shape))})" for p in largest)
            raise DeviceError(f"cannot allocate the parameters: {error}; the largest are {sizes}") from None
        self._complete = True
        for parameter in self.by_name.values():
            try:
                parameter.initialize(seed)
            except MemoryError:
                needed = as_bytes(8 * parameter.size)
                raise DeviceError(f"cannot allocate {needed} to initialize `{parameter.name}`") from None

    def _allocate(self, device: Allocator, for_gradients: Allocator) -> None:
        fixed = [parameter for parameter in self.by_name.values() if not parameter.trained]
        itemsize = np.dtype(self.dtype).itemsize
        dense = _lay_out([parameter for parameter in self.trained if not parameter.by_rows], itemsize)
        self.gradients = Flat(for_gradients, dense // itemsize, self.dtype)
        self.values = Flat(device, _lay_out(self.trained, itemsize) // itemsize, self.dtype)
        trained = {"value": self.values.block, "gradient": self.gradients.block}
        others = {"value": device.allocate(_lay_out(fixed, itemsize))}
        for parameter in self.by_name.values():
            parameter.blocks = trained if parameter.trained else others


def _is_trained(field: Param | State, settings: Any) -> bool:
    # A rate of 0 is the same as frozen: no gradient is computed, and the optimizer has no state for it.
    return isinstance(field, Param) and not (settings is not None and (settings.frozen or settings.lr_mult == 0))


def _lay_out(parameters: list[Parameter], itemsize: int) -> int:
    """Offsets in one arena, each a multiple of 64 bytes. Returns its bytes."""
    offset = 0
    for parameter in parameters:
        parameter.offset = offset
        # 64 bytes: cache lines and vectors never straddle two parameters, and optimizers run over the arena, padding
        # included.
        offset += -(-parameter.size * itemsize // 64) * 64
    return offset
