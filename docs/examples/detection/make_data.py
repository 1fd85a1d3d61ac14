"""Writes train.npz and test.npz: images with one to four handwritten digits, and their classes and bounding boxes.

`pixels` are grayscale images of 48 by 48 pixels, from 0 to 1. The objects of an image are a sequence: `classes` has the
classes of the digits (1 is a zero, 10 a nine; 0 is the background), `boxes` the corners x1, y1, x2, y2 relative to the
image size, both with `.starts`. The digits of the package are scaled to sides of 12 to 24 pixels and placed on noise
and strokes, at least one pixel apart. Digits of the test set are not in the training set. `--train` and `--test` are
the numbers of images, `--seed` is the random seed, `--folder` the output folder.
"""

import argparse
from pathlib import Path

import numpy as np

import paddle_layers as pl

SIDE = 48
SIZES = (12, 25)
MOST = 4
STROKES = 3
MARGIN = 1
"""Pixels between two digits."""


def digits(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Images from 0 to 1 and labels of a part of the digits of the package."""
    source = pl.registries["source"]["digits"]
    fields = source.create(source.bind({"part": part})).open(Path()).fields
    return np.asarray(fields["pixels"], float).reshape(-1, 8, 8) / 16, np.asarray(fields["label"])


def enlarged(image: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The image in another size, interpolated."""
    for axis, size in enumerate((rows, columns)):
        places = np.clip((np.arange(size) + 0.5) * image.shape[axis] / size - 0.5, 0, image.shape[axis] - 1)
        first = np.minimum(places.astype(int), image.shape[axis] - 2)
        share = np.expand_dims(places - first, 1 - axis)
        image = (1 - share) * image.take(first, axis) + share * image.take(first + 1, axis)
    return image


def cut(image: np.ndarray) -> np.ndarray:
    """The part of a digit's image that has ink."""
    rows, columns = np.flatnonzero(image.max(1) > 0.2), np.flatnonzero(image.max(0) > 0.2)
    return image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def background(rng: np.random.Generator) -> np.ndarray:
    """Noise, and faint strokes that are no digits."""
    picture = rng.normal(0.1, 0.08, (SIDE, SIDE))
    for _ in range(rng.integers(STROKES + 1)):
        place, step = rng.uniform(0, SIDE, 2), rng.normal(0, 1, 2)
        for _ in range(12):
            row, column = place.astype(int).clip(0, SIDE - 1)
            picture[row, column] += 0.4
            place += step / np.abs(step).max()
    return picture


def picture(rng: np.random.Generator, images: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, list, list]:
    """An image with the classes and boxes of its digits."""
    canvas, taken = background(rng), np.zeros((SIDE, SIDE), bool)
    classes, boxes = [], []
    for _ in range(rng.integers(1, MOST + 1)):
        number, tall = rng.integers(len(images)), rng.integers(*SIZES)
        ink = cut(images[number])
        wide = int(np.clip(round(tall * ink.shape[1] / ink.shape[0] * rng.uniform(0.85, 1.15)), 4, SIZES[1]))
        top, left = rng.integers(0, SIDE - tall + 1), rng.integers(0, SIDE - wide + 1)
        around = slice(max(top - MARGIN, 0), top + tall + MARGIN), slice(max(left - MARGIN, 0), left + wide + MARGIN)
        if taken[around].any():
            continue
        taken[top : top + tall, left : left + wide] = True
        canvas[top : top + tall, left : left + wide] += rng.uniform(0.6, 1.0) * enlarged(ink, tall, wide)
        classes.append(labels[number] + 1)
        boxes.append((left / SIDE, top / SIDE, (left + wide) / SIDE, (top + tall) / SIDE))
    return canvas.clip(0, 1), classes, boxes


def pictures(rng: np.random.Generator, part: str, count: int) -> dict[str, np.ndarray]:
    """Images with their classes and boxes; the boxes of all images are concatenated."""
    images, labels = digits(part)
    made = [picture(rng, images, labels) for _ in range(count)]
    starts = np.cumsum([0, *(len(classes) for _, classes, _ in made)])
    return {
        "pixels": np.array([canvas[None] for canvas, _, _ in made], np.float32),
        "classes": np.array([one for _, classes, _ in made for one in classes], np.int64),
        "classes.starts": starts,
        "boxes": np.array([box for _, _, boxes in made for box in boxes], np.float32),
        "boxes.starts": starts,
    }


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent)
    parser.add_argument("--train", type=int, default=4000)
    parser.add_argument("--test", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for place, (part, count) in enumerate({"train": given.train, "test": given.test}.items()):
        rng = np.random.default_rng([given.seed, place])
        np.savez(given.folder / f"{part}.npz", **pictures(rng, part, count))


if __name__ == "__main__":
    main()
