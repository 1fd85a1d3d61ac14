"""`import`: an ONNX model as a network with its weights."""

from __future__ import annotations

from pathlib import Path

import click

from .terminal import echo


@click.command()
@click.argument("file", metavar="MODEL")
@click.option("-o", "--output", required=True, metavar="DIR", help="The folder for network, weights and report.")
@click.option("--force", is_flag=True, help="Replace the files of an older import.")
def command(file: str, output: str, force: bool) -> None:
    """Write the network of the ONNX model MODEL, its weights, and a report of what became what, into DIR.

    Then `validate`, `show`, `predict` and `export` take DIR/network.textproto, and a training goes on from the weights.
    What has no counterpart is told at once, and nothing is written. Needs onnx: pip install 'paddle-layers[onnx]'.
    """
    from paddle_layers.exchange.onnx_in.importing import NETWORK, REPORT, WEIGHTS, import_onnx

    from .output import check_new

    target = Path(output)
    if target.is_dir() and not force:
        for name in (NETWORK, WEIGHTS, REPORT):
            check_new(target / name)
    imported = import_onnx(file)
    paths = imported.write(target)
    echo(imported.summary.rstrip("\n"))
    for path in paths:
        echo(f"wrote {path}", err=True)
