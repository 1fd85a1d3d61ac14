"""Line wrapping of code on the pages: Python inside brackets, textproto between fields."""

from __future__ import annotations

import io
import re
import textwrap
import tokenize
from collections.abc import Iterable, Iterator
from typing import NamedTuple

WIDTH = 88
"""Columns of a code block that fit beside the sidebars of the site."""
_PRECEDENCE = (
    *(("for", "if", "else"), ("or",), ("and",), ("<", ">", "<=", ">=", "=="), ("|",), ("&",)),
    *(("+", "-"), ("*", "/", "//", "@", "%")),
)
_RANKS = {operator: rank for rank, operators in enumerate(_PRECEDENCE, 1) for operator in operators}
_ASSIGNMENT = re.compile(r"(\s*)(return|[^\s=\"'(][^=\"'(]*? [-+*/]?=) (?=\S)")


class Break(NamedTuple):
    """A column before which a line may be broken, its bracket depth, and the operator's precedence (0: a comma)."""

    column: int
    depth: int
    rank: int = 0


def wrap(text: str, language: str) -> str:
    """Code whose lines have at most `WIDTH` columns, where the syntax permits; other languages are unchanged."""
    if not any(len(line) > WIDTH for line in text.splitlines()):
        return text
    if language == "textproto":
        return "\n".join(line for long in text.split("\n") for line in _wrap_line(long, _gaps(long)))
    if language != "python":
        return text
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        # A fragment, such as an excerpt with dots, is shown as it is.
        return text
    return "\n".join(_python_lines(text.split("\n"), tokens))


def _python_lines(lines: list[str], tokens: list[tokenize.TokenInfo]) -> Iterator[str]:
    comments = {token.start[0]: token for token in tokens if token.type == tokenize.COMMENT}
    breaks, continued = _python_breaks(tokens)
    for number, line in enumerate(lines, 1):
        comment, code = comments.get(number), line
        if len(line) > WIDTH and comment is not None:
            mark = f"{_indent(line)}# "
            words = comment.string.lstrip("# ")
            yield from textwrap.wrap(words, WIDTH, initial_indent=mark, subsequent_indent=mark)
            code = line[: comment.start[1]].rstrip()
        if code or not line:
            hanging = 8 if code.lstrip().startswith("def ") else 4
            yield from _wrap_statement(code, breaks.get(number, []), hanging, continued.get(number, 0))


def _wrap_statement(line: str, breaks: list[Break], hanging: int, inside: int) -> Iterator[str]:
    """The line, which begins inside so many brackets; a long right-hand side that is an operation gets parentheses."""
    assignment = _ASSIGNMENT.match(line)
    is_operation = any(not stop.depth for stop in breaks) and line[-1] not in "([{,"
    if len(line) <= WIDTH or assignment is None or not is_operation:
        yield from _wrap_line(line, [stop for stop in breaks if stop.depth], hanging, inside)
        return
    indent, head, start = assignment[1], assignment[2], assignment.end()
    shift = len(indent) + 4 - start
    stops = [Break(stop.column + shift, stop.depth + 1, stop.rank) for stop in breaks if stop.column > start]
    yield f"{indent}{head} ("
    yield from _wrap_line(f"{indent}    {line[start:]}", stops, 4, 1)
    yield f"{indent})"


def _python_breaks(tokens: Iterable[tokenize.TokenInfo]) -> tuple[dict[int, list[Break]], dict[int, int]]:
    """By line: breaks after commas and before binary operators; and the brackets in which a line begins."""
    breaks: dict[int, list[Break]] = {}
    continued: dict[int, int] = {}
    depth, strings, before = 0, 0, ""
    for token in tokens:
        row, column = token.start
        kind = tokenize.tok_name[token.type]  # since Python 3.12, the fields of f-strings are tokens
        strings += kind.endswith("STRING_START") - kind.endswith("STRING_END")
        if strings:
            continue
        is_operator = token.string in _RANKS and before not in ("", "(", "[", "{", ",", "=")
        depth -= token.type == tokenize.OP and token.string in (")", "]", "}")
        if (before == "," and depth) or is_operator:
            breaks.setdefault(row, []).append(Break(column, depth, 0 if before == "," else _RANKS[token.string]))
        depth += token.type == tokenize.OP and token.string in ("(", "[", "{")
        if token.type == tokenize.NL and depth:
            continued[row + 1] = depth
        before = token.string
    return breaks, continued


def _gaps(line: str) -> list[Break]:
    """Breaks of a line of textproto: the spaces before field names and braces, outside strings and comments."""
    depth, breaks = 0, []
    for match in re.finditer(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|#.*|[{}\[\]]|(?<= )(?=\w+ ?[:{])", line):
        if match[0].startswith("#"):
            break
        if not match[0]:
            breaks.append(Break(match.start(), depth))
        depth += (match[0] in ("{", "[")) - (match[0] in ("}", "]"))
    return breaks


def _wrap_line(line: str, breaks: list[Break], hanging: int = 4, inside: int = 0) -> Iterator[str]:
    """The line, broken at the outermost brackets and the weakest operators that suffice, as late as possible.

    What follows a break is indented, except in the brackets in which the line itself begins, if it begins in any.
    """
    own, start = _indent(line), 0
    while len(line) > WIDTH:
        # A break within the first columns would leave a stub of a line.
        earliest = len(_indent(line)) + 16
        fitting = [stop for stop in breaks if earliest < stop.column - start <= WIDTH]
        if not fitting:
            break
        # Weaker operators bind their operands less: a line that ends before one reads as a whole term.
        stop = min(fitting, key=lambda stop: (stop.depth, stop.rank, -stop.column))
        cut = stop.column - start
        indent = own if inside and stop.depth <= inside else own + " " * hanging
        yield line[:cut].rstrip()
        line = indent + line[cut:]
        start = stop.column - len(indent)
    yield line


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
