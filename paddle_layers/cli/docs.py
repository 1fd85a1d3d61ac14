"""`docs`: the reference pages."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
def command(directory: Path) -> None:
    """Write a Markdown page for everything that is registered, and index.md, to DIRECTORY."""
    from paddle_layers.codegen.reference import write_reference

    pages = [path for path in write_reference(directory) if path.suffix == ".md"]
    click.echo(f"{len(pages)} pages in {directory}; start with {directory / 'index.md'}")
