"""Pools of regions beside PyTorch on the CPU: 64 boxes of two maps of 256x14x14, each to 7x7.

    python -m tests.benchmarks.bench_regions [--rounds 15]

PyTorch must be installed; without torchvision, `adaptive_max_pool2d` of each box and `grid_sample` of all boxes of a
map stand for what can be written in it. One thread; milliseconds of processor time, the least of the rounds, in which
the sides take turns. Both give the same numbers, which is checked first; ours lie on the device.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

import paddle_layers as pl
from paddle_layers.runtime import Sequences

from .bench_kernels import set_threads

IMAGES, CHANNELS, SIZE, BOXES, BINS, STRIDE = 2, 256, 14, 32, 7, 16
TEXT = """
layer {{ name: "x" type: "data" data {{ shape: [{channels}, {size}, {size}] }} }}
layer {{ name: "box" type: "data" data {{ shape: 4 seq_nested_level: 1 }} }}
layer {{
  name: "y"
  type: "{layer}"
  input: "x"
  input: "box"
  propagate_down: [true, false]
  {layer} {{ pooled_width: {bins} spatial_scale: {scale} {settings} }}
}}
"""


def largest(x: torch.Tensor, boxes: torch.Tensor) -> torch.Tensor:
    """`roi_pool` of boxes whose corners lie in the map."""
    corners = torch.floor(boxes / STRIDE + 0.5).int().tolist()
    parts = [
        functional.adaptive_max_pool2d(x[row // BOXES, :, y1 : y2 + 1, x1 : x2 + 1], BINS)
        for row, (x1, y1, x2, y2) in enumerate(corners)
    ]
    return torch.stack(parts)


def aligned(x: torch.Tensor, boxes: torch.Tensor) -> torch.Tensor:
    """`roi_align` with two places across a bin and two down."""
    share = (torch.arange(2 * BINS) + 0.5) / (2 * BINS)
    parts = []
    for image, own in enumerate(boxes.reshape(IMAGES, BOXES, 4) / STRIDE):
        low, high = own[:, None, :2], own[:, None, 2:]
        places = (low + share[:, None] * (high - low)) / SIZE * 2 - 1
        across, down = (places[:, None, :, 0], places[:, :, None, 1])
        grid = torch.stack(torch.broadcast_tensors(across, down), -1)
        maps = x[image : image + 1].expand(BOXES, -1, -1, -1)
        found = functional.grid_sample(maps, grid, align_corners=False, padding_mode="border")
        parts.append(functional.avg_pool2d(found, 2))
    return torch.cat(parts)


def compare(layer: str, settings: str, theirs: Callable[..., torch.Tensor], rounds: int) -> None:
    """Print a line for each direction."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((IMAGES, CHANNELS, SIZE, SIZE), np.float32)
    low = rng.uniform(0, 8, (IMAGES * BOXES, 2))
    corners = np.concatenate([low, np.minimum(low + rng.uniform(2, 8, low.shape), SIZE - 1)], axis=1)
    boxes = (corners * STRIDE).astype(np.float32)
    text = TEXT.format(channels=CHANNELS, size=SIZE, layer=layer, bins=BINS, scale=1 / STRIDE, settings=settings)
    starts = np.arange(IMAGES + 1) * BOXES
    feeds = {"x": x, "box": Sequences(boxes, starts)}
    there = torch.tensor(x, requires_grad=True)
    slope = torch.tensor(rng.standard_normal((IMAGES * BOXES, CHANNELS, BINS, BINS), np.float32))
    with pl.Net(pl.loads(text), keep=["x"]) as net:
        result = theirs(there, torch.tensor(boxes))
        np.testing.assert_allclose(net.forward(feeds)["y"].data, result.detach().numpy(), atol=1e-4)
        net.backward(gradients={"y": Sequences(slope.numpy(), starts)})
        plan = net.plan("train")
        sides: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "forward": (plan.forward, lambda: theirs(there, torch.tensor(boxes))),
            "backward": (plan.backward, lambda: torch.autograd.grad(result, there, slope, retain_graph=True)),
        }
        for direction, both in sides.items():
            least = [float("inf")] * 2
            for _ in range(rounds + 1):  # one to compile
                for side, run in enumerate(both):
                    begin = time.process_time()
                    run()
                    least[side] = min(least[side], 1e3 * (time.process_time() - begin))
            print(
                f"{layer:10} {direction:9} {least[0]:6.1f} {least[1]:6.1f}  ratio {least[1] / least[0]:.2f}", flush=True
            )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.bench_regions", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    set_threads(1)
    torch.set_num_threads(1)
    print("                       ours  torch")
    compare("roi_pool", "", largest, rounds)
    compare("roi_align", "sampling_ratio: 2", aligned, rounds)


if __name__ == "__main__":
    main()
