"""`layers`: list of definitions, search, or the page of one definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..output.terminal import echo, print_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_layers.define import Definition

MATCHES = 20
"""Matches of a search that are listed."""


@click.command()
@click.argument("words", metavar="[NAME|WORD...]", nargs=-1)
def command(words: tuple[str, ...]) -> None:
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
