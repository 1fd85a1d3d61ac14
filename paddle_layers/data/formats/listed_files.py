"""Names of files in folders and in lists, and the rule that restricts listed files to a folder."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from ..problems import DataError

LIST = ".txt"
"""End of the name of a list of files, where other files are meant as well."""


def files_in(folder: Path, endings: Collection[str]) -> list[str]:
    """Files below a folder whose names have one of the endings, in the order of the alphabet.

    Names are relative to the folder and parted by `/`. Those that begin with a dot, and folders that are links, are
    left out. Raises `DataError` for a folder that cannot be read.
    """
    found: list[str] = []
    for top, folders, files in os.walk(folder, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inner = Path(top).relative_to(folder).as_posix()
        prefix = "" if inner == "." else f"{inner}/"
        found += [
            prefix + name for name in files if not name.startswith(".") and os.path.splitext(name)[1].lower() in endings
        ]
    return sorted(found)


def inside(folder: Path, name: str, place: str, remedy: str) -> str:
    """The path of a listed file, which must be below the folder: otherwise the list could select any file.

    Raises `DataError` for any other, which begins with `place` and ends with the `remedy`.
    """
    if not name or "\0" in name:
        raise DataError(f"{place}: invalid file name {name!r}")
    top = os.path.abspath(folder)
    path = os.path.normpath(os.path.join(top, name))
    if os.path.commonpath([top, path]) != top:
        raise DataError(f"{place}: {name} is outside of {top}, the folder of the list; {remedy}")
    return path


def names_of(paths: Sequence[Path]) -> str:
    """Files in a message."""
    return ", ".join(map(str, paths[:3])) + (", ..." if len(paths) > 3 else "")


def _unreadable(error: OSError) -> None:
    raise DataError(f"cannot read folder {error.filename}: {error.strerror}")
