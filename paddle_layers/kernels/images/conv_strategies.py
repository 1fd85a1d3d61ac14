"""Strategies of convolutions: kernels with the shapes that they suit, shared by images, volumes and their transposes.

The kernels are those of 3-D convolutions. Images are volumes with one plane, and a transposed convolution is the
gradient of a convolution: the same kernels with input and output exchanged.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from paddle_layers.kernels.constants import NO_EPILOGUE
from paddle_layers.kernels.tuned import IDENTIFIER, tuned

from . import conv_tiling as tiling
from . import patchify_conv as patches
from . import winograd_tiling as winograd
from .batched_conv import (
    add_deltas,
    correlate_volumes,
    correlate_volumes_back,
    correlate_with_gradients,
    transpose_weight,
    transpose_weight_back,
    vectors_of_volumes,
    vectors_of_volumes_back,
)
from .winograd import transform_weight, transform_weight_back, winograd_conv

Host = Callable[..., Any]
MIRRORED = {"K": "C", "C": "K", "Z": "R", "R": "Z", "H": "P", "P": "H", "W": "Q", "Q": "W"}
"""Axes of a convolution and their counterparts in the transposed convolution, which reads the output and writes the
input.
"""
EXCHANGED = {"y": "dx", "dx": "y", "x": "dy", "dy": "x"}
"""Tensors of a convolution and their counterparts in the transposed convolution."""
OF_IMAGES = {"step": ("stride_y", "stride"), "ahead": ("padding_y", "padding"), "gap": ("dilation_y", "dilation")}
"""Attribute names of volumes and those of images."""
# The plane axis of an image has no padding, and stride and dilation 1.
FIRST_OF = {"step": 1, "ahead": 0, "gap": 1}
ADDING = {"accumulate": "adding != 0"}
"""For kernels with a long source, which is then compiled once for both cases."""


class Strategy(NamedTuple):
    """A kernel, host functions of its work items and scratch buffer, and the shapes that it suits.

    With `first`, that kernel runs before it, and prepares what it reads.
    """

    kernel: Any
    items: Host
    scratch: Host | None = None
    when: Host | None = None
    runs: Host | None = None
    first: Any = None
    first_items: Host = tiling.chunks
    prepared: Host | None = None
    pass_name: str = ""
    arguments: Mapping[str, str] = {}


class Convolution(NamedTuple):
    """A layer whose kernels are those of a 3-D convolution."""

    layer: str
    images: bool = False
    transposed: bool = False

    def add(self, target: str, *strategies: Strategy) -> None:
        """Registers kernels for a target: the first strategy that accepts the sizes is used."""
        for strategy in strategies:
            self._add(f"{self.layer}_{target}", target, strategy)

    def _add(self, function: str, target: str, strategy: Strategy) -> None:
        hosts = {"scratch": strategy.scratch, "when": strategy.when, "prepared": strategy.prepared}
        selection: dict[str, Any] = {name: self._host(host) for name, host in hosts.items() if host is not None}
        selection |= {"work": self._host(tiling.multiplications), "least": tiling.MIN_WORK, "scratch_per_chunk": True}
        items: dict[str, Any] = {"items": self._host(strategy.items)}
        if strategy.runs is not None:
            items["runs"] = self._host(strategy.runs)
        if strategy.first is not None:
            selection["items"] = self._host(strategy.first_items)
            self._tuned(function, target, strategy.first, strategy, pass_name=strategy.pass_name, **selection)
            selection = {"after": strategy.first}
        else:
            selection["pass_name"] = strategy.pass_name
        self._tuned(function, target, strategy.kernel, strategy, **selection, **items)

    def _tuned(self, function: str, target: str, kernel: Any, strategy: Strategy, **settings: Any) -> None:
        names = [*inspect.signature(kernel.py_func).parameters]
        arguments = {name: self._text(strategy.arguments.get(name, name), target) for name in names}
        tuned(self.layer, function, arguments=arguments, **settings)(kernel)

    def _text(self, text: str, target: str) -> str:
        """An expression of tensors and attributes of a 3-D convolution in those of the layer."""
        values = EXCHANGED if self.transposed else {}
        if target != "y":
            values = {**values, "epilogue": repr(NO_EPILOGUE)}
        if self.images:
            values = {**values, "E": "1"}
            values |= {name: f"({FIRST_OF[name]}, {', '.join(names)})" for name, names in OF_IMAGES.items()}
        return IDENTIFIER.sub(lambda name: values.get(name[0], name[0]), text)

    def _host(self, function: Host) -> Host:
        """A function of the sizes and attributes of a 3-D convolution as one of those of the layer."""
        adapted = of_images(function) if self.images else function
        return mirrored(adapted) if self.transposed else adapted

    def add_bias(self) -> None:
        """Registers the kernel of the bias gradient."""
        work = of_images(tiling.outputs) if self.images else tiling.outputs
        settings: dict[str, Any] = {"items": tiling.filter_tiles, "work": work, "least": tiling.MIN_BIAS_WORK}
        tuned(self.layer, f"{self.layer}_bias_gradient", **settings)(add_deltas)


class _Asking:
    """A function with parameter names that are known only at creation; `inspect` reads them from the signature."""

    def __init__(self, names: list[str], answer: Callable[[Mapping[str, int]], Any]) -> None:
        kind = inspect.Parameter.POSITIONAL_ONLY
        self.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])
        self._names, self._answer = names, answer

    def __call__(self, *values: int) -> Any:
        return self._answer(dict(zip(self._names, values, strict=True)))


def mirrored(function: Host) -> Host:
    """Adapts a function of a convolution's sizes and attributes to the transposed convolution."""
    names = list(inspect.signature(function).parameters)
    return _Asking([MIRRORED.get(name, name) for name in names], lambda given: function(*given.values()))


def of_images(function: Host) -> Host:
    """Adapts a function of the sizes and attributes of a 3-D convolution to images."""
    one_plane, names = {"Z": 1, "E": 1, "R": 1}, list(inspect.signature(function).parameters)
    asked = [name for name in names if name not in one_plane]

    def answer(given: Mapping[str, int]) -> Any:
        sizes: dict[str, Any] = {**one_plane, **given}
        for name, (of_rows, of_columns) in OF_IMAGES.items():
            if name in asked:
                sizes[name] = (FIRST_OF[name], given[of_rows], given[of_columns])
        return function(*(sizes[name] for name in names))

    return _Asking([part for name in asked for part in OF_IMAGES.get(name, (name,))], answer)


WINOGRAD = Strategy(
    winograd_conv, winograd.winograd_items, winograd.winograd_scratch, winograd.tiles_pay, first=transform_weight,
    prepared=winograd.filters_prepared, pass_name="winograd", arguments=ADDING,
)  # fmt: skip
PATCHES = Strategy(
    patches.im2col_gemm, patches.im2col_items, patches.im2col_scratch, patches.windows_suit,
    runs=tiling.output_planes, arguments={"small": "y", "large": "x"},
)  # fmt: skip
VECTORS = Strategy(
    vectors_of_volumes, tiling.vector_items, tiling.vector_scratch, tiling.vectors_pay, first=transpose_weight,
    prepared=tiling.prepared_vectors, arguments={"sizes": "(E, A, B)"},
)  # fmt: skip
DIRECT = Strategy(correlate_volumes, tiling.forward_items, tiling.forward_scratch, runs=tiling.forward_runs)

WINOGRAD_BACK = Strategy(
    winograd_conv, winograd.winograd_items_back, winograd.winograd_scratch_back, winograd.tiles_pay_back,
    first=transform_weight_back, prepared=winograd.filters_prepared_back, pass_name="winograd",
    # Padding of the transposed convolution: filter size - 1 - padding.
    arguments={**ADDING, "y": "dx", "x": "dy", "ahead": "(E-1-ahead[0],2-ahead[1],2-ahead[2])"},
)  # fmt: skip
PATCHES_BACK = Strategy(
    patches.col2im_gemm, patches.col2im_items, patches.col2im_scratch, patches.windows_suit,
    runs=tiling.input_planes, arguments={"small": "dy", "large": "dx"},
)  # fmt: skip
VECTORS_BACK = Strategy(
    vectors_of_volumes_back, tiling.vector_items_back, tiling.vector_scratch_back, tiling.vectors_pay_back,
    first=transpose_weight_back, prepared=tiling.prepared_vectors_back, arguments={**ADDING, "sizes": "(E, A, B)"},
)  # fmt: skip
DIRECT_BACK = Strategy(
    correlate_volumes_back, tiling.backward_items, tiling.backward_scratch, runs=tiling.backward_runs, arguments=ADDING
)  # fmt: skip

PATCHES_OF_WEIGHT = Strategy(
    patches.im2col_weight_gradient, patches.gradient_items, patches.gradient_scratch, patches.filters_suit,
    arguments={"small": "dy", "large": "x"},
)  # fmt: skip
DIRECT_OF_WEIGHT = Strategy(correlate_with_gradients, tiling.weight_items, tiling.weight_scratch)

# Winograd, then kernels for particular windows, then the general ones.
FORWARD = (WINOGRAD, PATCHES, VECTORS, DIRECT)
BACKWARD = (WINOGRAD_BACK, PATCHES_BACK, VECTORS_BACK, DIRECT_BACK)
