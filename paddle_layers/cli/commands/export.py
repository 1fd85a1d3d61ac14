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
    help="Weights to export; by default the best ones in the output folder. Required for a network file.",
)
@click.option("-o", "--output", required=True, metavar="FILE", help="ONNX model to write (.onnx).")
@click.option(
    "--value", "values", metavar="NAME", multiple=True, help="Value to export instead of the outputs; repeatable."
)
@click.option("--force", is_flag=True, help="Overwrite an existing model.")
def command(file: str, weights: str | None, output: str, values: tuple[str, ...], force: bool) -> None:
    """Export the network of NET and its weights as an ONNX model.

    NET is a training or network file. The model has the outputs of `predict`: in the test phase, values that only costs
    and metrics read; --value selects others. Requires onnx: pip install 'paddle-layers[onnx]'.
    """
    target = Path(output)
    if target.suffix != ".onnx":
        raise click.UsageError(f"{output}: unsupported extension; expected .onnx")
    if not force:
        check_new(target)
    from paddle_layers.exchange.onnx_out.files import export_file

    for path in export_file(file, weights, target, values):
        echo(f"wrote {path}", err=True)
