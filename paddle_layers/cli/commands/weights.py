"""`weights`: conversion of weight files of other systems."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from ..output.files import check_new
from ..output.terminal import echo


@click.command()
@click.argument("file", metavar="NET")
@click.argument("source", metavar="WEIGHTS")
@click.option("-o", "--output", required=True, metavar="FILE", help="Weights file to write (.safetensors).")
@click.option("--from", "origin", type=click.Choice(["paddle_layers", "torch"]), help="Layout of WEIGHTS.")
@click.option("--to", "target", type=click.Choice(["paddle_layers", "torch"]), help="Layout of the output.")
@click.option(
    "--rename",
    metavar="OLD=NEW",
    multiple=True,
    help="Rename weights; * matches any text, the same in both names. Repeatable.",
)
@click.option("--leave-out", metavar="PATTERN", multiple=True, help="Weights to skip; repeatable.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def command(
    file: str,
    source: str,
    output: str,
    origin: str | None,
    target: str | None,
    rename: Sequence[str],
    leave_out: Sequence[str],
    force: bool,
) -> None:
    """Convert WEIGHTS to or from the layout of PyTorch.

    NET is the network or training file that the weights belong to. WEIGHTS is a safetensors file, the index of a
    sharded one (model.safetensors.index.json) or a PyTorch state_dict (.pt, .pth, .bin). --from torch writes weights
    for all other commands; --to torch writes a state_dict for safetensors.torch.load_file. 16-bit floats become float32
    exactly.
    """
    if target == "torch" and origin == "torch":
        raise click.UsageError("--from torch and --to torch exclude each other: nothing would change")
    if Path(output).suffix.lower() != ".safetensors":
        raise click.UsageError(f"{output}: unsupported extension; expected .safetensors")
    names = dict(map(_renamed, rename))
    if not force:
        check_new(Path(output))
    from paddle_layers.exchange.weights import write_in_another_way

    for line in write_in_another_way(
        file, source, output, origin=origin, target=target or "paddle_layers", rename=names, leave_out=leave_out
    ):
        echo(line, err=True)


def _renamed(text: str) -> tuple[str, str]:
    old, sign, new = text.partition("=")
    if not (old and sign and new):
        raise click.UsageError(f"--rename {text!r}: expected OLD=NEW, such as 'features.0.*=conv1.*'")
    return old, new
