"""Escaping of untrusted text in Markdown: it can become neither markup nor a link nor a second column."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .formulas import written_formulas
from .wrapping import broken, wrap

_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)(?:(?!\n\s*\n).)+?(?<!`)\1(?!`)", re.DOTALL)
# Descriptions of plugins are untrusted, and `{` would begin a MyST role. Underscores within words are no emphasis, so
# they stay as they are.
_SPECIAL = re.compile(r"[\\`<>&\[\]*|{]|(?<!\w)_|_(?!\w)")
"""Markup of Markdown and MyST, the dialect of the site; `{` begins a role."""
_BLOCK = re.compile(r"^(\s*)([#=~%(]|[-+](?!\s)|\d+\))", re.MULTILINE)
_ROW = re.compile(r"\|.*\|")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_RUN = re.compile(r"`+")


class Markdown(str):
    """Text that is Markdown already and is not escaped again."""

    __slots__ = ()


def escape(text: object) -> Markdown:
    """Prose as Markdown: code spans and paragraphs stay, everything else is shown as it was written.

    A span that goes over lines is joined, so that no line inside it can begin a heading or a fence.
    """
    if isinstance(text, Markdown):
        return text
    words, parts, at = str(text), [], 0
    for span in _SPAN.finditer(words):
        parts += [_plain(words[at : span.start()]), " ".join(span.group().split("\n"))]
        at = span.end()
    return Markdown(_BLOCK.sub(r"\1\\\2", "".join([*parts, _plain(words[at:])])))


def prose(text: str, formulas: bool = False) -> Markdown:
    """A description: paragraphs as `escape` gives them, and tables, whose cells are escaped one by one.

    With `formulas`, a paragraph of nothing but equations in code spans is set as mathematics.
    """
    parts = []
    for part in re.split(r"\n{2,}", text):
        equations = written_formulas(part) if formulas else []
        parts.append("\n\n".join(map(math, equations)) or _table(part) or escape(part))
    return Markdown("\n\n".join(parts))


def _table(paragraph: str) -> str:
    """A paragraph of table rows; empty for any other."""
    rows = paragraph.splitlines()
    if len(rows) < 2 or not all(_ROW.fullmatch(row) for row in rows) or set(rows[1]) - set("|- :"):
        return ""
    cells = [[cell(part.strip()) for part in row[1:-1].split("|")] for row in (rows[0], *rows[2:])]
    width = max(map(len, cells))
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in cells]
    return "\n".join([lines[0], "|" + "---|" * width, *lines[1:]])


def cell(text: object) -> Markdown:
    """The same on one line, for a table: `|` is escaped in code spans too."""
    escaped = " ".join(escape(text).split())
    # Tables are split into cells before code spans are recognized.
    return Markdown(re.sub(r"(?<!\\)\|", r"\\|", escaped))


def code(text: object) -> Markdown:
    """A code span; its fence is longer than any run of backticks inside."""
    words = str(text)
    if not words:
        return Markdown("")
    fence = "`" * (1 + max((len(run) for run in _RUN.findall(words)), default=0))
    # CommonMark removes one space on both sides, so that a span may begin with a backtick.
    pad = " " if words.startswith("`") or words.endswith("`") else ""
    return Markdown(f"{fence}{pad}{words}{pad}{fence}")


def cell_code(text: object) -> Markdown:
    """A code span in a table."""
    return cell(code(text))


def codes(texts: Iterable[object]) -> Markdown:
    """Code spans in a table, separated by commas."""
    return Markdown(", ".join(cell_code(text) for text in texts))


def block(text: str, language: str = "") -> Markdown:
    """A fenced block of wrapped code; the fence is longer than any run of backticks inside."""
    fence = "`" * max(3, 1 + max((len(run) for run in _RUN.findall(text)), default=0))
    return Markdown(f"{fence}{language}\n{wrap(text.rstrip(), language)}\n{fence}")


def math(latex: str) -> Markdown:
    """A formula in LaTeX, as a block that both GitHub and the site set, over several lines where it is wide."""
    return block(broken(latex), "math")


def _plain(text: str) -> str:
    return _SPECIAL.sub(lambda match: _ENTITIES.get(match[0], "\\" + match[0]), text)
