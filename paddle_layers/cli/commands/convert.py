"""`convert`: conversion of config formats."""

from __future__ import annotations

from pathlib import Path

import click

from ..output.terminal import echo


@click.command()
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite OUT if it exists.")
def command(source: Path, target: Path, force: bool) -> None:
    """Convert the network or training file IN to OUT.

    The extension selects the format: text (.textproto), JSON (.json) or binary (.binpb). JSON and binary files have no
    comments. A training file still refers to the same network file.
    """
    from paddle_layers.config.conversion import FORMATS, converted

    from ..output.files import replace_file

    for path in (source, target):
        if path.suffix not in FORMATS:
            raise click.UsageError(f"{path}: unsupported extension; expected one of {', '.join(FORMATS)}")
    if target.exists() and not force:
        echo(f"{target} already exists; add --force to overwrite it", err=True)
        raise click.exceptions.Exit(1)
    content, lost = converted(source, FORMATS[target.suffix])
    replace_file(target, content)
    echo(f"{target}: {FORMATS[target.suffix]}, {len(content)} bytes" + (", without the comments" if lost else ""))
