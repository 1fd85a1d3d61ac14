"""Words a second of a causal transformer with its keys kept, against PyTorch's loop on equal weights, on one thread.

python -m tests.benchmarks.bench_cached_keys [--rounds N]

The network is that of docs/examples/language. Both sides take the best word each time and write the same texts; so do
whole passes over all words before each. It is the processor's time, so other work counts little.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
import torch
from torch.nn.functional import embedding, gelu, layer_norm, scaled_dot_product_attention

import paddle_layers as pl
from paddle_layers.config.generate_settings import GenerateSettings
from paddle_layers.generation.generator import Generator

from .timing import Timed, compare

WORDS = 97


class Size(NamedTuple):
    """Of a transformer, and how long its texts are."""

    width: int
    heads: int
    blocks: int
    places: int


SIZE = Size(64, 4, 2, 64)
TEXTS = (1, 8, 32)


def network(size: Size) -> pl.Network:
    """As in docs/examples/language."""
    blocks = "".join(
        f'layer {{ name: "block{n + 1}" type: "transformer_block" input: "{f"block{n}" if n else "placed"}"'
        f" transformer_block {{ num_heads: {size.heads} causal: true }} }}\n"
        for n in range(size.blocks)
    )
    return pl.loads(f"""
    layer {{ name: "words" type: "data" data {{ data_type: INT size: {WORDS} seq_nested_level: 1 }} }}
    layer {{ name: "vectors" type: "embedding" input: "words" embedding {{ size: {size.width} }} }}
    layer {{ name: "placed" type: "position_embedding" input: "vectors"
             position_embedding {{ max_length: {size.places} }} }}
    {blocks}
    layer {{ name: "last" type: "layer_norm" input: "block{size.blocks}" }}
    layer {{ name: "scores" type: "fc" input: "last" fc {{ size: {WORDS} }} }}
    """)


class Theirs:
    """The same network in PyTorch, a word of all texts at a time, with the keys and values of all words before."""

    def __init__(self, size: Size, weights: dict[str, Any]) -> None:
        self.size = size
        self.own = {
            name: torch.from_numpy(value.T.copy() if name.endswith(".weight") else value.copy())
            for name, value in weights.items()
        }

    def write(self, texts: int) -> Any:
        """The texts, of as many words as there are places."""
        size, own = self.size, self.own
        shape = (size.blocks, 2, texts, size.heads, size.places, size.width // size.heads)
        kept, found = torch.empty(shape), torch.zeros(size.places + 1, texts, dtype=torch.long)
        with torch.inference_mode():
            for place in range(size.places):
                x = embedding(found[place], own["vectors.table"]) + own["placed.table"][place]
                for number in range(size.blocks):
                    x = self.block(f"block{number + 1}", x, kept[number], place)
                scores = self.map("scores", self.normed("last", x))
                found[place + 1] = torch.log_softmax(scores, dim=1).argmax(dim=1)
        return found[1:].T.numpy()

    def block(self, name: str, x: torch.Tensor, kept: torch.Tensor, place: int) -> torch.Tensor:
        """A `transformer_block` of one word of every text."""
        look, heads = self.normed(f"{name}.norm1", x), (len(x), self.size.heads, 1, -1)
        kept[0, :, :, place] = self.map(f"{name}.key", look).view(heads)[:, :, 0]
        kept[1, :, :, place] = self.map(f"{name}.value", look).view(heads)[:, :, 0]
        query = self.map(f"{name}.query", look).view(heads)
        seen = scaled_dot_product_attention(query, kept[0, :, :, : place + 1], kept[1, :, :, : place + 1])
        x = x + self.map(f"{name}.out_proj", seen.reshape(len(x), -1))
        wide = gelu(self.map(f"{name}.ffn_in", self.normed(f"{name}.norm2", x)))
        return x + self.map(f"{name}.ffn_out", wide)

    def map(self, name: str, x: torch.Tensor) -> torch.Tensor:
        """An `fc`."""
        return torch.nn.functional.linear(x, self.own[f"{name}.weight"], self.own.get(f"{name}.bias"))

    def normed(self, name: str, x: torch.Tensor) -> torch.Tensor:
        """A `layer_norm`."""
        return layer_norm(x, x.shape[1:], self.own[f"{name}.gain"], self.own[f"{name}.bias"])


def ours(made: Generator, texts: int) -> Any:
    """The texts by the kept keys and values."""
    return np.array([one[0].words for one in made.write({}, [[0]] * texts)])


def whole_passes(net: pl.Net, texts: int, places: int) -> Any:
    """The texts by passes over all words before each."""
    words = np.zeros((texts, places + 1), np.int64)
    for length in range(1, places + 1):
        rows = pl.Sequences(words[:, :length].ravel(), np.arange(texts + 1) * length)
        scores = net.forward({"words": rows}, phase="test")["scores"].data
        words[:, length] = scores.reshape(texts, length, WORDS)[:, -1].argmax(axis=1)
    return words[:, 1:]


def measure(size: Size, rounds: int) -> None:
    """Print a line for each number of texts: the medians of rounds in turn."""
    made = network(size)
    settings = GenerateSettings("words", begin=0, max_length=size.places, beam_size=1)
    rng = np.random.default_rng(0)
    with pl.Net(made, keep=["scores"]) as net, Generator(made, settings, "scores") as generator:
        weights = {key: rng.normal(scale=0.3, size=one.value.shape).astype("f") for key, one in net.parameters.items()}
        for key, value in weights.items():
            net.parameters[key].value = generator.nets[0].parameters[key].value = value
        theirs = Theirs(size, weights)
        for texts in TEXTS:
            sides: dict[str, Callable[[], Any]] = {
                "kept": lambda texts=texts: ours(generator, texts),
                "torch": lambda texts=texts: theirs.write(texts),
                "whole": lambda texts=texts: whole_passes(net, texts, size.places),
            }
            found = {side: call() for side, call in sides.items()}
            assert all((one == found["torch"]).mean() > 0.9 for one in found.values()), "the sides write other texts"
            timed = {side: Timed(call, lambda: None) for side, call in sides.items()}
            took = compare(timed, rounds=rounds, seconds=0.1, clock=time.thread_time)
            speed = {side: texts * size.places / seconds for side, seconds in took.items()}
            ratio = speed["kept"] / speed["torch"]
            cells = "".join(f"{speed[side]:10.0f}" for side in ("whole", "kept", "torch"))
            print(f"{texts:5}{cells}{ratio:8.2f}", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    print("words a second:\ntexts     whole      kept     torch   ratio")
    measure(SIZE, rounds)


if __name__ == "__main__":
    main()
