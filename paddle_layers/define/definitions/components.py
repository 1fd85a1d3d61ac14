"""Decorators of initializers, schedules, sources, transforms and callbacks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from .definition import Definition
from .registry import registries

C = TypeVar("C", bound=type)
_METHODS = {"schedule": ("rate", ("base", "step", "total")), "initializer": ("draw", ("shape", "rng", "fans"))}
"""Method that a class of a kind needs, and its arguments."""


class Component(Definition):
    """A definition whose class has a method that is called with positional arguments."""

    def _check(self) -> None:
        super()._check()
        method, arguments = _METHODS[self.kind]
        call = getattr(self.owner, method, None)
        wanted = f"`def {method}(self, {', '.join(arguments)})`"
        if not callable(call):
            raise self.error(f"has no method `{method}`; write {wanted}")
        try:
            # At registration: otherwise it would fail in the first step of a training.
            inspect.signature(call).bind(self.owner, *arguments)
        except TypeError:
            found = f"`{method}{inspect.signature(call)}`"
            raise self.error(f"{found} cannot be called with {len(arguments)} arguments; write {wanted}") from None


def register(kind: str, name: str, options: dict[str, Any], make: type[Definition] = Definition) -> Callable[[C], C]:
    """The decorator that registers a class under a name, as a definition of this kind."""

    def mark(owner: C) -> C:
        registries[kind].add(make(kind, name, owner, **options))
        return owner

    return mark


def initializer(name: str, **options: Any) -> Callable[[C], C]:
    """Registers an initializer: `draw(shape, rng, fans)` returns the initial values of a parameter.

    Args:
        name: Name in network files.
        **options: `elsewhere` (names in other systems), `terms` (search terms), `since` (version).

    Returns:
        A class decorator that registers the class and returns it unchanged.

    Raises:
        DefinitionError: Invalid or duplicate name.

    Example::

        @initializer("uniform_around_one")
        class UniformAroundOne:
            "Uniform initialization around 1."

            width = Float("half the width of the interval", default=0.1, min=0)

            def draw(self, shape, rng, fans):
                return rng.uniform(1 - self.width, 1 + self.width, shape)
    """
    return register("initializer", name, options, Component)


def schedule(name: str, **options: Any) -> Callable[[C], C]:
    """Registers a learning-rate schedule: `rate(base, step, total)` returns the rate of a step, counted from 0.

    Args:
        name: Name in training files.
        **options: `elsewhere` (names in other systems), `terms` (search terms), `since` (version).

    Returns:
        A class decorator that registers the class and returns it unchanged.

    Raises:
        DefinitionError: Invalid or duplicate name.

    Example::

        @schedule("halving", terms=("step decay",))
        class Halving:
            "Halves the learning rate at regular intervals."

            every = Int("number of steps between two changes", min=1)

            def rate(self, base, step, total):
                return base * 0.5 ** (step // self.every)
    """
    return register("schedule", name, options, Component)


def source(name: str, **options: Any) -> Callable[[C], C]:
    """Registers a data source: `open(base)` returns a `Dataset`; relative paths start at the folder `base`.

    Args:
        name: Name in training files.
        **options: `elsewhere` (names in other systems), `terms` (search terms), `since` (version).

    Returns:
        A class decorator that registers the class and returns it unchanged.

    Raises:
        DefinitionError: Invalid or duplicate name.

    Example::

        @source("random_images")
        class RandomImages:
            "Images of uniform noise."

            rows = Int("number of samples", default=1000, min=1)

            def open(self, base):
                images = np.random.default_rng(0).random((self.rows, 3, 32, 32), np.float32)
                return Dataset({"image": images})
    """
    return register("source", name, options)


def transform(name: str, **options: Any) -> Callable[[C], C]:
    """Registers a transform of batches (preprocessing, augmentation): `output_shape(shape)` and `apply(batch, rng)`.

    Args:
        name: Name in training files.
        **options: `elsewhere` (names in other systems), `terms` (search terms), `since` (version).

    Returns:
        A class decorator that registers the class and returns it unchanged.

    Raises:
        DefinitionError: Invalid or duplicate name.

    Example::

        @transform("offset")
        class Offset:
            "Adds a constant to every value."

            amount = Float("constant")

            def output_shape(self, shape):
                return shape

            def apply(self, batch, rng):
                return batch + batch.dtype.type(self.amount)
    """
    return register("transform", name, options)


def callback(name: str, **options: Any) -> Callable[[C], C]:
    """Registers a callback: its methods `on_step`, `on_test_batch`, `on_test`, `on_epoch`, `on_end` are called.

    Args:
        name: Name in training files.
        **options: `elsewhere` (names in other systems), `terms` (search terms), `since` (version).

    Returns:
        A class decorator that registers the class and returns it unchanged.

    Raises:
        DefinitionError: Invalid or duplicate name.

    Example::

        @callback("stop_at")
        class StopAt:
            "Ends the training when the loss is small."

            loss = Float("loss at which the training ends", above=0)

            def on_step(self, run):
                if run.loss < self.loss:
                    run.stop(f"loss below {self.loss:g}")
    """
    return register("callback", name, options)
