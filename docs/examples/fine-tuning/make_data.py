"""Writes the digits of the package as two tasks into this folder, or into another one: `python make_data.py FOLDER`.

`eight-train.npz` and `eight-test.npz` have the digits 0 to 7, many of each. `ten-train.npz` has five images of every
digit, `ten-test.npz` all that are held out.
"""

import sys
from pathlib import Path

import numpy as np

import paddle_layers as pl

EACH = 5
"""Images of a digit in `ten-train.npz`."""


def digits(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels of a part of the digits."""
    source = pl.registries["source"]["digits"]
    fields = source.create(source.bind({"part": part})).open(Path()).fields
    return np.asarray(fields["pixels"]), np.asarray(fields["label"])


def main(folder: Path) -> None:
    """Write the files."""
    for part in ("train", "test"):
        pixels, label = digits(part)
        few = np.concatenate([np.flatnonzero(label == digit)[:EACH] for digit in range(10)])
        for name, rows in (("eight", label < 8), ("ten", few if part == "train" else slice(None))):
            np.savez(folder / f"{name}-{part}.npz", pixels=pixels[rows], label=label[rows])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
