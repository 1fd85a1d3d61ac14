"""Layers that move more than they compute, as texts for this library and as functions for PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.nn import functional

Shape = tuple[int, ...]
Compute = Callable[..., torch.Tensor]


@dataclass(frozen=True)
class Case:
    """A layer: its input `x` is the first of `shapes`, its parameters the others; `classes` makes a loss of it."""

    name: str
    kind: str
    settings: str
    rows: int
    shapes: tuple[Shape, ...]
    compute: Compute
    classes: int = 0

    @property
    def text(self) -> str:
        """The network."""
        label = f'layer {{ name: "label" type: "data" data {{ data_type: INT size: {self.classes} }} }}'
        reads = 'input: "x" propagate_down: true' + (' input: "label" propagate_down: false' if self.classes else "")
        return "\n".join(
            [
                f'layer {{ name: "x" type: "data" data {{ shape: {list(self.shapes[0])} }} }}',
                *([label] if self.classes else []),
                f'layer {{ name: "last" type: "{self.kind}" {reads} {self.kind} {{ {self.settings} }} }}',
            ]
        )


def of_images(rows: int, channels: int, side: int) -> list[Case]:
    """Layers of images."""
    shape = (channels, side, side)

    def case(kind: str, compute: Compute, settings: str = "", parameters: int = 0, name: str = "") -> Case:
        label = f"{name or kind}, {rows}x{channels}x{side}x{side}"
        return Case(label, kind, settings, rows, (shape, *[(channels,)] * parameters), compute)

    def pool(kind: str, size: int, stride: int, padding: int = 0) -> Case:
        compute = functional.max_pool2d if kind == "MAX" else functional.avg_pool2d
        settings = f"pool_type: {kind} pool_size: {size} stride: {stride} padding: {padding} rounding: FLOOR"
        name = f"{kind.lower()} pool {size}x{size} s{stride}"
        more = {} if kind == "MAX" else {"count_include_pad": False}
        return case("pool", lambda x: compute(x, size, stride, padding, **more), settings, name=name)

    def interpolation(kind: str, scale: int, corners: str = "") -> Case:
        how = {"ALIGNED": {"mode": "bilinear", "align_corners": True}, "HALF_PIXEL": {"mode": "bilinear"}}
        options = how.get(corners, {"mode": "nearest"})
        settings = f"scale: {scale}" + (f" corners: {corners}" if corners else "")
        name = " ".join(part for part in (kind, f"x{scale}", corners.lower()) if part)
        return case(kind, lambda x: functional.interpolate(x, scale_factor=scale, **options), settings, name=name)

    def mean(x: torch.Tensor) -> torch.Tensor:
        return functional.adaptive_avg_pool2d(x, 1)

    def batch_norm(x: torch.Tensor, gain: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return functional.batch_norm(x, torch.zeros(channels), torch.ones(channels), gain, bias, training=True)

    return [
        case("relu", functional.relu),
        case("sigmoid", torch.sigmoid),
        case("tanh", torch.tanh),
        case("elu", functional.elu),
        case("gelu", functional.gelu),
        case("gelu", lambda x: functional.gelu(x, approximate="tanh"), "approximate: TANH", name="gelu tanh"),
        case("dropout", functional.dropout),
        pool("MAX", 2, 2),
        pool("MAX", 3, 2),
        pool("MAX", 3, 1, 1),
        pool("AVERAGE", 2, 2),
        pool("AVERAGE", 3, 2),
        pool("AVERAGE", 3, 1, 1),
        case("pool", mean, "pool_type: AVERAGE global_pooling: true", name="global average pool"),
        case("batch_norm", batch_norm, parameters=2),
        case("lrn", lambda x: functional.local_response_norm(x, 5, 0.0128), "size: 5 scale: 0.0128"),
        case("softmax", lambda x: torch.softmax(x, 1), name="softmax of channels"),
        *(interpolation("bilinear_interp", 2, corners) for corners in ("ALIGNED", "HALF_PIXEL")),
        interpolation("bilinear_interp", 4, "ALIGNED"),
        interpolation("nearest_interp", 2),
    ]


def of_rows(rows: int, columns: int) -> list[Case]:
    """Layers of rows."""

    def case(kind: str, compute: Compute, settings: str = "", parameters: int = 0, classes: int = 0) -> Case:
        shapes = ((columns,), *[(columns,)] * parameters)
        return Case(f"{kind}, {rows}x{columns}", kind, settings, rows, shapes, compute, classes)

    return [
        case("layer_norm", lambda x, g, b: functional.layer_norm(x, (columns,), g, b), parameters=2),
        case("rms_norm", lambda x, g: functional.rms_norm(x, (columns,), g, 1e-5), parameters=1),
        case("softmax", lambda x: torch.softmax(x, 1)),
        case("softmax_with_loss", functional.cross_entropy, classes=columns),
    ]


SMALL = [*of_images(64, 20, 24), *of_rows(1024, 768), *of_rows(64, 10)[-1:], *of_rows(128, 1000)[-1:]]
LARGE = [*of_images(64, 64, 56), *of_rows(16384, 768)]


def residual_texts(width: int) -> str:
    """A chain with the convolutions and norms of ResNet-50 but those of its shortcuts: 149 parameters."""
    layers, before = [], "x"

    def conv(filters: int, size: int) -> None:
        nonlocal before
        name, at = f"conv{len(layers)}", size // 2
        settings = f"num_filters: {filters} filter_size: {size} padding: {at} bias: false"
        layers.append(f'layer {{ name: "{name}" type: "conv" input: "{before}" conv {{ {settings} }} }}')
        before = f"norm{len(layers)}"
        layers.append(f'layer {{ name: "{before}" type: "batch_norm" input: "{name}" }}')

    conv(width, 7)
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for _ in range(blocks):
            inner = width << stage
            for filters, size in ((inner, 1), (inner, 3), (4 * inner, 1)):
                conv(filters, size)
    data = 'layer { name: "x" type: "data" data { shape: [3, 1, 1] } }'
    last = f'layer {{ name: "last" type: "fc" input: "{before}" fc {{ size: 1000 }} }}'
    return "\n".join([data, *layers, last])
