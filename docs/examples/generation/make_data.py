"""Writes binarized digits to this folder or another one: `python make_data.py FOLDER`.

`train.npz` and `test.npz` have `image`, N x 64 values that are 0 or 1; the latter has the held-out digits of the set.
It prints the negative log-likelihood of simple models of the digits on them, in nats per image.
"""

import sys
from pathlib import Path

import numpy as np

import paddle_layers as pl

INK = 8
"""The grey value, of 16, from which on a pixel is black."""


def digits(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Images and numbers of a part of the digits."""
    source = pl.registries["source"]["digits"]
    fields = source.create(source.bind({"part": part})).open(Path()).fields
    pixels, label = np.asarray(fields["pixels"]), np.asarray(fields["label"])
    return (pixels.reshape(len(pixels), 64) >= INK).astype(np.float32), label


def cost(image: np.ndarray, black: np.ndarray) -> np.ndarray:
    """What images cost where each pixel is black on its own, with the probability `black`."""
    return -(image * np.log(black) + (1 - image) * np.log(1 - black)).sum(axis=1)


def shares(image: np.ndarray) -> np.ndarray:
    """How often each pixel is black; as if one image more were black, and one white."""
    return (image.sum(axis=0) + 1) / (len(image) + 2)


def main(folder: Path) -> None:
    """Write the files, and print the baselines without a network."""
    (image, label), (held_out, _) = digits("train"), digits("test")
    np.savez_compressed(folder / "train.npz", image=image)
    np.savez_compressed(folder / "test.npz", image=held_out)
    print(f"independent pixels: {cost(held_out, shares(image)).mean():.2f} nats")
    by_digit = np.stack([cost(held_out, shares(image[label == digit])) for digit in range(10)])
    mixed = -np.logaddexp.reduce(-by_digit - np.log(10))
    print(f"independent pixels, mixture of ten models, one per digit: {mixed.mean():.2f} nats")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
