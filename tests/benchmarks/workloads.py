"""The same work for this library and for PyTorch: networks and layers as text, and as modules.

PyTorch is imported when a module is made, so that the texts can be used without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Shape = tuple[int, ...]
Module = Callable[[], Any]
"""Makes a torch module."""


@dataclass(frozen=True)
class Workload:
    """Layers that end in one named `last`; they read `x`, further inputs are `x1`, `x2` ..."""

    name: str
    layers: str
    shapes: tuple[Shape, ...]
    """A row of each input."""
    rows: int
    module: Module
    classes: int = 0
    """Of a whole network, which is trained; 0 for a single layer."""

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs."""
        return ["x", *(f"x{place}" for place in range(1, len(self.shapes)))]

    def text(self, loss: bool = False) -> str:
        """The network as a config, with a loss to train it by if asked."""
        data = [
            f'layer {{ name: "{name}" type: "data" data {{ shape: {list(shape)} }} }}'
            for name, shape in zip(self.inputs, self.shapes, strict=True)
        ]
        if not loss:
            return "\n".join([*data, self.layers])
        label = f'layer {{ name: "label" type: "data" data {{ data_type: INT size: {self.classes} }} }}'
        cost = 'layer { name: "cost" type: "softmax_with_loss" input: "last" input: "label" }'
        return "\n".join([*data, label, self.layers, cost])

    def feeds(self) -> dict[str, Any]:
        """A batch with values of either sign."""
        rng = np.random.default_rng(0)
        return {
            name: rng.standard_normal((self.rows, *shape), np.float32)
            for name, shape in zip(self.inputs, self.shapes, strict=True)
        }

    def labels(self) -> dict[str, Any]:
        """The labels of the batch."""
        return {"label": np.random.default_rng(1).integers(0, self.classes, self.rows)}


def layer(name: str, kind: str, settings: str, shape: Shape, rows: int, module: Module, *, inputs: int = 1) -> Workload:
    """One layer with the gradients of its inputs."""
    reads = "".join(f' input: "{name}" propagate_down: true' for name in ("x", "x1", "x2")[:inputs])
    text = f'layer {{ name: "last" type: "{kind}"{reads} {kind} {{ {settings} }} }}'
    return Workload(name, text, (shape,) * inputs, rows, module)


def nn() -> Any:
    """torch.nn."""
    import torch

    return torch.nn


def conv(rows: int, channels: int, side: int, filters: int, size: int, **more: int) -> Workload:
    """A convolution of square images; `more` are attributes that torch calls the same."""
    settings = " ".join(f"{name}: {value}" for name, value in more.items())
    return layer(
        " ".join([f"conv {size}x{size} {channels}-{filters}", settings]).strip() + f", {rows}x{side}x{side}",
        "conv",
        f"num_filters: {filters} filter_size: {size} {settings}",
        (channels, side, side),
        rows,
        lambda: nn().Conv2d(channels, filters, size, **more),
    )


def pool(rows: int, channels: int, side: int, size: int, kind: str) -> Workload:
    """A pool of square images with the stride 2."""
    return layer(
        f"pool {kind} {size}x{size}, {rows}x{channels}x{side}x{side}",
        "pool",
        f"pool_type: {kind} pool_size: {size} stride: 2 rounding: FLOOR",
        (channels, side, side),
        rows,
        lambda: (nn().MaxPool2d if kind == "MAX" else nn().AvgPool2d)(size, 2),
    )


def memory_bound(rows: int, channels: int, side: int) -> list[Workload]:
    """Layers that move more than they compute, on images of one size, or on rows with as many numbers."""
    wide = channels * side

    def of(kind: str, module: Module, settings: str = "", inputs: int = 1) -> Workload:
        name = f"{kind}, {rows}x{channels}x{side}x{side}"
        return layer(name, kind, settings, (channels, side, side), rows, module, inputs=inputs)

    def of_rows(kind: str, module: Module) -> Workload:
        return layer(f"{kind}, {rows * side}x{wide}", kind, "", (wide,), rows * side, module)

    return [
        of("relu", lambda: nn().ReLU()),
        pool(rows, channels, side, 2, "MAX"),
        of("batch_norm", lambda: nn().BatchNorm2d(channels)),
        of("addto", lambda: function("add"), inputs=2),
        of("dropout", lambda: nn().Dropout()),
        of_rows("softmax", lambda: nn().Softmax(1)),
        of("softmax", lambda: nn().Softmax(1)),
        of("lrn", lambda: nn().LocalResponseNorm(5, 0.0128), "size: 5 scale: 0.0128"),
        pool(rows, channels, side, 3, "MAX"),
        pool(rows, channels, side, 2, "AVERAGE"),
        pool(rows, channels, side, 3, "AVERAGE"),
        of("concat", lambda: function("cat"), inputs=2),
        of_rows("layer_norm", lambda: nn().LayerNorm(wide)),
        of("sigmoid", lambda: nn().Sigmoid()),
        of("tanh", lambda: nn().Tanh()),
        of("eltwise", lambda: function("mul"), "operation: PROD", inputs=2),
        of("elu", lambda: nn().ELU()),
        of("gelu", lambda: nn().GELU()),
        of("prelu", lambda: nn().PReLU(channels)),
    ]


def function(name: str) -> Any:
    """A function of torch with two inputs as a module."""
    import torch

    class Function(torch.nn.Module):
        def forward(self, *inputs: torch.Tensor) -> Any:
            return torch.cat(inputs, 1) if name == "cat" else getattr(torch, name)(*inputs)

    return Function()
