"""Line wrapping on the pages.

Wide formulas are broken before a summand, a sum sign or a factor, Python inside brackets, textproto between fields.
"""

from __future__ import annotations

import io
import re
import textwrap
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

# Browsers do not break MathML over lines: a wider formula would have to be scrolled sideways.
FORMULA_WIDTH = 64
"""Widest line, in letters."""
_TOKEN = re.compile(r"\\(?:left|right|begin|end)\b\{?[a-z]*\}?|\\[a-zA-Z]+|\\.|[{}]|.", re.DOTALL)
_BREAKS = ((" + ", " - "), (r"\sum", r"\prod", r"\max_", r"\min_"), (r" \cdot ",))
"""Candidate line breaks, best first."""
_OPENS, _CLOSES = ("{", r"\left", r"\begin"), ("}", r"\right", r"\end")
WIDTH = 88
"""Columns of a code block that fit beside the sidebars of the site."""
_PRECEDENCE = (
    *(("for", "if", "else"), ("or",), ("and",), ("<", ">", "<=", ">=", "=="), ("|",), ("&",)),
    *(("+", "-"), ("*", "/", "//", "@", "%")),
)
_RANKS = {operator: rank for rank, operators in enumerate(_PRECEDENCE, 1) for operator in operators}
_ASSIGNMENT = re.compile(r"(\s*)(return|[^\s=\"'(][^=\"'(]*? [-+*/]?=) (?=\S)")


def broken(latex: str) -> str:
    """The formula, in an environment of several lines if it is too wide for one."""
    left, equals, right = latex.partition(" = ")
    if not equals or width(left) + 3 + width(right) <= FORMULA_WIDTH:
        return latex
    lines = _lines(right, FORMULA_WIDTH - min(width(left), FORMULA_WIDTH // 3))
    if len(lines) == 1:
        return f"{left} = {lines[0]}"
    return aligned([(left, f"= {lines[0]}"), *(("", rf"\quad {line}") for line in lines[1:])])


def aligned(rows: Sequence[tuple[str, str]]) -> str:
    """Lines whose second parts begin at one place."""
    return r"\begin{split} " + r" \\ ".join(f"{left} & {right}" for left, right in rows) + r" \end{split}"


def width(latex: str) -> float:
    """About how many letters wide a formula is: of a fraction the wider part, of cases the widest row."""
    begin = latex.find(r"\begin{cases}")
    if begin >= 0:
        depths = _depths(latex)
        end = next(at for at in range(begin, len(latex) + 1) if at == len(latex) or depths[at] < depths[begin])
        widest = 2 + max(width(row.replace("&", "  ")) for row in _rows(latex[begin:end]))
        return width(latex[:begin] + "x" * int(widest) + latex[end:])
    text = re.sub(r"\\frac\{((?:[^{}]|\{[^{}]*\})*)\}\{((?:[^{}]|\{[^{}]*\})*)\}", _wider, latex)
    # Indices are set at about two thirds of the size.
    text = re.sub(r"_\{((?:[^{}]|\{[^{}]*\})*)\}", lambda match: match[1][: -len(match[1]) // 3 or None], text)
    text = re.sub(r"\\(?:mathit|mathrm|text|operatorname|left|right|begin|end|quad)\b", "", text)
    return len(re.sub(r"\\[a-zA-Z]+", "x", text).translate(str.maketrans("", "", "{}\\")))


def _wider(match: re.Match[str]) -> str:
    return max(match[1], match[2], key=len)


def _lines(text: str, limit: float) -> list[str]:
    """The right side in lines, each at most `limit` wide where that can be."""
    if text.startswith(r"\begin{cases}") and text.endswith(r"\end{cases}") and _depths(text).count(0) == 0:
        rows = [_case(row, limit) for row in _rows(text)]
        return [r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"]
    lines = [text]
    for places in _BREAKS:
        lines = [part for line in lines for part in ([line] if width(line) <= limit else _split(line, places, limit))]
    return [part for line in lines for part in ([line] if width(line) <= limit else _inside(line, limit))]


def _inside(line: str, limit: float) -> list[str]:
    r"""The line, broken in its final parentheses; `\left` and `\right` must be on one line."""
    opens = line.find(r"\left(")
    if opens < 0 or not line.endswith(r"\right)") or 0 in _depths(line)[opens + len(r"\left(") : -len(r"\right)")]:
        return [line]
    first, *others = _lines(line[opens + len(r"\left(") : -len(r"\right)")], limit - width(line[:opens]) / 2 - 2)
    if not others:
        return [line]
    return [f"{line[:opens]}({first}", *(rf"\quad {other}" for other in others[:-1]), rf"\quad {others[-1]})"]


def _case(row: str, limit: float) -> str:
    value, _, condition = row.rpartition(" & ")
    if width(row) <= limit:
        return row
    needed = width(condition)
    if needed > limit / 2:
        parts = [condition]
        for sign in (r" \lor ", r" \land "):
            parts = [part for whole in parts for part in _split(whole, (sign,), limit / 2)]
        condition, needed = _stacked(parts), max(map(width, parts))
    return f"{_stacked(_lines(value, max(limit - needed - 4, limit / 2)))} & {condition}"


def _stacked(lines: Sequence[str]) -> str:
    """Stacked lines, those after the first indented."""
    if len(lines) == 1:
        return lines[0]
    return aligned([("", lines[0]), *(("", rf"\quad {line}") for line in lines[1:])])


def _rows(cases: str) -> list[str]:
    """Rows of the outermost cases."""
    inner = cases.removeprefix(r"\begin{cases} ").removesuffix(r" \end{cases}")
    return [part.strip() for part in _cut(inner, list(_places(inner, (r" \\ ",))))]


def _split(line: str, places: Sequence[str], limit: float) -> list[str]:
    """The line, cut at the outermost of the places; parts that fit on one line stay together."""
    parts = _cut(line, list(_places(line, places)))
    lines = [parts[0]]
    for part in parts[1:]:
        if width(lines[-1] + part) <= limit:
            lines[-1] += part
        else:
            lines.append(part)
    return [part.strip() for part in lines]


def _cut(text: str, places: Sequence[int]) -> list[str]:
    ends = [*places, len(text)]
    parts = [text[begin:end] for begin, end in zip([0, *places], ends, strict=True)]
    return [part.removeprefix(r" \\ ") for part in parts if part.strip()]


def _places(text: str, signs: Sequence[str]) -> Iterator[int]:
    depths = _depths(text)
    for match in re.finditer("|".join(map(re.escape, signs)), text):
        if depths[match.start()] == 0 and text[: match.start()].strip() not in ("", "+", "-"):
            yield match.start()


def _depths(text: str) -> list[int]:
    """The bracket depth of each character."""
    depths, depth = [], 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token.startswith(_OPENS) and not token.startswith((r"\leftarrow",)):
            depth += 1
        depths += [depth] * len(token)
        if token.startswith(_CLOSES):
            depth -= 1
    return depths


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
