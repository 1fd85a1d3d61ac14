"""Line breaks of wide formulas: before a summand, a sum sign or a factor."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# Browsers do not break MathML over lines: a wider formula would have to be scrolled sideways.
WIDTH = 64
"""Widest line, in letters."""

_TOKEN = re.compile(r"\\(?:left|right|begin|end)\b\{?[a-z]*\}?|\\[a-zA-Z]+|\\.|[{}]|.", re.DOTALL)
_BREAKS = ((" + ", " - "), (r"\sum", r"\prod", r"\max_", r"\min_"), (r" \cdot ",))
"""Candidate line breaks, best first."""
_OPENS, _CLOSES = ("{", r"\left", r"\begin"), ("}", r"\right", r"\end")


def broken(latex: str) -> str:
    """The formula, in an environment of several lines if it is too wide for one."""
    left, equals, right = latex.partition(" = ")
    if not equals or width(left) + 3 + width(right) <= WIDTH:
        return latex
    lines = _lines(right, WIDTH - min(width(left), WIDTH // 3))
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
