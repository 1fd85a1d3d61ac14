"""How many of the held-out numbers are written without a mistake, and what the beam is good for.

python score.py numbers.textproto test.npz
"""

import argparse
import time
from itertools import pairwise

import numpy as np

import paddle_layers as pl


def main() -> None:
    """Print the share of exact matches for each size of the beam."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("training")
    parser.add_argument("data")
    parser.add_argument("--weights", help="when absent, those in the training's output folder")
    parser.add_argument("--beam", type=int, nargs="+", default=[1, 4])
    given = parser.parse_args()
    data = np.load(given.data)
    starts = data["words.starts"]
    wanted = [tuple(data["words"][a : b - 1]) for a, b in pairwise(starts)]
    for size in given.beam:
        began = time.perf_counter()
        found = pl.generate(given.training, given.data, weights=given.weights, beam_size=size)
        took = time.perf_counter() - began
        right = sum(texts[0].words == one for texts, one in zip(found.texts, wanted, strict=True))
        print(f"beam of {size}: {right} of {len(wanted)} right, {right / len(wanted):.4f}; {took:.1f} s")


if __name__ == "__main__":
    main()
