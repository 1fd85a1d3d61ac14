"""Shows the words whose vectors point in the direction nearest to that of each given word.

python nearest.py nce.textproto output/nce/weights.safetensors list float raise
"""

import argparse
from pathlib import Path

import numpy as np

import paddle_layers as pl


def main() -> None:
    """Print a line for each word."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("training")
    parser.add_argument("weights")
    parser.add_argument("words", nargs="+")
    parser.add_argument("--count", type=int, default=6)
    given = parser.parse_args()
    known = Path(given.training).with_name("words.txt").read_text(encoding="utf-8").split()
    with pl.Net(pl.load_training(given.training).network) as net:
        net.load(given.weights)
        vectors = net.parameters["vectors.table"].value
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for word in given.words:
        if word not in known:
            raise SystemExit(f"`{word}` is not among the words of words.txt")
        nearest = np.argsort(-(vectors @ vectors[known.index(word)]))
        print(f"{word}: {', '.join(known[place] for place in nearest[1 : given.count + 1])}")


if __name__ == "__main__":
    main()
