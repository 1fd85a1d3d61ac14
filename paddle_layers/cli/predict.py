"""`predict`: run a trained network over new data."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from .device import device_option
from .terminal import echo

if TYPE_CHECKING:
    from paddle_layers.training.prediction import Prediction


@click.command()
@click.argument("file")
@click.argument("data", required=False)
@click.option("--weights", metavar="FILE", help="Weights; when absent, the best in the training's output folder.")
@click.option("--output", metavar="FILE", help="Write the table here instead of to stdout. Nothing is overwritten.")
@click.option("--dictionary", metavar="FILE", help="The words of ids and classes, one on each line.")
@device_option
def command(
    file: str, data: str | None, weights: str | None, output: str | None, dictionary: str | None, device: str
) -> None:
    """Write what the network of the training FILE makes of DATA (csv or npz), as a table with a line for each row.

    Without DATA the file's source for the test phase is used. Classes come with their probabilities; ids in sequences
    are a line for each sequence.
    """
    from paddle_layers.training.folders import BEST
    from paddle_layers.training.prediction import predict

    if output is not None and Path(output).exists():
        raise FileExistsError(17, "exists already, and nothing is overwritten", output)
    found = predict(file, data, weights=weights, dictionary=dictionary, device=device)
    if weights is None and found.weights is not None and found.weights.name == BEST:
        echo(f"weights: {found.weights}, of the best test", err=True)
    if output is None:
        text = io.StringIO()
        write_table(found, text)
        echo(text.getvalue(), nl=False)
        return
    with open(output, "x", encoding="utf-8", newline="") as table:
        write_table(found, table)
    echo(f"wrote {output}", err=True)


def write_table(found: Prediction, stream: TextIO) -> None:
    """Columns: the row, ids and the class where there is one, then the numbers of every value."""
    _check_lines(found)
    names: list[str] = ["row"]
    columns: list[Any] = []
    for name, values in found.values.items():
        if name in found.texts:
            names.append(f"{name}.class" if name in found.classes else name)
            columns.append([[text] for text in found.texts[name]])
        if values.dtype.kind == "i":
            continue
        flat = values.reshape(len(values), -1)
        names += [f"{name}.{i}" for i in range(flat.shape[1])] if flat.shape[1] > 1 else [name]
        columns.append([[f"{value:.6g}" for value in row] for row in flat])
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    for row, parts in enumerate(zip(*columns, strict=True)):
        writer.writerow([row, *(cell for part in parts for cell in part)])


def _check_lines(found: Prediction) -> None:
    """A table has one line for a row of every value; values in sequences have other rows than those of samples."""
    from paddle_layers.training import TrainingError

    counts = {name: len(found.texts.get(name, values)) for name, values in found.values.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"`{name}` {count}" for name, count in counts.items())
        raise TrainingError(
            f"the values have different numbers of lines, which no table can hold: {listed}. "
            'Leave layers out of the phase test by include { phase: "train" }, or use `Net.value` from Python'
        )
