"""Optimizers and regularizers at work: their functions over the ranges of the flat arenas."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.elementwise import Elementwise

from .arguments import Argument, Fixed, Ref, Setting, plain_argument
from .builtin import flat_launch
from .compiler import compile_all
from .domains import Extent
from .launches import Launch
from .parameters import Parameter
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paddle_layers.define import Definition

    from .net import Net


class Updater:
    """Changes the parameters of a net by their gradients.

    Order as in Caffe: gradients are clipped by the norm of all of them, then by value, the penalty is added, then
    the optimizer makes its step. `regularizer` has a definition and attributes, `clip` has `norm` and `value`, each
    may be None. `states` are flat arrays with the layout of the arena of parameters; write into them to restore.
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
        self.arena, self.dtype = net.arena, net.dtype
        self.norm: float | None = getattr(clip, "norm", None)
        self.limit: float | None = getattr(clip, "value", None)
        if not isinstance(optimizer, Elementwise):
            raise TypeError(f"{optimizer!r} is no optimizer")
        self.states: dict[str, NDArray[Any]] = {name: np.zeros_like(self.arena.values) for name in optimizer.states}
        launches: list[Launch] = []
        for parameter in self.arena.trained:
            decay = parameter.settings.decay_mult if parameter.settings is not None else 1.0
            if regularizer is not None and decay:
                launches.append(self._penalty(regularizer, parameter, decay))
            launches.append(self._step(optimizer, attributes, parameter))
        addresses = compile_all([launch.driver for launch in launches], None)
        self._count = len(launches)
        self._table = Table(launches, addresses, _address)
        self._table.set_rows()

    def step(self, rate: float, count: int) -> None:
        """One step with the learning rate `rate`; `count` is the number of the step, from 1."""
        self._clip()
        self._table.set_numbers({"rate": rate, "count": float(count)})
        self._table.run(0, self._count)

    def _clip(self) -> None:
        gradients = self.arena.gradients
        if self.norm is not None:
            norm = math.sqrt(float(np.einsum("i,i->", gradients, gradients, dtype=np.float64)))
            if norm > self.norm:
                gradients *= self.norm / norm
        if self.limit is not None:
            np.clip(gradients, -self.limit, self.limit, out=gradients)
        for parameter in self.arena.trained:
            own = parameter.settings.clip if parameter.settings is not None else None
            if own is not None and parameter.gradient is not None:
                np.clip(parameter.gradient, -own, own, out=parameter.gradient)

    def _penalty(self, regularizer: Any, parameter: Parameter, decay: float) -> Launch:
        function = regularizer.definition.function
        offered: dict[str, Argument] = {
            "value": self._range(self.arena.values, parameter),
            **{name: plain_argument(value) for name, value in regularizer.attributes.items()},
        }
        args: dict[str, Argument] = {"gradient": self._range(self.arena.gradients, parameter)}
        args |= {name: offered[name] for name in function.args[1:]}
        args["decay_mult_"] = float(decay)
        return flat_launch(
            function, parameter.name, ["gradient"], args, self.dtype, accumulate=True, factor="decay_mult_"
        )

    def _step(self, optimizer: Elementwise, attributes: Mapping[str, Any], parameter: Parameter) -> Launch:
        function = optimizer.function
        if function is None:
            raise optimizer.error("has no @step function")
        times = parameter.settings.lr_mult if parameter.settings is not None else 1.0
        states = {name: self._range(array, parameter) for name, array in self.states.items()}
        offered: dict[str, Argument] = {
            "gradient": self._range(self.arena.gradients, parameter),
            "rate": Setting("rate", times),
            "count": Setting("count"),
            **{name: plain_argument(value) for name, value in attributes.items()},
        }
        args: dict[str, Argument] = {"value": self._range(self.arena.values, parameter), **states}
        args |= {name: offered[name] for name in function.args[1:] if name not in args}
        return flat_launch(function, parameter.name, ["value", *states], args, self.dtype)

    def _range(self, arena: NDArray[Any], parameter: Parameter) -> Ref:
        span = arena[parameter.offset : parameter.offset + parameter.size]
        return Ref(Fixed(span), (Extent(parameter.size),))


def _address(ref: Ref) -> int:
    assert isinstance(ref.owner, Fixed)
    return int(ref.owner.array.ctypes.data)
