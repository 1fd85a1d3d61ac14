"""`fmt`: formatting of config files."""

from __future__ import annotations

from pathlib import Path

import click

from ..output.terminal import echo


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Change nothing; status 1 when a file would change.")
@click.option("--stdout", is_flag=True, help="Write the formatted text to stdout and change nothing.")
def command(files: tuple[Path, ...], check: bool, stdout: bool) -> None:
    """Format config FILES in place; comments stay."""
    if check and stdout:
        raise click.UsageError("--check and --stdout exclude each other")
    from paddle_layers.config import format_text
    from paddle_layers.config.files import BINARY, read_file

    from ..output.files import replace_file

    changed = 0
    for file in files:
        if file.suffix in BINARY:
            raise click.UsageError(f"{file} is binary and has no layout; `paddle-layers convert` makes a text of it")
        text = read_file(file)
        formatted = format_text(text, str(file))
        if stdout:
            click.echo(formatted, nl=False)  # the file itself, as it would be written
        elif formatted != text:
            changed += 1
            echo(f"{file}: {'would be formatted' if check else 'formatted'}", err=check)
            if not check:
                replace_file(file, formatted.encode())
    if check and changed:
        raise click.exceptions.Exit(1)
