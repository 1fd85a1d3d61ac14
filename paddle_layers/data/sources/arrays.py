"""Array sources: npz, npy, and the built-in digits."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

import numpy as np

from paddle_layers.define import Choice, String, Strings, source

from ..dataset import Dataset
from ..formats.npy import open_npz, read_npy, read_npz
from ..problems import DataError

_DIGITS = Path(__file__).parents[1] / "digits.npz"


@source(
    "digits",
    terms=("handwritten digits", "example data set"),
)
class Digits:
    """Handwritten digits (UCI): 1,797 gray images of 8 by 8 pixels, included in the package.

    Fields: `pixels` (1x8x8, integers from 0 to 16) and `label` (the digit). A stratified fifth is the fixed test set,
    the part `test`. UCI Machine Learning Repository, E. Alpaydin and C. Kaynak, CC BY 4.0.
    """

    part = Choice(
        "part of the data",
        options={
            "train": "training set: 1,438 images",
            "test": "test set: 359 images",
            "all": "all images",
        },
    )

    def open(self, base: Path) -> Dataset:
        """The chosen part."""
        arrays = read_npz(_DIGITS)
        held_out = arrays["held_out"] == 1
        rows = {"train": ~held_out, "test": held_out, "all": np.ones(len(held_out), bool)}[self.part]
        origin = f"the {self.part} part of the digits" if self.part != "all" else "the digits"
        digits = Dataset({"pixels": arrays["pixels"][rows], "label": arrays["label"][rows]}, origin=origin)
        digits.shape_remedies["pixels"] = "set `shape: [1, 8, 8]` in the data layer"
        return digits


@source("npz", terms=("NumPy npz",))
class Npz:
    """NumPy npz archive: every array is a field, named as in the file; its first axis counts samples.

    Arrays written by `np.savez` are memory-mapped, so they may be larger than memory; those of `np.savez_compressed`
    are read. Sequences are concatenated: `words` and `words.starts` (nested: also `words.sub_starts`); sparse vectors
    are `words.ids` and `words.starts`, with `words.values` unless these are ones. Files that need pickle are rejected.
    """

    file = String("path of the file, relative to the training file")

    def open(self, base: Path) -> Dataset:
        """The arrays of the file."""
        return self.open_fields(base, None)

    def open_fields(self, base: Path, wanted: Container[str] | None) -> Dataset:
        """As `open`, but only the fields in `wanted`."""
        path = base / self.file
        arrays, unread = open_npz(path, wanted)
        dataset = Dataset(arrays, origin=str(path))
        dataset.unread = unread
        return dataset


@source("npy", terms=("NumPy npy",))
class Npy:
    """NumPy npy files, memory-mapped; each field is named like its file without the extension."""

    file = Strings("paths of the files, relative to the training file", min_items=1)

    def open(self, base: Path) -> Dataset:
        """One field for each file."""
        paths = [base / name for name in self.file]
        arrays = {path.name.removesuffix(".npy"): read_npy(path) for path in paths}
        if len(arrays) < len(paths):
            raise DataError("two files of an `npy` source have the same name; fields are named like their files")
        return Dataset(arrays, origin=", ".join(map(str, paths)))
