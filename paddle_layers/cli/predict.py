"""`predict`: run a trained network over new data."""

from __future__ import annotations

from pathlib import Path

import click

from .device import device_option
from .output import check_new, ending_of
from .prediction_files import KINDS, content
from .terminal import echo
from .threads import threads_option


@click.command()
@click.argument("file")
@click.argument("data", required=False)
@click.option("--weights", metavar="FILE", help="Weights; when absent, the best in the training's output folder.")
@click.option(
    "--value", "values", metavar="NAME", multiple=True, help="A value of the network; may be given several times."
)
@click.option(
    "--output",
    metavar="FILE",
    help="Write here instead of to stdout: .csv, .jsonl (a JSON object on each line) or .npz. Nothing is overwritten.",
)
@click.option("--dictionary", metavar="FILE", help="The words of ids and classes, one on each line.")
@device_option
@threads_option
def command(
    file: str,
    data: str | None,
    weights: str | None,
    values: tuple[str, ...],
    output: str | None,
    dictionary: str | None,
    device: str,
) -> None:
    """Write what the network of the training FILE makes of DATA, as a table with a line for each row.

    DATA is read as the training file's source reads its own file or folder; or, by its ending, as csv, npz, npy, HDF5
    or Parquet. It needs no labels. Without DATA the file's source for the test phase is used.

    What is written are the network's outputs: what no layer reads but costs and statistics; --value names others.
    Classes come with their probabilities; ids in sequences are a line for each sequence.
    """
    ending = ending_of(output, KINDS, "predictions")
    if output is not None:
        check_new(Path(output))
    from paddle_layers.training.folders import BEST
    from paddle_layers.training.prediction import predict

    found = predict(file, data, weights=weights, values=values, dictionary=dictionary, device=device)
    if weights is None and found.weights is not None and found.weights.name == BEST:
        echo(f"weights: {found.weights}, of the best test", err=True)
    written = content(found, ending)
    if output is None:
        echo(written.decode(), nl=False)
        return
    with open(output, "xb") as target:
        target.write(written)
    echo(f"wrote {output}", err=True)
