"""Terminal output of commands, all escaped here: names and strings of files may contain control characters."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

import click

from paddle_layers.define.standard_streams import writing_to_stdout

if TYPE_CHECKING:
    from rich.table import Table


class CommandGroup(click.Group):
    """Commands whose help has them in sections, with descriptions that are not shortened to one line."""

    sections: Mapping[str, Iterable[str]] = MappingProxyType({})
    """Names of commands by title; without any, all commands are one section."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands to the help text."""
        names = self.list_commands(ctx)
        for title, members in (self.sections or {"Commands": names}).items():
            found = {name: command for name in members if (command := self.get_command(ctx, name)) is not None}
            width = max(map(len, names))
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), one.get_short_help_str(1000)) for name, one in found.items()])


def echo(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Print to stdout or, with `err`, to stderr; with a line break unless `nl` is False."""
    from paddle_layers.define.escaping import printable

    # An error of a stream has no file name: with it, the message of a full disk says that it concerns stdout.
    with writing_to_stdout() if not err else contextlib.nullcontext():
        click.echo(printable(str(text)), err=err, nl=nl)


def print_table(table: Table) -> None:
    """Print a table: to a terminal in its width, to a file without folding. Cells are plain text without markup."""
    # 200 columns for files and pipes: rich would otherwise assume 80 and fold most cells.
    _print(table, sys.stdout, None if sys.stdout.isatty() else 200)


def table_text(table: Table) -> str:
    """The lines of a table without folding or trailing spaces."""
    text = io.StringIO()
    # Wider than any table of at most 20 classes, so that nothing is folded in a report that others parse.
    _print(table, text, 10_000)
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def print_markdown(text: str) -> None:
    """Print a page: to a terminal in its width and in color, to a file without folding code."""
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.markdown import Heading, Markdown
    from rich.text import Text

    from paddle_layers.define.escaping import printable

    # rich centers headings and puts boxes around them, which is lost in a file and cannot be searched for.
    class PlainHeading(Heading):
        def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
            yield Text.assemble(f"{'#' * int(self.tag[1:])} ", self.text, style="bold")

    class Page(Markdown):
        elements: ClassVar = Markdown.elements | {"heading_open": PlainHeading}

    # Source lines have up to 120 columns, and rich adds a margin to blocks of code.
    console = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 124)
    # Captured first, because rich pads every line with spaces to the width of the terminal.
    with console.capture() as shown:
        console.print(Page(printable(text), code_theme="ansi_dark", hyperlinks=False))
    click.echo(re.sub(r"\n{3,}", "\n\n", re.sub(r" +$", "", shown.get(), flags=re.MULTILINE)).strip())


def _print(table: Table, stream: TextIO, width: int | None) -> None:
    # Lazy, so that commands without tables need not import rich.
    from rich.console import Console

    from paddle_layers.define.escaping import printable_line

    class PlainConsole(Console):
        def render_str(self, text: str, **options: Any) -> Any:  # every text of a table passes here
            return super().render_str(printable_line(text), **options)

    PlainConsole(file=stream, highlight=False, markup=False, emoji=False, width=width).print(table)
