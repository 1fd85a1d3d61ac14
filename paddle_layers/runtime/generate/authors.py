"""Source mapping: from a line of a driver to the line of the author's point function."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from paddle_layers.define.errors import DefinitionError
from paddle_layers.define.functions.program import Program

from .drivers import Kernel, TunedCall

LIBRARY = Path(__file__).resolve().parents[2]


class SourceLine(NamedTuple):
    """A line of an author's file."""

    file: str
    line: int
    inside: bool
    """Whether the driver's line is one of the author's, and not of the surrounding loop."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def author_place(kernel: Kernel, text: str, line: int) -> SourceLine | None:
    """Location of the source of driver line `line`; the function's first line for its loop."""
    for program in kernel.programs:
        first = text[: text.find(f"\ndef {program.tree.name}(") + 1].count("\n") + 1
        if program.place is not None and first <= line < first + len(program.text.splitlines()):
            file, begin = program.place
            return SourceLine(file, begin + _source_line(program, line - first + 1) - 1, True)
    place = kernel.program.place
    return SourceLine(*place, False) if place is not None else None


def _source_line(program: Program, line: int) -> int:
    """The line, in the unmodified source, of line `line` of the specialized source."""
    # The printed source has the same tree as the original, whose nodes still have the author's line numbers.
    pairs = zip(ast.walk(program.tree), ast.walk(ast.parse(program.text).body[0]), strict=False)
    near = [(new.lineno, old.lineno) for old, new in pairs if isinstance(old, ast.stmt) and isinstance(new, ast.stmt)]
    return max((pair for pair in near if pair[0] <= line), default=(0, 1))[1]


@contextlib.contextmanager
def at_the_author(code: Kernel | TunedCall, text: str) -> Iterator[None]:
    """Context manager: numba's error in a driver becomes a `DefinitionError` at the line of a plugin's function."""
    from numba.core.errors import NumbaError

    try:
        yield
    except NumbaError as error:
        complaint = _at_author(code, text, error) if isinstance(code, Kernel) else None
        if complaint is None:
            raise
        # Without numba's traceback, which shows generated code only.
        raise complaint from None


def _at_author(kernel: Kernel, text: str, error: Exception) -> DefinitionError | None:
    """The error for the author; `None` if the function is the library's own."""
    # numba has no attribute for the position: it is in the message only.
    found = re.search(r'File "[^"\n]*", line (\d+):', str(error))
    place = author_place(kernel, text, int(found[1]) if found else 0)
    if place is None or Path(place.file).is_relative_to(LIBRARY):
        return None
    name = kernel.program.tree.name
    return DefinitionError(f"{name}: {_reason(str(error), place)}", place.file, place.line)


def _reason(message: str, place: SourceLine) -> str:
    """The innermost error message in one line."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("Failed in ")] or ["unknown reason"]
    call = next((line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")), "")
    if not lines[0].startswith("No implementation") or not call:
        return f"cannot be compiled: {lines[0]}"
    if call.startswith("setitem(") and not place.inside:
        kind = re.split(r", (?![^(]*\))", call[len("setitem(") : -1])[-1]
        return f"returns {kind}; expected one number per tensor"
    return f"cannot be compiled: unsupported operation `{call}`"
