"""`docs`: reference pages, as Markdown or as a site."""

from __future__ import annotations

from pathlib import Path

import click

from ..output.terminal import echo

EXTRA = ("sphinx", "docutils", "myst_parser", "pygments", "latex2mathml")
"""Packages of the extra `docs`."""


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@click.option("--html", is_flag=True, help="Write an HTML site with the guides and offline search instead.")
def command(directory: Path, html: bool) -> None:
    """Write the reference pages to DIRECTORY as Markdown.

    Includes the definitions of plugins.
    """
    if html:
        _site(directory)
        return
    from paddle_layers.codegen.reference import write_reference

    pages = [path for path in write_reference(directory) if path.suffix == ".md"]
    echo(f"wrote {len(pages)} pages to {directory}; open {directory / 'index.md'}")


def _site(directory: Path) -> None:
    try:
        from paddle_layers.codegen.site import build_site
    except ModuleNotFoundError as error:
        needed = str(error.name).partition(".")[0]
        if needed not in EXTRA:
            raise
        echo(f"--html requires {needed}: pip install 'paddle-layers[docs]'", err=True)
        raise click.exceptions.Exit(1) from None
    for warning in build_site(directory):
        echo(warning, err=True)
    pages = sum(1 for _ in directory.rglob("*.html"))
    echo(f"wrote {pages} pages to {directory}; open {directory / 'index.html'}")
