"""The decorators of definitions that are no layers: initializers, schedules, sources, transforms, callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .definition import Definition
from .registry import registries

C = TypeVar("C", bound=type)


def register(kind: str, name: str, options: dict[str, Any], make: type[Definition] = Definition) -> Callable[[C], C]:
    """The decorator that registers a class under a name, as a definition of this kind."""

    def mark(owner: C) -> C:
        registries[kind].add(make(kind, name, owner, **options))
        return owner

    return mark


def initializer(name: str, **options: Any) -> Callable[[C], C]:
    """Register an initializer: `draw(shape, rng, fans)` gives the first values of a parameter."""
    return register("initializer", name, options)


def schedule(name: str, **options: Any) -> Callable[[C], C]:
    """Register a learning-rate schedule: `rate(base, step, total)` gives the rate of a step, counted from 0."""
    return register("schedule", name, options)


def source(name: str, **options: Any) -> Callable[[C], C]:
    """Register a data source: `open(base)` gives a dataset; relative paths start at the folder `base`."""
    return register("source", name, options)


def transform(name: str, **options: Any) -> Callable[[C], C]:
    """Register a transform of batches: `output_shape(shape)` and `apply(batch, rng)`."""
    return register("transform", name, options)


def callback(name: str, **options: Any) -> Callable[[C], C]:
    """Register a callback: methods `on_step`, `on_test_batch`, `on_test`, `on_epoch`, `on_end` are called."""
    return register("callback", name, options)
