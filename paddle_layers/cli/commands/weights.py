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
@click.option("-o", "--output", required=True, metavar="FILE", help="Where they go; its name ends in .safetensors.")
@click.option("--from", "origin", type=click.Choice(["paddle_layers", "torch"]), help="How they lie in WEIGHTS.")
@click.option("--to", "target", type=click.Choice(["paddle_layers", "torch"]), help="How they lie in the new file.")
@click.option(
    "--rename",
    metavar="OLD=NEW",
    multiple=True,
    help="Another name in the new file; * stands for any text, the same in both. May be given several times.",
)
@click.option(
    "--leave-out", metavar="PATTERN", multiple=True, help="Weights that are not read; may be given several times."
)
@click.option("--force", is_flag=True, help="Overwrite the file if it exists.")
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
    """Write WEIGHTS, which fit the network of NET, a network or a training file, in another way.

    WEIGHTS is a safetensors file, the index of several (model.safetensors.index.json), or a state_dict of PyTorch (.pt,
    .pth, .bin). With --from torch they become ours, which all other commands read; with --to torch a state_dict, as
    safetensors.torch.load_file reads it. Numbers of 16 bits become float32 exactly.
    """
    if target == "torch" and origin == "torch":
        raise click.UsageError("--from torch and --to torch: one of the two is ours")
    if Path(output).suffix.lower() != ".safetensors":
        raise click.UsageError(f"{output}: weights are written to files that end in .safetensors")
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
        raise click.UsageError(f"--rename is {text!r}: write OLD=NEW, as in --rename 'features.0.*=conv1.*'")
    return old, new
