"""Finiteness checks of training outputs, and messages about NaN and infinity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime.devices.cpu.feeds import all_finite
from paddle_layers.runtime.optimise.updater import PENDING

from .problems import TrainingError

if TYPE_CHECKING:
    from paddle_layers.config.network import Network
    from paddle_layers.runtime import Net

NAMED = 3
"""Layers that a message lists."""


class FiniteWeights:
    """The weights, running states and optimizer states of a training, checked before they are written."""

    def __init__(self, net: Net) -> None:
        self._net = net
        self._exempt: frozenset[str] = frozenset()

    def exempt_infinite(self) -> None:
        """Exempt parameters that now have infinite values, such as transitions of a `crf` that are ruled out."""
        parameters = self._net.arena.by_name.items()
        values = {name: parameter.stored for name, parameter in parameters}  # pending steps stay so
        self._exempt = frozenset(
            name for name, one in values.items() if np.isinf(one).any() and not np.isnan(one).any()
        )

    def check(self, step: int, *, catch_up: bool = True) -> None:
        """Raise `TrainingError` for weights or running states with NaN or infinity; pending steps are made before."""
        parameters = self._net.arena.by_name.items()
        learned = ((name, one) for name, one in parameters if name not in self._exempt)
        if names := [name for name, one in learned if not all_finite((one.value if catch_up else one.stored).ravel())]:
            kind = "running state" if names[0] in self._net.states else "parameter"
            raise TrainingError(
                f"{kind} `{names[0]}` contains NaN or infinity after step {step}; {_layer(names[0])} is the first "
                "affected layer. Nothing was saved; earlier files are unchanged. Try a smaller learning_rate, "
                "clip { norm: 1 } or scaled input data"
            )

    def check_states(self, states: Mapping[str, NDArray[Any]], step: int) -> None:
        """Raise `TrainingError` for states of the optimizer with NaN or infinity."""
        for name, array in states.items():
            if array.dtype.kind != "f" or all_finite(array.ravel()):
                continue
            owners = [owner for owner in self._owners(name, array) if owner not in self._exempt]
            if owners:
                of = f" of `{owners[0]}`" if owners[0] else ""
                raise TrainingError(
                    f"optimizer state `{name}`{of} contains NaN or infinity after step {step}: the gradients are too "
                    "large. Nothing was saved; earlier files are unchanged. Try clip { norm: 1 } or a smaller "
                    "loss_weight"
                )

    def _owners(self, name: str, array: NDArray[Any]) -> list[str]:
        """The parameters for which a state has numbers that are not finite; an empty name where it is that of none."""
        arena = self._net.arena
        if name.startswith(PENDING):
            return [name.removeprefix(PENDING).rpartition("/")[0]]
        if array.size != arena.values.size:
            return [""]
        first = {one.name: one.offset // array.itemsize for one in arena.trained}
        parts = {one.name: array[first[one.name] : first[one.name] + one.size] for one in arena.trained}
        return [owner for owner, part in parts.items() if not all_finite(part)]


def layers_behind(network: Network, parameter: str) -> list[str]:
    """The layers between a parameter and the losses, in their order."""
    reached: set[str] = set()
    layers = []
    for node in network.nodes:
        if node.name == _layer(parameter).strip("`"):
            reached.update(node.output_names)
        elif reached.intersection(node.inputs):
            reached.update(node.output_names)
            layers.append(node.name)
    return layers


def listed(layers: Iterable[str]) -> str:
    """Some of the layers in words."""
    names = list(layers)
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(f"`{name}`" for name in names[:NAMED]) + more


def _layer(parameter: str) -> str:
    return f"`{parameter.partition('.')[0]}`"
