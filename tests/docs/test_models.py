"""The models of docs/examples/models: their sizes are the published ones."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config import Node, format_text
from paddle_layers.config.conversion import converted
from paddle_layers.config.wiring.nodes import parameter_shapes

MODELS = Path(__file__).resolve().parents[2] / "docs" / "examples" / "models"
SIDE_HEADS = {"googlenet": 13_004_888, "inception_v3": 27_161_264}
"""Trained numbers with the layers that are there in training only."""

PUBLISHED = {
    "mlp": (669_706, 0.7),
    "lenet": (431_080, 2.3),
    "alexnet": (61_100_840, 714),
    "vgg16": (138_357_544, 15_470),
    "googlenet": (6_624_904, 1_498),
    "resnet18": (11_689_512, 1_814),
    "resnet50": (25_557_032, 4_089),
    "inception_v3": (23_834_568, 5_713),
    "squeezenet": (1_235_496, 349),
    "densenet121": (7_978_856, 2_834),
    "mobilenet_v1": (4_231_976, 569),
    "mobilenet_v2": (3_504_872, 301),
}
"""Trained numbers, and millions of multiply-adds: torchvision's; of LeNet Caffe's, of MobileNet v1 the paper's."""

SHAPES = {
    "mlp": "512 512 10",
    "lenet": "20x24x24 20x12x12 50x8x8 50x4x4 500 10",
    "alexnet": "64x55x55 64x27x27 192x27x27 192x13x13 384x13x13 256x13x13 256x13x13 256x6x6 4096 4096 1000",
    "vgg16": "64x112x112 128x56x56 256x28x28 512x14x14 512x7x7 4096 4096 1000",
    "googlenet": "64x112x112 64x56x56 64x56x56 192x56x56 192x28x28 256x28x28 480x28x28 480x14x14 512x14x14 512x14x14 "
    "512x14x14 528x14x14 832x14x14 832x7x7 832x7x7 1024x7x7 1024x1x1 1000",
    "resnet18": "64x112x112 64x112x112 64x56x56 64x56x56 64x56x56 128x28x28 128x28x28 256x14x14 256x14x14 512x7x7 "
    "512x7x7 512x1x1 1000",
    "resnet50": "64x112x112 64x56x56 256x56x56 256x56x56 256x56x56 512x28x28 512x28x28 512x28x28 1024x14x14 1024x14x14 "
    "1024x14x14 2048x7x7 2048x7x7 2048x7x7 2048x1x1 1000",
    "inception_v3": "32x149x149 32x147x147 64x147x147 64x73x73 80x73x73 192x71x71 192x35x35 256x35x35 288x35x35 "
    "768x17x17 768x17x17 768x17x17 768x17x17 1280x8x8 2048x8x8 2048x1x1 1000",
    "squeezenet": "64x111x111 64x55x55 128x55x55 128x55x55 128x27x27 256x27x27 256x27x27 256x13x13 384x13x13 384x13x13 "
    "512x13x13 512x13x13 512x13x13 1000x13x13 1000x1x1 1000",
    "densenet121": "64x112x112 64x112x112 64x56x56 256x56x56 128x28x28 512x28x28 256x14x14 1024x14x14 512x7x7 1024x7x7 "
    "1024x7x7 1024x1x1 1000",
    "mobilenet_v1": "32x112x112 32x112x112 64x112x112 128x56x56 128x56x56 256x28x28 256x28x28 512x14x14 512x14x14 "
    "1024x7x7 1024x7x7 1024x1x1 1000",
    "mobilenet_v2": "32x112x112 16x112x112 24x56x56 24x56x56 32x28x28 32x28x28 64x14x14 64x14x14 96x14x14 96x14x14 "
    "160x7x7 160x7x7 320x7x7 1280x7x7 1280x1x1 1000",
}
"""What each layer of the test phase gives, between the data and the cost."""


def path_of(name: str) -> Path:
    return MODELS / f"{name}.textproto"


def leaves(nodes: Iterable[Node]) -> Iterator[Node]:
    """Layers that are made of no others."""
    for node in nodes:
        if node.inside is None:
            yield node
        else:
            yield from leaves(node.inside.nodes)


def parameters(nodes: Iterable[Node]) -> int:
    return sum(math.prod(shape) for node in nodes for shape in parameter_shapes(node).values())


def multiply_adds(nodes: Iterable[Node]) -> int:
    """Of convolutions and full connections, for one image: a weight is used once for each pixel of the output."""
    total = 0
    for node in leaves(nodes):
        if node.definition.name in ("conv", "fc"):
            weights = [math.prod(shape) for name, shape in parameter_shapes(node).items() if name.startswith("weight")]
            total += sum(weights) * math.prod(node.output_types[0].dims[1:])
    return total


def test_every_model_is_there() -> None:
    assert {path.stem for path in MODELS.glob("*.textproto")} == set(PUBLISHED) == set(SHAPES)


@pytest.mark.parametrize("name", PUBLISHED)
def test_sizes_are_the_published_ones(name: str) -> None:
    network = pl.load(path_of(name))
    tested, (count, millions) = network.select("test").nodes, PUBLISHED[name]
    assert parameters(tested) == count
    assert parameters(network.select("train").nodes) == SIDE_HEADS.get(name, count)
    assert multiply_adds(tested) / 1e6 == pytest.approx(millions, abs=0.5 if millions > 10 else 0.05)
    ends = ("data", "softmax_with_loss", "accuracy")
    assert [str(node.output_types[0]) for node in tested if node.definition.name not in ends] == SHAPES[name].split()


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_page_tells_its_sizes(name: str) -> None:
    (row,) = [
        line for line in (MODELS / "README.md").read_text().splitlines() if line.startswith(f"| `{name}.textproto`")
    ]
    count, millions = PUBLISHED[name]
    numbers = f"{count:,}" + (f" ({SIDE_HEADS[name]:,})" if name in SIDE_HEADS else "")
    lines = len(path_of(name).read_text().splitlines())
    assert row.startswith(f"| `{name}.textproto` | {numbers} | {millions:,} million | {lines} |")


def test_resnet50_is_short() -> None:
    assert len(path_of("resnet50").read_text().splitlines()) <= 60


@pytest.mark.parametrize("name", PUBLISHED)
def test_formatted_and_the_same_everywhere(name: str, tmp_path: Path) -> None:
    text = path_of(name).read_text()
    assert format_text(text) == text
    network = pl.load(path_of(name))
    assert pl.dumps(pl.loads(pl.dumps(network))) == pl.dumps(network)
    for kind, ending in (("JSON", "json"), ("binary", "binpb")):
        other = tmp_path / f"{name}.{ending}"
        other.write_bytes(converted(path_of(name), kind)[0])
        assert pl.dumps(pl.load(other)) == pl.dumps(network)


@pytest.mark.parametrize("name", PUBLISHED)
def test_validated_at_once(name: str) -> None:
    start = time.process_time()
    pl.load(path_of(name))
    assert time.process_time() - start < 1


SMALLER = {"inception_v3": 107, "googlenet": 80, "alexnet": 63, "squeezenet": 31, "mlp": 28, "lenet": 28}
"""Sides of images that the layers still fit; 32 for the others."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_one_step_of_training(name: str) -> None:
    side = SMALLER.get(name, 32)
    text = re.sub(r"shape: \[(\d), \d+, \d+\]", rf"shape: [\1, {side}, {side}]", path_of(name).read_text())
    text = re.sub(r"\bsize: 4096\b", "size: 64", text)
    network = pl.loads(text.replace("pool_size: 5 stride: 3", "pool_size: 1 stride: 1"))
    rng = np.random.default_rng(0)
    channels = network["image"].output_types[0].dims[0]
    feed = {"image": rng.normal(size=(2, channels, side, side)).astype(np.float32), "label": np.array([1, 2])}
    with pl.Net(network, seed=1) as net:
        assert np.isfinite(net.forward(feed)["cost"]).all()
        net.backward()
        still = [own for own, parameter in net.parameters.items() if parameter.gradient is None]
        assert all(own.endswith((".running_mean", ".running_var")) for own in still)
        assert all(np.isfinite(p.gradient).all() for p in net.parameters.values() if p.gradient is not None)
        assert np.isfinite(net.forward(feed, phase="test")["cost"]).all()
