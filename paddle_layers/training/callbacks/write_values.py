"""Callback that writes values of the network into files during training."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from paddle_layers.define import Choice, String, Strings, callback
from paddle_layers.define.output_folders import make_folder, open_folder, remove_matching

from . import Repeating

if TYPE_CHECKING:
    from paddle_layers.data.sinks.opening import ValueSink

    from ..events import Run

FOLDER = "values"
"""Subfolder of the output folder for these files."""


@callback(
    "write_values",
    elsewhere={"Caffe": "HDF5Output", "Mocha": "HDF5OutputLayer"},
    terms=("HDF5 output", "save activations", "save predictions"),
)
class WriteValues(Repeating):
    """Writes values of the network to a file for each validation or test, or for a training batch at intervals.

    The files are in the subfolder `values` of the output folder, with the step before the extension: `scores.h5`
    becomes `scores-00000100.h5`. The file of a test has the rows of all its batches, in the order of the data; a
    resumed training writes its files again. Extensions and formats are those of `predict --output`. Caffe appends batch
    after batch to one HDF5 file.
    """

    values = Strings("values to write")
    file = String("name of the files: the part before the step, and the extension, which selects the format")
    phase = Choice(
        "phase whose batches are written",
        options={
            "test": "all batches of every validation (or test)",
            "train": "one training batch every `every` steps",
        },
        default="test",
    )

    def __init__(self) -> None:
        self.keep = tuple(self.values)
        self._sink: ValueSink | None = None
        self._open = contextlib.ExitStack()

    def prepare(self, base: Path) -> None:  # noqa: ARG002  every `prepare` is given the folder; this one reads no files
        """Check the name of the files. Raises `DataError`."""
        from paddle_layers.data import DataError
        from paddle_layers.data.sinks.opening import check_sink

        if Path(self.file).name != self.file or "\\" in self.file or not self.file.isprintable():
            raise DataError(
                f"`file` is {self.file!r}, expected a name without folders: the files are in the output folder"
            )
        check_sink(Path(self.file))

    def on_step(self, run: Run) -> None:
        """Write a training batch if it is due."""
        if self.phase == "train" and self.due(run):
            self._add(run)
            self._close()

    def on_test_batch(self, run: Run) -> None:
        """Write a test batch."""
        if self.phase == "test":
            self._add(run)

    def on_test(self, run: Run) -> None:  # noqa: ARG002  every `on_test` is given the run; this one only closes its file
        """Close the file of a test."""
        self._close()

    def _add(self, run: Run) -> None:
        from paddle_layers.data.sinks.opening import open_sink

        from ..network_values import read_values

        # Opened with the first batch: a training that is never due leaves no empty file.
        if self._sink is None:
            name = Path(self.file)
            path = run.folder / FOLDER / f"{name.stem}-{run.step:08d}{name.suffix}"
            make_folder(path.parent)
            self._sink = self._open.enter_context(open_sink(path))
        self._sink.write(read_values(run.net, self.values))

    def _close(self) -> None:
        self._sink = None
        self._open.close()


def clear_values(folder: Path) -> None:
    """Remove the files of an earlier training."""
    from paddle_layers.data.sinks.opening import KINDS

    for ending in KINDS:
        remove_matching(folder / FOLDER, f"*-[0-9]*{ending}")
    remove_unfinished_values(folder)
    with open_folder(folder) as whole:
        whole.remove_empty(FOLDER)


def remove_unfinished_values(folder: Path) -> None:
    """Remove incomplete files of a killed training; no other training may be writing."""
    remove_matching(folder / FOLDER, ".*.tmp")
