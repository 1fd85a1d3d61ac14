"""Optimizers and regularizers at work: their functions over the ranges of the flat arenas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_layers.define.elementwise import Elementwise

from .arguments import Argument, Fixed, Ref, Setting, plain_argument
from .builtin import BLOCK, CLAMP, NORM_FACTOR, SCALE, SQUARES, flat_launch, simple_launch
from .devices import Flat
from .domains import Extent
from .launches import Launch
from .parameters import Parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddle_layers.define import Definition

    from .net import Net


class Updater:
    """Changes the parameters of a net by their gradients.

    Order as in Caffe: gradients are clipped by the norm of all of them, then by value, the penalty is added, then
    the optimizer makes its step. `regularizer` has a definition and attributes, `clip` has `norm` and `value`, each
    may be None. `states` have the layout of the arena of parameters.
    """

    def __init__(
        self,
        optimizer: Definition,
        attributes: Mapping[str, Any],
        net: Net,
        *,
        regularizer: Any = None,
        clip: Any = None,
    ) -> None:
        if not isinstance(optimizer, Elementwise):
            raise TypeError(f"{optimizer!r} is no optimizer")
        self.arena, self._device, self._dtype = net.arena, net.target, net.dtype
        self.states = {name: Flat(net.target, net.arena.values.size, net.dtype) for name in optimizer.states}
        launches = self._clipping(clip)
        for parameter in self.arena.trained:
            decay = parameter.settings.decay_mult if parameter.settings is not None else 1.0
            if regularizer is not None and decay:
                launches.append(self._penalty(regularizer, parameter, decay))
            launches.append(self._step(optimizer, attributes, parameter))
        self._count = len(launches)
        self._table = net.target.table(launches, net.dtype, _address)
        self._table.set_rows()

    def step(self, rate: float, count: int) -> None:
        """One step with the learning rate `rate`; `count` is the number of the step, from 1."""
        self._table.set_numbers({"rate": rate, "count": float(count)})
        self._table.run(0, self._count)

    def _clipping(self, clip: Any) -> list[Launch]:
        """By the norm of all gradients, by value, and by the value that a parameter has for itself."""
        gradients, launches = self.arena.gradients, []
        every = _ref(gradients)
        if clip is not None and clip.norm is not None:
            self._squares = Flat(self._device, -(-gradients.size // BLOCK), "float64")
            self._factor = Flat(self._device, 1, self._dtype)
            squares, factor = _ref(self._squares), _ref(self._factor)
            launches += [
                simple_launch(SQUARES, "gradients", [squares, every, Extent(gradients.size), Extent(BLOCK)]),
                simple_launch(NORM_FACTOR, "gradients", [factor, squares, Extent(self._squares.size), clip.norm]),
                simple_launch(SCALE, "gradients", [every, factor]),
            ]
        if clip is not None and clip.value is not None:
            launches.append(simple_launch(CLAMP, "gradients", [every, clip.value]))
        for parameter in self.arena.trained:
            own = parameter.settings.clip if parameter.settings is not None else None
            if own is not None:
                launches.append(simple_launch(CLAMP, parameter.name, [_ref(gradients, parameter), own]))
        return launches

    def _penalty(self, regularizer: Any, parameter: Parameter, decay: float) -> Launch:
        function = regularizer.definition.function
        offered: dict[str, Argument] = {
            "value": _ref(self.arena.values, parameter),
            **{name: plain_argument(value) for name, value in regularizer.attributes.items()},
        }
        args: dict[str, Argument] = {"gradient": _ref(self.arena.gradients, parameter)}
        args |= {name: offered[name] for name in function.args[1:]}
        args["decay_mult_"] = float(decay)
        return flat_launch(function, parameter.name, ["gradient"], args, accumulate=True, factor="decay_mult_")

    def _step(self, optimizer: Elementwise, attributes: Mapping[str, Any], parameter: Parameter) -> Launch:
        function = optimizer.function
        if function is None:
            raise optimizer.error("has no @step function")
        times = parameter.settings.lr_mult if parameter.settings is not None else 1.0
        states = {name: _ref(array, parameter) for name, array in self.states.items()}
        offered: dict[str, Argument] = {
            "gradient": _ref(self.arena.gradients, parameter),
            "rate": Setting("rate", times),
            "count": Setting("count"),
            **{name: plain_argument(value) for name, value in attributes.items()},
        }
        args: dict[str, Argument] = {"value": _ref(self.arena.values, parameter), **states}
        args |= {name: offered[name] for name in function.args[1:] if name not in args}
        return flat_launch(function, parameter.name, ["value", *states], args)


def _ref(flat: Flat, parameter: Parameter | None = None) -> Ref:
    """All of an arena, or a parameter's part of it."""
    dtype = "float64" if flat.dtype == "float64" else "real"
    if parameter is None:
        return Ref(Fixed(flat.block.address), (Extent(flat.size),), dtype)
    return Ref(Fixed(flat.block.address + parameter.offset), (Extent(parameter.size),), dtype)


def _address(ref: Ref) -> int:
    assert isinstance(ref.owner, Fixed)
    return ref.owner.address
