"""`Optimizer` and `Schedule` for custom training loops, the same as `train` uses."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from paddle_layers.config.training import ClipSettings, ComponentSettings
from paddle_layers.define import registries
from paddle_layers.define.errors import brief
from paddle_layers.runtime.arguments import check_count
from paddle_layers.runtime.memory.tensorfiles import WeightsError, read_tensors, write_tensors
from paddle_layers.runtime.net import Net
from paddle_layers.runtime.optimise.finite import NonFiniteGradients
from paddle_layers.runtime.optimise.updater import Updater

from .problems import TrainingError
from .schedules import rate_at

if TYPE_CHECKING:
    from paddle_layers.define.definitions.elementwise import Elementwise

Regularizer = str | tuple[str, dict[str, Any]]
"""A regularizer: its name, or its name and attributes."""


class Schedule:
    """Learning rate schedule for manual training loops.

    Args:
        name: Registered schedule, such as `"cosine"`.
        learning_rate: Base learning rate.
        steps: Number of steps of the training, for schedules that depend on it. For a schedule with an attribute of
            this name (`warmup`, `linear`), it is the attribute.
        training_steps: Number of steps of the training, for any schedule.
        **settings: Attributes of the schedule.

    Raises:
        UnknownName: No such schedule.
        InvalidAttributes: Attributes are missing, unknown or out of range.
        TypeError: The number of steps is missing, or an argument is not a number.
        ValueError: The number of steps is not positive.

    Example:
        >>> schedule = pl.Schedule("step", learning_rate=0.1, steps=100, every=50)
        >>> schedule.rate(0), round(schedule.rate(50), 6)
        (0.1, 0.01)
        >>> round(pl.Schedule("warmup", learning_rate=0.1, steps=5).rate(0), 6)
        0.02
    """

    def __init__(
        self,
        name: str,
        *,
        learning_rate: float,
        steps: int | None = None,
        training_steps: int | None = None,
        **settings: Any,
    ) -> None:
        definition = registries["schedule"][name]
        if steps is not None and "steps" in definition.attribute_by_name:
            settings["steps"] = steps
        elif None not in (steps, training_steps):
            raise TypeError(f"schedule `{name}` has no attribute `steps`; write either steps or training_steps")
        self._schedule = definition.create(definition.bind(settings))
        length = steps if training_steps is None else training_steps
        if length is None:
            raise TypeError(f"schedule `{name}` depends on the length of the training: set training_steps")
        check_count("the number of steps", length, 1)
        self.learning_rate, self.steps = _number("learning_rate", learning_rate), length

    def rate(self, step: int) -> float:
        """Learning rate of a step.

        Args:
            step: Index of the step, from 0.

        Returns:
            The learning rate.

        Raises:
            TrainingError: It is infinite or NaN.
            TypeError: The step is not an integer.
            ValueError: The step is negative.
        """
        check_count("step", step, 0)
        return rate_at(self._schedule, self.learning_rate, step, self.steps)


class Optimizer:
    """Optimizer for manual training loops: updates the parameters of a net by the gradients of its last backward pass.

    As in Caffe, gradients are clipped by their norm, then by value; then the penalty is added and the step is made.
    Settings of single parameters in the network (`lr_mult`, `decay_mult`, `clip`, `frozen`) apply.

    Args:
        net: Net whose parameters are updated.
        name: Registered optimizer, such as `"adam"`.
        regularizer: Regularizer, such as `"l2"`, or with attributes, `("l2", {"rate": 1e-4})`.
        clip_norm: Maximum norm of all gradients together.
        clip_value: Maximum magnitude of each gradient element.
        **settings: Attributes of the optimizer.

    Raises:
        UnknownName: No such optimizer or regularizer.
        InvalidAttributes: Attributes are unknown or out of range.
        RuntimeError: The net is closed.
        TypeError: `net` is not a `Net`, the learning rate is among `settings`, or an argument has the wrong type.
        ValueError: `clip_norm` or `clip_value` is not above 0.

    Example::

        optimizer = pl.Optimizer(net, "adam", clip_norm=1.0)
        net.forward(batch)
        net.backward()
        optimizer.step(learning_rate=1e-3)
    """

    def __init__(
        self,
        net: Net,
        name: str,
        *,
        regularizer: Regularizer | None = None,
        clip_norm: float | None = None,
        clip_value: float | None = None,
        **settings: Any,
    ) -> None:
        if not isinstance(net, Net):
            raise TypeError(f"expected a Net, got {brief(net)}: write Optimizer(Net(network), {brief(name)})")
        if {"learning_rate", "lr"} & settings.keys():
            raise TypeError("the learning rate is an argument of each step: write optimizer.step(learning_rate)")
        if net.closed:
            raise RuntimeError("this net is closed; create a new one, or use it inside its `with` block")
        self.name, self.steps, self._net = name, 0, net
        self._passes = 0  # of the net when the parameters were last updated
        definition = registries["optimizer"][name]
        self._updater = Updater(
            cast("Elementwise", definition),
            definition.bind(settings),
            net,
            regularizer=_penalty(regularizer),
            clip=ClipSettings(_limit("clip_norm", clip_norm), _limit("clip_value", clip_value)),
        )

    def step(self, learning_rate: float) -> None:
        """Updates the parameters with the gradients of the last backward pass.

        Args:
            learning_rate: Learning rate of this step, >= 0.

        Raises:
            TypeError: The learning rate is not a number.
            ValueError: The learning rate is negative, infinite or NaN.
            RuntimeError: There was no backward pass since the last step, another thread ran it, or an interrupt ended
                it.
            TrainingError: A gradient contains NaN or infinity; parameters and states of the optimizer are unchanged,
                so the loop may continue with the next batch.
        """
        rate = _number("learning_rate", learning_rate)
        if not 0 <= rate < math.inf:
            raise ValueError(f"learning_rate is {rate:g}, must be a finite number >= 0")
        self._net.arena.gradient_owner.check()
        passes = self._net.arena.gradient_owner.passes
        if passes == self._passes:
            raise RuntimeError("no backward pass since the last step: call net.forward(batch) and net.backward() first")
        try:
            self._updater.step(rate, self.steps + 1)
        except NonFiniteGradients as error:
            layer = self._net.find_non_finite(backward=True)
            where = f": in backward order, `{layer}` is the first layer whose gradient is not finite" if layer else ""
            raise TrainingError(f"{error} at step {self.steps + 1}{where}. The parameters are unchanged") from None
        self._passes = passes
        self.steps += 1  # last: a step that is refused or interrupted does not count

    def save(self, path: str | Path) -> None:
        """Saves the optimizer state and the number of steps as safetensors; save the net as well.

        Args:
            path: File to write.

        Raises:
            SaveError: The file cannot be written.
        """
        self._updater.catch_up()
        facts = {"optimizer": self.name, "steps": str(self.steps), "parameters": self._layout}
        write_tensors(path, self._updater.saved(), facts)

    def load(self, path: str | Path) -> None:
        """Loads the state that `save` wrote; call it after `net.load`. Steps are then those of an uninterrupted loop.

        Args:
            path: File to read.

        Raises:
            WeightsError: The file cannot be read, or belongs to another optimizer or network.
        """
        arrays, facts = read_tensors(path)
        if facts.get("optimizer") != self.name:
            raise WeightsError(f"{path} has no state of the optimizer `{self.name}`")
        sizes = {name: (size,) for name, size in self._updater.sizes.items()}
        found = {name: array.shape for name, array in arrays.items() if array.dtype.kind == "f" and name in sizes}
        steps = facts.get("steps", "")
        same = found == sizes and facts.get("parameters") == self._layout
        if not same or not (steps.isascii() and steps.isdigit()):
            raise WeightsError(f"{path} contains the optimizer state of another network")
        try:
            self._updater.restore(arrays)
        except (KeyError, ValueError) as error:
            raise WeightsError(f"{path}: {error}") from None
        self.steps = int(steps)

    @property
    def _layout(self) -> str:
        """The trained parameters in the order of the states, which have as many elements for other networks, too."""
        return json.dumps([(parameter.name, parameter.shape) for parameter in self._net.arena.trained])


def _penalty(given: Regularizer | None) -> ComponentSettings | None:
    if given is None:
        return None
    if isinstance(given, str):
        given = given, {}
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[1], Mapping):
        raise TypeError(f'regularizer must be a name or a pair, ("l2", {{"rate": 1e-4}}), not {brief(given)}')
    name, settings = given
    definition = registries["regularizer"][name]
    return ComponentSettings(definition, definition.bind(settings))


def _limit(name: str, value: float | None) -> float | None:
    if value is not None and not _number(name, value) > 0:
        raise ValueError(f"{name} is {value}, must be > 0")
    return value


def _number(name: str, value: Any) -> float:
    if isinstance(value, (str, bool)) or not hasattr(value, "__float__") or np.ndim(value):
        raise TypeError(f"{name} must be a number, not {brief(value)}")
    return float(value)
