"""Host functions of a 3-D convolution's sizes, adapted to images and to the transposed convolution."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

MIRRORED = {"K": "C", "C": "K", "Z": "R", "R": "Z", "H": "P", "P": "H", "W": "Q", "Q": "W"}
"""Axes of a convolution and their counterparts in the transposed convolution, which reads the output and writes the
input.
"""
OF_IMAGES = {"step": ("stride_y", "stride"), "ahead": ("padding_y", "padding"), "gap": ("dilation_y", "dilation")}
"""Attribute names of volumes and those of images."""


class _Asking:
    """A function with parameter names that are known only at creation; `inspect` reads them from the signature."""

    def __init__(self, names: list[str], answer: Callable[[Mapping[str, int]], Any]) -> None:
        kind = inspect.Parameter.POSITIONAL_ONLY
        self.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])
        self._names, self._answer = names, answer

    def __call__(self, *values: int) -> Any:
        return self._answer(dict(zip(self._names, values, strict=True)))


def mirrored(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adapts a function of a convolution's sizes and attributes to the transposed convolution."""
    names = list(inspect.signature(function).parameters)
    return _Asking([MIRRORED.get(name, name) for name in names], lambda given: function(*given.values()))


def of_images(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adapts a function of the sizes and attributes of a 3-D convolution to images."""
    one_plane, names = {"Z": 1, "E": 1, "R": 1}, list(inspect.signature(function).parameters)
    asked = [name for name in names if name not in one_plane]

    def answer(given: Mapping[str, int]) -> Any:
        sizes: dict[str, Any] = {**one_plane, **given}
        for name, (of_rows, of_columns) in OF_IMAGES.items():
            if name in asked:
                # The plane axis of an image has no padding, and stride and dilation 1.
                sizes[name] = (0 if name == "ahead" else 1, given[of_rows], given[of_columns])
        return function(*(sizes[name] for name in names))

    return _Asking([part for name in asked for part in OF_IMAGES.get(name, (name,))], answer)
