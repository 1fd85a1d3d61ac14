"""Shell-style name patterns: `conv*` for all names that begin with `conv`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from .errors import brief


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that match a pattern: `*` matches any text, `?` one character, `[ab]` one of these."""
    return [name for name in names if fnmatchcase(name, pattern)]


def rename_problem(old: str, new: str) -> str | None:
    """The error in a rename, or None: each `*` of `new` is the text that the same `*` of `old` matches."""
    if new.count("*") <= old.count("*"):
        return None
    return f"`{new}` has more `*` than `{old}`"


def renamed(name: str, old: str, new: str) -> str | None:
    """The name with `new` instead of `old`; None if it does not match. In `old`, only `*` is special."""
    # Escaped: names contain brackets and dots.
    found = re.fullmatch("(.*)".join(map(re.escape, old.split("*"))), name, re.DOTALL)
    if found is None:
        return None
    first, *rest = new.split("*")
    return first + "".join(text + part for text, part in zip(found.groups(), rest, strict=False))


def check_names(argument: str, given: Any, meaning: str) -> None:
    """Check that an argument is a dict with strings as keys. Raises `TypeError`."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{argument} must be a dict {meaning}, not {brief(given)}")
    if wrong := [key for key in given if not isinstance(key, str)]:
        raise TypeError(f"{argument} must be a dict {meaning}, with strings as keys, not {brief(wrong[0])}")


def listed(names: Iterable[str], most: int = 5) -> str:
    """The first names of a list, in backticks."""
    shown = [f"`{name}`" for name in names]
    return ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")
