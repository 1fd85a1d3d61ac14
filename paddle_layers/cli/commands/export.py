"""`export`: ONNX export of a trained network."""

from __future__ import annotations

from pathlib import Path

import click

from ..output.files import check_new
from ..output.terminal import echo


@click.command()
@click.argument("file", metavar="NET")
@click.option(
    "--weights",
    metavar="FILE",
    help="Weights; when absent, the best in the training's output folder. A network file needs them.",
)
@click.option("-o", "--output", required=True, metavar="FILE", help="Where the model goes; its name ends in .onnx.")
@click.option(
    "--value", "values", metavar="NAME", multiple=True, help="A value of the network; may be given several times."
)
@click.option("--force", is_flag=True, help="Overwrite the model if it exists.")
def command(file: str, weights: str | None, output: str, values: tuple[str, ...], force: bool) -> None:
    """Write the network of NET, a training or a network file, with its weights as an ONNX model.

    The outputs are those that `predict` gives: what no layer reads but costs and statistics, in the phase test; --value
    names others. Needs onnx: pip install 'paddle-layers[onnx]'.
    """
    target = Path(output)
    if target.suffix != ".onnx":
        raise click.UsageError(f"{output}: models are written to files that end in .onnx")
    if not force:
        check_new(target)
    from paddle_layers.exchange.onnx_out.files import export_file

    for path in export_file(file, weights, target, values):
        echo(f"wrote {path}", err=True)
