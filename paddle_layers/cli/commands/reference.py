"""Documentation of the definitions: `layers`, `docs`, `stubs`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..terminal import echo, print_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_layers.define import Definition

MATCHES = 20
"""Matches of a search that are listed."""


@click.command()
@click.argument("words", metavar="[NAME|WORD...]", nargs=-1)
def layers(words: tuple[str, ...]) -> None:
    """List or search the definitions, or print the page of NAME.

    Searches terms and the names in PyTorch, Keras, ONNX and Caffe, as in `paddle-layers layers deconvolution`.
    """
    from paddle_layers.define import registries

    text = " ".join(words)
    found = [registry.get(text) for registry in registries.values()]
    named = [definition for definition in found if definition is not None]
    if not words:
        _list()
    elif named:
        _pages(named)
    else:
        _search(text)


def _list() -> None:
    from paddle_layers.define import registries

    for kind, registry in registries.items():
        if definitions := registry.values():
            click.secho(f"{kind}s" if not kind.endswith("y") else kind, bold=True)
            _rows([(definition.name, definition.summary) for definition in definitions])


def _search(text: str) -> None:
    from paddle_layers.define import registries, search

    matches = search(text)
    # A page is only shown for an unambiguous name: that of another framework may be several definitions here.
    best = [match for match in matches if match.is_exact and match.rank == matches[0].rank]
    if not matches:
        registries["layer"][text]  # raises, with the nearest name
    elif len(best) == 1:
        echo(f"`{text}` is the {best[0].definition.kind} `{best[0].definition.name}`.", err=True)
        _pages([best[0].definition])
    else:
        _rows([(f"{m.definition.name} ({m.definition.kind})", m.definition.summary) for m in matches[:MATCHES]])
        if len(matches) > MATCHES:
            echo(f"{len(matches) - MATCHES} more matches; add a word to narrow the search", err=True)


def _rows(rows: Sequence[tuple[str, str]]) -> None:
    width = max(len(name) for name, _ in rows)
    for name, summary in rows:
        echo(f"  {name:{width}}  {summary}")


def _pages(definitions: Sequence[Definition]) -> None:
    from paddle_layers.codegen.pages import terminal_page

    print_markdown("\n".join(terminal_page(definition) for definition in definitions))


EXTRA = ("sphinx", "docutils", "myst_parser", "pygments", "latex2mathml")
"""Packages of the extra `docs`."""


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@click.option("--html", is_flag=True, help="Write an HTML site with the guides and offline search instead.")
def docs(directory: Path, html: bool) -> None:
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


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path), default=Path("typings"))
def stubs(directory: Path) -> None:
    """Write type stubs of the `nn` helpers to DIRECTORY.

    Includes the layers of plugins. DIRECTORY defaults to `typings`. Pyright reads `typings` by default; for mypy set
    `mypy_path = "typings"`.
    """
    from paddle_layers.codegen.stubs import write_stubs

    for path in write_stubs(directory):
        echo(path)
