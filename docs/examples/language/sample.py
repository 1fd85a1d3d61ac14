"""Samples text from a trained language model, character by character.

python sample.py transformer.textproto output/transformer/weights.safetensors "The "
"""

import argparse

import numpy as np
from make_data import decode, encode

import paddle_layers as pl


def main() -> None:
    """Print the text and `--length` characters more."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("training")
    parser.add_argument("weights")
    parser.add_argument("text", help="what it begins with")
    parser.add_argument("--length", type=int, default=300)
    parser.add_argument("--temperature", type=float, default=0.7, help="lower is surer")
    parser.add_argument("--window", type=int, default=64, help="characters that the network looks back")
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    ids = encode(given.text)
    with pl.Net(pl.load_training(given.training).network, keep=["scores"]) as net:
        net.load(given.weights)
        for _ in range(given.length):
            seen = [ids[-given.window :]]
            net.forward({"characters": seen, "next": seen}, phase="test")
            scores = net.value("scores").data[-1] / given.temperature
            chances = np.exp(scores - scores.max())
            ids = np.append(ids, rng.choice(len(chances), p=chances / chances.sum()))
    print(decode(ids))


if __name__ == "__main__":
    main()
