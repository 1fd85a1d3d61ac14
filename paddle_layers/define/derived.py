"""Derived properties of a layer definition, computed on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

from .definitions.definition import LOADING
from .definitions.layers import Binding, LayerDefinition
from .definitions.registry import registries
from .fields.types import Type
from .inference import bind_axes

if TYPE_CHECKING:
    from paddle_layers.schema.layer_def_pb2 import LayerDef

    from .functions.point_functions import Facts

C = TypeVar("C", bound=type)
MANY_AXES = 1 << 30


class DerivedLayer(LayerDefinition):
    """A definition with everything that follows from it."""

    _complete = False

    def complete(self) -> Self:
        """Check what only the whole module shows: every tensor is computed, there is an example. Once."""
        if not self._complete:
            # Not when the class is registered: its functions follow at module level, and only a use shows that the
            # module is complete.
            from .checks.completeness import check_complete

            with LOADING.current:
                if not self._complete:
                    check_complete(self)
                    self._complete = True
        return self

    @cached_property
    def facts(self) -> Facts:
        """Facts derived from the source of the functions: order, reads, in-place use, Mocha's characterizations."""
        from .facts.derived_facts import derive_facts

        return derive_facts(self.complete())

    @cached_property
    def message(self) -> LayerDef:
        """The definition as a LayerDef protobuf."""
        from .messages.layer_def import layer_def

        return layer_def(self.complete())

    def kept_types(self, types: Sequence[Type]) -> tuple[Type, ...] | None:
        """Types of the outputs where they are those of the inputs, without binding axes; else None."""
        # A shortcut for activations and the like.
        if len(types) == 1 and self._keeps_type is not None:
            levels, least, most = self._keeps_type
            type_ = types[0]
            if type_.kind == "DENSE" and type_.level in levels and least <= len(type_.dims) <= most:
                return tuple(types)
        return None

    @cached_property
    def _keeps_type(self) -> tuple[tuple[int, ...], int, int] | None:
        """Type-preserving layers: levels and numbers of axes for which the one output has the type of the one input."""
        if len(self.inputs) != 1 or len(self.outputs) != 1 or self.hooks:
            return None
        (x,), (y,) = self.inputs.values(), self.outputs.values()
        rest = [axis for axis in x.axes if axis.rest]
        plain = x.text == y.text and "DENSE" in x.kinds and y.kind == "DENSE" and not (x.repeatable or x.optional)
        named = any(axis.name == "1" or axis.group or (axis.rest and axis.name != "...") for axis in x.axes)
        if not plain or named or any(attribute.axis for attribute in self.attributes.values()):
            return None
        least = len(x.axes) - 1 - (len(rest) if not x.axes[0].rest else 0)
        return x.seq, least, MANY_AXES if rest else least

    def bind_axes(self, types: Sequence[Type], attributes: Mapping[str, Any]) -> Binding:
        """Sizes of all axes and types of the outputs. Raises `ShapeError`."""
        return bind_axes(self, types, attributes)

    def _start_anew(self) -> None:
        """Forget what was derived of a declared layer, which may get its functions after it was looked at."""
        if self.declared_only:
            self._complete = False
            for name in ("facts", "message", "_keeps_type"):
                self.__dict__.pop(name, None)


def layer(name: str, *, common: tuple[str, ...] = (), **options: Any) -> Callable[[C], C]:
    """Registers a layer type: a class of fields; point functions follow at module level.

    Args:
        name: Name in network files.
        common: Shared attributes that the layer has: `act`, `drop_rate`, `error_clip`.
        **options: `elsewhere` (names in other systems), `terms` (search terms, such as "transposed convolution"),
            `since` (version of the library).

    Returns:
        A class decorator that registers the class and returns it unchanged.

    Raises:
        TypeError: `name` is not a string.
        DefinitionError: Invalid fields, or an invalid or duplicate name; with file and line.

    Example::

        @layer("swish", terms=("SiLU",))
        class Swish:
            "Swish (SiLU) activation: x * sigmoid(beta * x)."

            x = Input("...", "values", seq=(0, 1, 2))
            y = Output("...", "activations")
            beta = Float("slope", default=1.0)
            examples = (Example(x="3"),)
    """
    if not isinstance(name, str):
        raise TypeError('@layer requires the layer type, as in @layer("swish")')

    def mark(owner: C) -> C:
        registries["layer"].add(DerivedLayer(name, owner, common=common, **options))
        return owner

    return mark
