"""Strategies of convolutions: kernels with the shapes that they suit, shared by images, volumes and their transposes.

The kernels are those of 3-D convolutions. Images are volumes with one plane, and a transposed convolution is the
gradient of a convolution: the same kernels with input and output exchanged. Host functions get a `ConvProblem`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from paddle_layers.kernels.constants import MAX_CHUNKS, MAX_TILES, NO_EPILOGUE
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
from .conv_tiling import ConvProblem, weight_items
from .winograd import transform_weight, transform_weight_back, winograd_conv

Host = Callable[[ConvProblem], Any]
MIRRORED = {"K": "C", "C": "K", "Z": "R", "R": "Z", "H": "P", "P": "H", "W": "Q", "Q": "W"}
"""Axes of a convolution and their counterparts in the transposed convolution, which reads the output and writes the
input.
"""
EXCHANGED = {"y": "dx", "dx": "y", "x": "dy", "dy": "x"}
"""Tensors of a convolution and their counterparts in the transposed convolution."""
OF_IMAGES = {"step": ("stride_y", "stride"), "ahead": ("padding_y", "padding"), "gap": ("dilation_y", "dilation")}
"""Attribute names of volumes and those of images."""
# An image has one plane, and filters of it one tap. Its plane axis has no padding, and stride and dilation 1.
ONE_PLANE = {"Z": 1, "E": 1, "R": 1, "step": 1, "ahead": 0, "gap": 1}
PLANES = ("Z", "E", "R")
"""Sizes that images do not have."""
ADDING = {"accumulate": "adding != 0"}
"""For kernels with a long source, which is then compiled once for both cases."""


def chunks(_: ConvProblem) -> int:
    """Work items of filter preparation: one run of filters each."""
    return MAX_CHUNKS


class Strategy(NamedTuple):
    """A kernel, host functions of its work items and scratch buffer, and the problems that it suits.

    With `first`, that kernel runs before it, and prepares what it reads.
    """

    kernel: Any
    items: Host
    scratch: Host | None = None
    when: Host | None = None
    runs: Host | None = None
    first: Any = None
    first_items: Host = chunks
    prepared: Host | None = None
    pass_name: str = ""
    arguments: Mapping[str, str] = {}


class Convolution(NamedTuple):
    """A layer whose kernels are those of a 3-D convolution."""

    layer: str
    images: bool = False
    transposed: bool = False

    def add(self, target: str, *strategies: Strategy) -> None:
        """Registers kernels for a target: the first strategy that accepts the problem is used."""
        for strategy in strategies:
            self._add(f"{self.layer}_{target}", target, strategy)

    def _add(self, function: str, target: str, strategy: Strategy) -> None:
        hosts = {"scratch": strategy.scratch, "when": strategy.when, "prepared": strategy.prepared}
        selection: dict[str, Any] = {name: self.host(host) for name, host in hosts.items() if host is not None}
        selection |= {"work": self.host(tiling.multiplications), "least": tiling.MIN_WORK, "scratch_per_chunk": True}
        items: dict[str, Any] = {"items": self.host(strategy.items)}
        if strategy.runs is not None:
            items["runs"] = self.host(strategy.runs)
        if strategy.first is not None:
            selection["items"] = self.host(strategy.first_items)
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
            values |= {name: f"({ONE_PLANE[name]}, {', '.join(names)})" for name, names in OF_IMAGES.items()}
        return IDENTIFIER.sub(lambda name: values.get(name[0], name[0]), text)

    def host(self, function: Host) -> Callable[..., Any]:
        """A function of a problem as one of the sizes and attributes of the layer, which it requests by name."""
        names = [MIRRORED.get(name, name) if self.transposed else name for name in ConvProblem._fields]
        if self.images:
            names = [part for name in names if name not in PLANES for part in OF_IMAGES.get(name, (name,))]

        def of_sizes(*values: Any) -> Any:
            return function(self._problem(dict(zip(names, values, strict=True))))

        kind = inspect.Parameter.POSITIONAL_ONLY
        vars(of_sizes)["__signature__"] = inspect.Signature([inspect.Parameter(name, kind) for name in names])
        return of_sizes

    def _problem(self, sizes: dict[str, Any]) -> ConvProblem:
        if self.images:
            sizes |= {name: ONE_PLANE[name] for name in PLANES}
            for name, (rows, columns) in OF_IMAGES.items():
                sizes[name] = (ONE_PLANE[name], sizes[rows], sizes[columns])
        names = ConvProblem._fields
        return ConvProblem(*(sizes[MIRRORED.get(name, name) if self.transposed else name] for name in names))

    def add_bias(self) -> None:
        """Registers the kernel of the bias gradient."""
        of_images = {"work": lambda N, K, P, Q: N * K * P * Q}
        work: dict[str, Any] = of_images if self.images else {"work": lambda N, K, R, P, Q: N * K * R * P * Q}
        settings: dict[str, Any] = {"items": lambda K: min(K, MAX_TILES), "least": tiling.MIN_BIAS_WORK}
        tuned(self.layer, f"{self.layer}_bias_gradient", **settings, **work)(add_deltas)


def of_output(function: Host) -> Host:
    """A function of a convolution as that of the equal convolution of the output, for the gradient of the input."""
    return lambda problem: function(problem.exchanged)


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
    winograd_conv, of_output(winograd.winograd_items), of_output(winograd.winograd_scratch),
    of_output(winograd.tiles_pay), first=transform_weight_back, prepared=of_output(winograd.filters_prepared),
    pass_name="winograd",
    # Padding of the transposed convolution: filter size - 1 - padding.
    arguments={**ADDING, "y": "dx", "x": "dy", "ahead": "(E-1-ahead[0],2-ahead[1],2-ahead[2])"},
)  # fmt: skip
PATCHES_BACK = Strategy(
    patches.col2im_gemm, patches.col2im_items, patches.col2im_scratch, patches.windows_suit,
    runs=tiling.input_planes, arguments={"small": "dy", "large": "dx"},
)  # fmt: skip
VECTORS_BACK = Strategy(
    vectors_of_volumes_back, tiling.vector_items_back, tiling.vector_scratch_back, tiling.vectors_pay_back,
    first=transpose_weight_back, prepared=of_output(tiling.prepared_vectors),
    arguments={**ADDING, "sizes": "(E, A, B)"},
)  # fmt: skip
DIRECT_BACK = Strategy(
    correlate_volumes_back, tiling.backward_items, tiling.backward_scratch, runs=tiling.backward_runs, arguments=ADDING
)  # fmt: skip

PATCHES_OF_WEIGHT = Strategy(
    patches.im2col_weight_gradient, patches.gradient_items, patches.gradient_scratch, patches.filters_suit,
    arguments={"small": "dy", "large": "x"},
)  # fmt: skip
DIRECT_OF_WEIGHT = Strategy(
    correlate_with_gradients, lambda problem: weight_items(problem.K, problem.D, problem.E, problem.groups),
    tiling.weight_scratch,
)  # fmt: skip

# Winograd, then kernels for particular windows, then the general ones.
FORWARD = (WINOGRAD, PATCHES, VECTORS, DIRECT)
BACKWARD = (WINOGRAD_BACK, PATCHES_BACK, VECTORS_BACK, DIRECT_BACK)
