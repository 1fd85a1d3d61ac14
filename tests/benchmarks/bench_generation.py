"""Time for a word of the numbers example, by beam and source: the processor's, on one thread.

python -m tests.benchmarks.bench_generation
"""

from __future__ import annotations

import time
from pathlib import Path

import numba
import numpy as np

import paddle_layers as pl
from paddle_layers.config import Training
from paddle_layers.config.generate_settings import GenerateSettings
from paddle_layers.generation.generator import Generator
from paddle_layers.training.inference.outputs import part_for

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
SAMPLES, WORDS = 32, 20


def generator(training: Training, size: int) -> Generator:
    """The network with its first values, which never ends a text."""
    settings = GenerateSettings("before", begin=0, max_length=WORDS, beam_size=size)
    return Generator(part_for(training.network, ["scores"]), settings, "scores")


def source(length: int) -> dict[str, pl.Sequences]:
    """Digits for all samples."""
    digits = np.random.default_rng(0).integers(0, 10, SAMPLES * length)
    return {"digits": pl.Sequences(digits, np.arange(SAMPLES + 1) * length)}


def seconds(made: Generator, feeds: dict[str, pl.Sequences]) -> float:
    """Of all words of a batch, the source included."""
    began = time.thread_time()
    made.write(feeds, [[0]] * SAMPLES)
    return time.thread_time() - began


def main() -> None:
    """Print a table; the least of several interleaved rounds."""
    numba.set_num_threads(1)
    training = pl.load_training(EXAMPLES / "translation" / "numbers.textproto")
    sizes, lengths = (1, 2, 4, 8, 16), (6, 24, 96)
    nets = {size: generator(training, size) for size in sizes}
    best: dict[tuple[int, int], float] = {}
    for _ in range(6):
        for size, made in nets.items():
            for length in lengths:
                key = size, length
                best[key] = min(best.get(key, np.inf), seconds(made, source(length)))
    print(f"milliseconds for a word of {SAMPLES} samples; microseconds for a word of a text")
    print("beam", *(f"source of {length:3}" for length in lengths), sep="  ")
    for size in sizes:
        cells = [best[size, length] / WORDS for length in lengths]
        print(f"{size:4}", *(f"{1e3 * one:6.2f} {1e6 * one / SAMPLES / size:6.1f}" for one in cells), sep="  ")
    for made in nets.values():
        made.close()


if __name__ == "__main__":
    main()
