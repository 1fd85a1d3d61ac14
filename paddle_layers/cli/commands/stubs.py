"""`stubs`: type stubs of the helpers."""

from __future__ import annotations

from pathlib import Path

import click

from ..output.terminal import echo


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path), default=Path("typings"))
def command(directory: Path) -> None:
    """Write type stubs of the `nn` helpers to DIRECTORY.

    Includes the layers of plugins. DIRECTORY defaults to `typings`. Pyright reads `typings` by default; for mypy set
    `mypy_path = "typings"`.
    """
    from paddle_layers.codegen.stubs import write_stubs

    for path in write_stubs(directory):
        echo(path)
