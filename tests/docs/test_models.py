"""The models of docs/examples/models: their sizes are the published ones."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config import Node, format_text
from paddle_layers.config.conversion import converted
from paddle_layers.config.wiring.nodes import parameter_shapes
from paddle_layers.runtime.graph.building import parameter_shapes as all_shapes
from tests.selection import later_unless_changed

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

OTHERS = {
    "bert": 109_514_298,
    "gpt2": 124_439_808,
    "llama": 55_321_088,
    "lstm": 19_775_200,
    "t5": 60_506_624 - 2 * 32 * 8,
    "two_tower": 676_208,
    "vit_b16": 86_567_656,
}
"""Trained numbers of the other networks: Hugging Face's (T5 without its two tables of relative positions) and
torchvision's; of Zaremba et al. 20 million; of `llama` and `two_tower` their formulas below.
"""
LLAMA = 2 * 32_000 * 512 + 8 * (2 * 512 * 512 + 2 * 512 * 128 + 3 * 512 * 1408 + 2 * 512) + 512
USERS = 6041 * 64 + 7 * 8 + 21 * 8 + (80 * 128 + 128) + (128 * 64 + 64)
FILMS = 3953 * 64 + 18 * 8 + (72 * 128 + 128) + (128 * 64 + 64)
SMALL = {
    "bert": {"30522": 29, "768": 16, "3072": 24, "heads = 12": "heads = 4"},
    "gpt2": {"50257": 29, "768": 16, "3072": 24, "heads = 12": "heads = 4"},
    "llama": {"32000": 29, "512": 16, "1408": 24, "head_size = 64": "head_size = 4", "heads = 8": "heads = 4"},
    "lstm": {"10000": 29, "650": 8},
    "t5": {"32128": 29, "512": 16, "2048": 24},
    "two_tower": {"6041": 29, "3953": 29, "64": 8},
    "vit_b16": {"768": 16, "3072": 24, "224, 224": "32, 32", "1000": 7, "heads = 12": "heads = 4"},
}
"""Smaller sizes for a step of training, by the text of the config."""


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


def trained_numbers(name: str) -> int:
    """Shared parameters count once."""
    shapes = all_shapes(pl.load(path_of(name)), "float32")
    return sum(map(math.prod, shapes.values()))


def multiply_adds(nodes: Iterable[Node]) -> int:
    """Of convolutions and full connections, for one image: a weight is used once for each pixel of the output."""
    total = 0
    for node in leaves(nodes):
        if node.definition.name in ("conv", "fc"):
            weights = [math.prod(shape) for name, shape in parameter_shapes(node).items() if name.startswith("weight")]
            total += sum(weights) * math.prod(node.output_types[0].dims[1:])
    return total


def test_every_model_is_there() -> None:
    assert {path.stem for path in MODELS.glob("*.textproto")} == {*PUBLISHED, *OTHERS}
    assert set(PUBLISHED) == set(SHAPES)


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


@pytest.mark.parametrize("name", OTHERS)
def test_other_networks_have_the_published_numbers_of_parameters(name: str) -> None:
    assert trained_numbers(name) == OTHERS[name]
    lines = len(path_of(name).read_text().splitlines())
    assert f"| `{name}.textproto` | {OTHERS[name]:,} | {lines} |" in (MODELS / "README.md").read_text()


def test_numbers_without_a_publication_follow_from_the_sizes() -> None:
    assert OTHERS["llama"] == LLAMA
    assert OTHERS["two_tower"] == USERS + FILMS


def test_resnet50_is_short() -> None:
    assert len(path_of("resnet50").read_text().splitlines()) <= 60


@pytest.mark.parametrize("name", [*PUBLISHED, *OTHERS])
def test_formatted_and_the_same_everywhere(name: str, tmp_path: Path) -> None:
    text = path_of(name).read_text()
    assert format_text(text) == text
    network = pl.load(path_of(name))
    assert pl.dumps(pl.loads(pl.dumps(network))) == pl.dumps(network)
    for kind, ending in (("JSON", "json"), ("binary", "binpb")):
        other = tmp_path / f"{name}.{ending}"
        other.write_bytes(converted(path_of(name), kind)[0])
        assert pl.dumps(pl.load(other)) == pl.dumps(network)


@pytest.mark.parametrize("name", [*PUBLISHED, *OTHERS])
def test_validated_at_once(name: str) -> None:
    start = time.process_time()
    pl.load(path_of(name))
    assert time.process_time() - start < 1


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_one_step_of_training_of_other_networks(name: str) -> None:
    text = re.sub(r"times: \d+", "times: 2", path_of(name).read_text())
    for old, new in SMALL[name].items():
        assert re.search(rf"\b{old}\b", text)
        text = re.sub(rf"\b{old}\b", str(new), text)
    network, rng, starts = pl.loads(text), np.random.default_rng(0), np.array([0, 3, 10])
    feed: dict[str, Any] = {}
    for node in network.nodes:
        if not node.definition.inputs:
            type_ = node.output_types[0]
            count = 10 if type_.level else 2
            if type_.kind == "SPARSE_INT":
                feed[node.name] = [[1, 5], []]
            else:
                ids = type_.kind == "INT"
                array = rng.integers(0, type_.size, count) if ids else rng.uniform(0, 1, (count, *type_.dims))
                feed[node.name] = pl.Sequences(array, starts) if type_.level else array
    with pl.Net(network, seed=1) as net:
        net.forward(feed)
        net.backward()
        assert np.isfinite(net.loss)
        for parameter in net.parameters.values():
            assert np.isfinite(parameter.gradient).all()
            assert parameter.gradient.any()


SMALLER = {"inception_v3": 107, "googlenet": 80, "alexnet": 63, "squeezenet": 31, "mlp": 28, "lenet": 28}
"""Sides of images that the layers still fit; 32 for the others."""


SIMILAR = ("alexnet", "vgg16", "googlenet", "inception_v3", "squeezenet")
"""Models whose layers others have, too."""
TRAINED = [
    pytest.param(name, marks=later_unless_changed(str(path_of(name))) if name in SIMILAR else ()) for name in PUBLISHED
]


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINED)
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
