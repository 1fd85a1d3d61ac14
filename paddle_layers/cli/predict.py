"""`predict`: run a trained network over new data."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from .device import device_option

if TYPE_CHECKING:
    from paddle_layers.training.prediction import Prediction


@click.command()
@click.argument("file")
@click.argument("data", required=False)
@click.option("--weights", metavar="FILE", help="Weights; those in the training's output folder when absent.")
@click.option("--output", metavar="FILE", help="Write the table here instead of to stdout. Nothing is overwritten.")
@device_option
def command(file: str, data: str | None, weights: str | None, output: str | None, device: str) -> None:
    """Write what the network of the training FILE makes of DATA (csv or npz), as a table with a line for each row.

    Without DATA the file's source for the test phase is used. Classes come with their probabilities.
    """
    from paddle_layers.training.prediction import predict

    if output is not None and Path(output).exists():
        raise FileExistsError(17, "exists already, and nothing is overwritten", output)
    found = predict(file, data, weights=weights, device=device)
    if output is None:
        write_table(found, sys.stdout)
        return
    with open(output, "x", encoding="utf-8", newline="") as table:
        write_table(found, table)
    click.echo(f"wrote {output}", err=True)


def write_table(found: Prediction, stream: TextIO) -> None:
    """Columns: the row, the class where there is one, then the numbers of every value."""
    names: list[str] = ["row"]
    columns: list[Any] = []
    for name, values in found.values.items():
        flat = values.reshape(len(values), -1)
        if name in found.classes:
            names.append(f"{name}.class")
            columns.append(found.classes[name].astype(str)[:, None])
        names += [f"{name}.{i}" for i in range(flat.shape[1])] if flat.shape[1] > 1 else [name]
        columns.append([[f"{value:.6g}" for value in row] for row in flat])
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    for row, parts in enumerate(zip(*columns, strict=True)):
        writer.writerow([row, *(cell for part in parts for cell in part)])
