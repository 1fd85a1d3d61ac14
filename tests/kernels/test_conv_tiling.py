"""How kernels of images are cut: the runs of small sizes, and a bounded time for sizes that nobody can compute."""

from __future__ import annotations

import contextlib
import re
import time

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config import ConfigError
from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.kernels.images.conv_tiling import FEW, LARGEST, SHORTEST, image_parts
from paddle_layers.kernels.images.filter_vectorized_conv import most_vector_images, vector_parts
from paddle_layers.kernels.images.winograd_tiling import ITEMS, tile_parts
from paddle_layers.kernels.images.winograd_tiling import SHORTEST as TILED_FILTERS
from paddle_layers.kernels.primitives.microkernels import LANES
from paddle_layers.runtime.devices import DeviceError
from paddle_layers.runtime.plan.dry_run import footprint
from paddle_layers.testing.cases.case import all_cases

LARGE = 2**31 - 1
SECONDS = 10
"""For a footprint, which takes milliseconds; a loop over all filters took a minute."""


def test_runs_are_the_first_divisor_that_is_enough() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        N, images, rows, numbers = (int(2 ** rng.uniform(0, most)) for most in (6, 3, 12, 16))
        wanted, runs = MAX_CHUNKS if images == 1 else FEW, 1
        for count in range(2, rows // (SHORTEST * min(images, 2)) + 1):
            few = N // images * runs < wanted or images * rows // runs * numbers > LARGEST
            runs = count if few and rows % count == 0 else runs
        assert image_parts(N, images, rows, numbers) == runs
        _, runs_of_vectors = vector_parts(N, rows, 1, numbers, numbers)
        assert most_vector_images(N, 1, numbers, numbers) == 1
        runs = 1
        for count in range(2, rows // LANES + 1):
            runs = count if N * runs < MAX_CHUNKS and rows % (count * LANES) == 0 else runs
        assert runs_of_vectors == runs
        planes, parts, runs_of_filters = tile_parts(N, rows, images, images)
        runs = 1
        for count in range(2, rows // TILED_FILTERS + 1):
            runs = count if planes == 1 and N * parts * runs < ITEMS and rows % count == 0 else runs
        assert runs_of_filters == runs


def assert_footprint_is_quick(text: str) -> None:
    try:
        network = pl.loads(text)
    except ConfigError:
        return
    before = time.process_time()
    with contextlib.suppress(DeviceError):  # more bytes than can be addressed
        footprint(network, 64)
    assert time.process_time() - before < SECONDS, text


@pytest.mark.filterwarnings("ignore:.*needs:paddle_layers.config.ConfigWarning")
@pytest.mark.parametrize(
    ("shape", "conv"),
    [
        ("[1048576, 3, 3]", f"num_filters: {LARGE}"),
        (f"[{LARGE}, 3, 3]", "num_filters: 2"),
        ("[64, 12, 12]", f"num_filters: {LARGE} filter_size: 3"),
        (f"[{2**40}, 3, 3]", f"num_filters: {LARGE} filter_size: 3"),
    ],
)
def test_memory_of_a_convolution_is_known_in_no_time_whatever_its_size(shape: str, conv: str) -> None:
    assert_footprint_is_quick(
        f'layer {{ name: "x" type: "data" data {{ shape: {shape} }} }}\n'
        f'layer {{ name: "y" type: "conv" input: "x" conv {{ {conv} }} }}'
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::paddle_layers.config.ConfigWarning")
@pytest.mark.parametrize("layer", list(pl.registry))
def test_the_footprint_of_every_layer_takes_no_time_that_grows_with_a_number(layer: str) -> None:
    text = next((case.text() for case in all_cases(pl.registry[layer])), "")
    for number in re.finditer(r'(?<![\w."])\d+(?![\w."])', text):
        assert_footprint_is_quick(f"{text[: number.start()]}{LARGE}{text[number.end() :]}")
