"""`fmt`: formatting of config files."""

from __future__ import annotations

from pathlib import Path

import click

from ..output.terminal import echo


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Change nothing; exit with status 1 if a file is not formatted.")
@click.option("--stdout", is_flag=True, help="Write the formatted text to stdout; change nothing.")
def command(files: tuple[Path, ...], check: bool, stdout: bool) -> None:
    """Format config FILES in place, keeping their comments."""
    if check and stdout:
        raise click.UsageError("--check and --stdout are mutually exclusive")
    from paddle_layers.config import format_text
    from paddle_layers.config.files import BINARY, read_file

    from ..output.files import replace_file

    changed = 0
    for file in files:
        if file.suffix in BINARY:
            raise click.UsageError(f"{file} is a binary config; convert it to text with `paddle-layers convert`")
        text = read_file(file)
        formatted = format_text(text, str(file))
        if stdout:
            click.echo(formatted, nl=False)  # the file itself, as it would be written
        elif formatted != text:
            changed += 1
            echo(f"{file}: {'would be reformatted' if check else 'reformatted'}", err=check)
            if not check:
                replace_file(file, formatted.encode())
    if check and changed:
        raise click.exceptions.Exit(1)
