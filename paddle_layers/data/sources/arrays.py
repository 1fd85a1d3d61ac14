"""Arrays in files: npz, npy, and the digits of the package."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paddle_layers.define import Choice, String, Strings, source

from ..dataset import Dataset
from ..formats.arrays import read_npy, read_npz
from ..problems import DataError

_DIGITS = Path(__file__).parents[1] / "digits.npz"


@source("digits")
class Digits:
    """Optical recognition of handwritten digits: 1,797 grey images of 8 by 8 pixels, part of the package.

    Fields: `pixels` (1x8x8, whole numbers from 0 to 16) and `label` (the digit). One fifth, the same share of every
    digit, is held out for ever as the part `test`. UCI Machine Learning Repository, E. Alpaydin and C. Kaynak,
    CC BY 4.0.
    """

    part = Choice(
        "which rows",
        options={
            "train": "1,438 images to learn from",
            "test": "359 images that are held out",
            "all": "every image",
        },
    )

    def open(self, base: Path) -> Dataset:
        """The chosen part."""
        arrays = read_npz(_DIGITS)
        held_out = arrays["held_out"] == 1
        rows = {"train": ~held_out, "test": held_out, "all": np.ones(len(held_out), bool)}[self.part]
        origin = f"the {self.part} part of the digits" if self.part != "all" else "the digits"
        return Dataset({"pixels": arrays["pixels"][rows], "label": arrays["label"][rows]}, origin=origin)


@source("npz")
class Npz:
    """Arrays of an npz file: every array is a field, named as in the file; its first axis counts rows.

    Arrays written by `np.savez` are mapped into memory, so they may be larger than it; those of
    `np.savez_compressed` are read. Sequences are stored end to end: `words` and `words.starts` (nested:
    `words.sub_starts` too); sparse rows as `words.ids` and `words.starts`, with `words.values` unless these are ones.
    Files that need pickle are refused.
    """

    file = String("path of the file, relative to the training file")

    def open(self, base: Path) -> Dataset:
        """The arrays of the file."""
        path = base / self.file
        return Dataset(read_npz(path), origin=str(path))


@source("npy")
class Npy:
    """Arrays of npy files, mapped into memory; each field is named like its file without the ending."""

    file = Strings("paths of the files, relative to the training file", min_items=1)

    def open(self, base: Path) -> Dataset:
        """One field for each file."""
        paths = [base / name for name in self.file]
        arrays = {path.name.removesuffix(".npy"): read_npy(path) for path in paths}
        if len(arrays) < len(paths):
            raise DataError("two files of an `npy` source have the same name, but fields are named like their files")
        return Dataset(arrays, origin=", ".join(map(str, paths)))
