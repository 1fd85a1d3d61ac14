"""Writes images of several digits with a class per pixel: `python make_data.py [FOLDER] [--train N] [--test N]`.

`train.npz` and `test.npz` have `image`, N x 1 x 32 x 32 gray values, and `label`, N x 32 x 32 classes: 0 is the
background, 1 to 10 are the digits 0 to 9. The digits of `test.npz` are those that the digit set holds out.
"""

import argparse
from pathlib import Path

import numpy as np

import paddle_layers as pl

SIDE = 32
SIZES = (13, 19)
"""Rows and columns of a digit on the canvas: from the first to before the second."""
MOST, TRIES = 4, 30
"""Digits on a canvas, and places that are tried for them: they don't touch each other."""
INK = 0.4
"""Share of full ink from which on a pixel is the digit's."""
NOISE = 0.1


def digits(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Images, from 0 to 1, and numbers of a part of the digits."""
    source = pl.registries["source"]["digits"]
    fields = source.create(source.bind({"part": part})).open(Path()).fields
    return np.asarray(fields["pixels"]) / 16, np.asarray(fields["label"])


def enlarged(image: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The image in another size, by linear interpolation along each axis."""
    for size in (rows, columns):
        places = np.linspace(0, len(image) - 1, size)
        before = np.minimum(places.astype(int), len(image) - 2)
        share = (places - before)[:, None]
        image = ((1 - share) * image[before] + share * image[before + 1]).T
    return image


def canvas(images: np.ndarray, numbers: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """An image, from 0 to 1, and the class of each pixel."""
    picture, label = np.zeros((SIDE, SIDE)), np.zeros((SIDE, SIDE), np.uint8)
    free = np.full((SIDE, SIDE), True)
    left = rng.integers(2, MOST + 1)
    for _ in range(TRIES):
        chosen = rng.integers(len(images))
        rows, columns = rng.integers(*SIZES, 2)
        y, x = rng.integers(SIDE - rows + 1), rng.integers(SIDE - columns + 1)
        box = np.s_[y : y + rows, x : x + columns]
        if left and free[box].all():
            ink = enlarged(images[chosen].reshape(8, 8), rows, columns)
            picture[box] = ink * rng.uniform(0.6, 1)
            label[box] = np.where(ink > INK, numbers[chosen] + 1, 0)
            free[box] = False
            left -= 1
    return picture + NOISE * rng.standard_normal(picture.shape), label


def pictures(part: str, count: int, seed: int) -> dict[str, np.ndarray]:
    """Images as the fields of a dataset."""
    rng = np.random.default_rng(seed)
    images, numbers = digits(part)
    drawn = [canvas(images, numbers, rng) for _ in range(count)]
    image = np.stack([picture for picture, _ in drawn])[:, None]
    return {
        "image": np.round(255 * np.clip(image, 0, 1)).astype(np.uint8),
        "label": np.stack([label for _, label in drawn]),
    }


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parent)
    parser.add_argument("--train", type=int, default=4000)
    parser.add_argument("--test", type=int, default=300)
    given = parser.parse_args()
    np.savez_compressed(given.folder / "train.npz", **pictures("train", given.train, seed=1))
    np.savez_compressed(given.folder / "test.npz", **pictures("test", given.test, seed=2))


if __name__ == "__main__":
    main()
